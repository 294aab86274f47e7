# SPDX-License-Identifier: Apache-2.0
"""What a run means: the pure function from evidence to kinds (spec: cause decides)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from redfirst.core.evidence import (
    Failure,
    NodeResult,
    Phase,
    PhaseOutcome,
    PhaseResult,
    Place,
    RunReport,
    Trait,
)
from redfirst.core.kinds import RUN_PRECEDENCE, FailureKind
from redfirst.core.verdict import NodeVerdict
from redfirst.sandbox.protocol import Completed, End

_LIMIT_TRAITS = frozenset({Trait.MEMORY, Trait.PROCESSES, Trait.FILE_SIZE, Trait.DISK})
_RESOURCE_ENDS = frozenset({End.MEMORY, End.PROCESSES, End.OUTPUT, End.DISK, End.FILE})
_TIMEOUT_ENDS = frozenset({End.WALL, End.CPU})
_RANK = {kind: rank for rank, kind in enumerate(RUN_PRECEDENCE)}


@dataclass(frozen=True, slots=True)
class Reason:
    """A kind with the sentence that supports it."""

    kind: FailureKind
    why: str


def first_of(reasons: Iterable[Reason]) -> Reason | None:
    """The reason that wins by the spec's order; the earliest among equals."""
    return min(reasons, key=lambda reason: _RANK[reason.kind], default=None)


def classify_failure(failure: Failure, phase: Phase) -> FailureKind:
    """The kind of one raised error in one phase of a node."""
    cause = _outer_cause(failure)
    if cause is not None:
        return cause
    if phase is not Phase.CALL:
        return FailureKind.SETUP_ERROR
    if Trait.ASSERTION in failure.traits and not _asserted_by_source(failure):
        return FailureKind.ASSERTION_FAILED
    if _is_test_mistake(failure):
        return FailureKind.TEST_ERROR
    return FailureKind.EXCEPTION_RAISED


def _outer_cause(failure: Failure) -> FailureKind | None:
    """Causes that are neither the project's nor the test's, whatever frame they surfaced in."""
    traits = failure.traits
    if Trait.INTERRUPT in traits:
        return FailureKind.CRASH
    if traits & _LIMIT_TRAITS:
        return FailureKind.RESOURCE_LIMIT
    if traits & {Trait.NETWORK_DENIED, Trait.PLUGIN_MISSING, Trait.MODULE_MISSING}:
        return FailureKind.ENVIRONMENT_ERROR
    if Trait.UNKNOWN_FIXTURE in traits:
        return FailureKind.TEST_ERROR
    return None


def _asserted_by_source(failure: Failure) -> bool:
    innermost = failure.innermost
    return innermost is not None and innermost.place is Place.SOURCE


def _is_test_mistake(failure: Failure) -> bool:
    """Errors that only the test's own text can cause (rulings: the test's own mistake)."""
    owner, innermost = failure.owner, failure.innermost
    if Trait.SYSTEM_EXIT in failure.traits:
        return owner is None or owner.place is Place.TEST
    if owner is None or owner.place is not Place.TEST:
        return False
    if Trait.EVALUATED_SYNTAX in failure.traits:
        return True
    if Trait.NAME in failure.traits:
        return innermost is owner or (innermost is not None and innermost.path.startswith("<"))
    return Trait.RAISED_BY_TEXT in failure.traits


def classify_collection(failure: Failure) -> FailureKind:
    """The kind of an error while a test module was being loaded."""
    cause = _outer_cause(failure)
    if cause is None or cause is FailureKind.TEST_ERROR:
        return FailureKind.COLLECTION_ERROR
    return cause


def classify_node(node: NodeResult) -> NodeVerdict:
    """One bound node: its worst reason over all phases."""
    seconds = sum(phase.seconds for phase in node.phases)
    found = [(reason, failure) for phase in node.phases for reason, failure in _phase_reasons(phase)]
    if not node.finished:
        found.append((Reason(FailureKind.CRASH, "it began and never ended"), None))
    if not node.phases and node.finished:
        found.append((Reason(FailureKind.NOT_RUN, "it did not run"), None))
    if not found:
        return NodeVerdict(node.node, FailureKind.PASSED, "passed", seconds=seconds)
    reason, failure = min(found, key=lambda pair: _RANK[pair[0].kind])
    return NodeVerdict(
        node.node,
        reason.kind,
        reason.why,
        where=_where(failure),
        seconds=seconds,
        labels=_labels(failure),
    )


def _phase_reasons(phase: PhaseResult) -> list[tuple[Reason, Failure | None]]:
    if phase.outcome is PhaseOutcome.PASSED:
        return []
    if phase.outcome is not PhaseOutcome.FAILED:
        note = f": {phase.note}" if phase.note else ""
        return [(Reason(FailureKind.NOT_RUN, f"{phase.outcome.value}{note}"), None)]
    if not phase.failures:
        kind = FailureKind.EXCEPTION_RAISED if phase.phase is Phase.CALL else FailureKind.SETUP_ERROR
        return [(Reason(kind, phase.note or "failed without an exception"), None)]
    return [
        (Reason(classify_failure(failure, phase.phase), describe(failure)), failure)
        for failure in phase.failures
    ]


def describe(failure: Failure) -> str:
    """``Type: message`` on one bounded line."""
    message = " ".join(failure.message.split())
    text = f"{failure.type}: {message}" if message else failure.type
    return text if len(text) <= 400 else text[:397] + "..."


def _where(failure: Failure | None) -> str:
    if failure is None:
        return ""
    frame = failure.owner or failure.innermost
    return f"{frame.path}:{frame.line}" if frame else ""


def _labels(failure: Failure | None) -> tuple[str, ...]:
    return ("new API",) if failure is not None and Trait.PROJECT_NAME_MISSING in failure.traits else ()


def end_reasons(completed: Completed, report: RunReport) -> list[Reason]:
    """What the end of the process says, apart from any node."""
    reasons = [Reason(FailureKind.TAMPERING, text) for text in report.tampering]
    if completed.end is End.BROKEN:
        reasons.append(Reason(FailureKind.INFRASTRUCTURE_ERROR, completed.problem or "the sandbox failed"))
    limits = {completed.end, *completed.reached}
    for end in sorted(limits & _RESOURCE_ENDS):
        reasons.append(Reason(FailureKind.RESOURCE_LIMIT, f"the run reached its {end.value} limit"))
    for end in sorted(limits & _TIMEOUT_ENDS):
        word = "wall clock" if end is End.WALL else "CPU time"
        reasons.append(Reason(FailureKind.TIMEOUT, f"the run used up its {word}"))
    if completed.end in (End.EXITED, End.SIGNALLED):
        reasons += [Reason(FailureKind.REPORT_INVALID, text) for text in report.problems]
        reasons += _crash_reasons(completed, report)
    return reasons


def _crash_reasons(completed: Completed, report: RunReport) -> list[Reason]:
    reasons = []
    if completed.end is End.SIGNALLED:
        reasons.append(Reason(FailureKind.CRASH, f"ended by signal {completed.signal}"))
    if report.interrupted:
        reasons.append(Reason(FailureKind.CRASH, "the runner was interrupted"))
    if not report.complete:
        reasons.append(
            Reason(
                FailureKind.CRASH,
                f"the process ended (status {completed.exit}) before the runner's report did",
            )
        )
    return reasons


def collection_reasons(report: RunReport) -> list[Reason]:
    """What went wrong before any node could run."""
    reasons = [
        Reason(classify_collection(failure), f"the test module could not be loaded: {describe(failure)}")
        for failure in report.collection_failures
    ]
    reasons += [
        Reason(FailureKind.NOT_RUN, f"skipped while loading: {text}") for text in report.collection_skips
    ]
    return reasons


def has_trait(report: RunReport, trait: Trait) -> bool:
    """Whether any failure of the run carries ``trait``."""
    failures = [f for node in report.nodes for phase in node.phases for f in phase.failures]
    return any(trait in failure.traits for failure in (*failures, *report.collection_failures))
