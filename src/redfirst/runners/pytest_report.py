# SPDX-License-Identifier: Apache-2.0
"""From the events of a pytest session to a report, with every contradiction in it named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from redfirst.core.evidence import (
    Failure,
    NodeResult,
    Phase,
    PhaseOutcome,
    PhaseResult,
    RunReport,
    Trait,
)
from redfirst.runners.protocol import Project
from redfirst.runners.python_channel import Event, Stream, read_stream
from redfirst.runners.python_evidence import (
    failure_of,
    is_skip,
    is_unexpected_success,
    part_of_case,
    unhandled_coroutine,
)
from redfirst.runners.python_report import (
    checked_report,
    end_of,
    end_problems,
    values,
)
from redfirst.sandbox.protocol import Completed

_USAGE = "UsageError"
_INTERNAL_ERROR, _USAGE_ERROR, _NOTHING_RAN = 3, 4, 5


@dataclass(slots=True)
class _Node:
    """The events of one node while they are gathered."""

    node: str
    raised: list[Event] = field(default_factory=list)
    reports: list[Event] = field(default_factory=list)
    logged: list[Event] = field(default_factory=list)
    finished: bool = False


def read_report(key: bytes, completed: Completed, project: Project) -> RunReport:
    """The checked report of one pytest run."""
    stream = read_stream(completed.report, key)
    end = end_of(stream)
    gathered = _gather(stream)
    nodes = tuple(_result(node, project) for node in gathered)
    collection = _collection_failures(stream, project)
    interrupted = _interrupted(stream, nodes)
    failed = bool(collection) or any(_reported_failed(node) for node in gathered)
    problems = [text for node in gathered for text in _contradictions(node)]
    problems += _internal_errors(stream, gathered)
    problems += end_problems(completed, end, failed=failed, interrupted=interrupted)
    if end is not None and not interrupted:
        problems += [f"{node.node} began and its end was not reported" for node in nodes if not node.finished]
        problems += _status_problems(end.status, nodes, collection)
    return checked_report(
        stream,
        project,
        nodes=nodes,
        collection=collection,
        skips=_collection_skips(stream),
        not_found=_not_found(stream),
        interrupted=interrupted,
        complete=end is not None,
        problems=problems,
    )


def _gather(stream: Stream) -> list[_Node]:
    nodes: dict[str, _Node] = {}
    for event in stream.of("node", "raised", "phase", "logged", "finish"):
        node = nodes.setdefault(event.text("id"), _Node(event.text("id")))
        if event.kind == "node":
            node.finished = False
        elif event.kind == "finish":
            node.finished = True
        else:
            {"raised": node.raised, "phase": node.reports, "logged": node.logged}[event.kind].append(event)
    return list(nodes.values())


def _result(node: _Node, project: Project) -> NodeResult:
    """One node's phases; failures are put into the phase that they came from."""
    phases: list[PhaseResult] = []
    reported: set[str] = set()
    for report in node.reports:
        name = report.text("phase")
        if name not in reported and name in set(Phase):
            reported.add(name)
            phases += _phases(node, name, project)
    for name in Phase:
        if name.value not in reported and any(e.text("phase") == name for e in node.raised):
            phases += _phases(node, name.value, project)
    return NodeResult(node.node, tuple(phases), node.finished)


def _phases(node: _Node, name: str, project: Project) -> list[PhaseResult]:
    """The results of one of pytest's phases; a unittest case has its set-up and tear-down inside the call."""
    reports = [event for event in node.reports if event.text("phase") == name]
    raised = [event for event in node.raised if event.text("phase") == name]
    records = [record for event in raised if (record := event.record("raised")) is not None]
    seconds = sum(report.seconds("seconds") for report in reports)
    parts: dict[Phase, list[Failure]] = {}
    for record in records:
        if unhandled_coroutine(record):
            parts.setdefault(Phase.CALL, []).append(failure_of(record, project, {Trait.PLUGIN_MISSING}))
        elif not is_skip(record) and not is_unexpected_success(record):
            part = part_of_case(record) if name == "call" else None
            parts.setdefault(Phase(part or name), []).append(failure_of(record, project))
    outcome = _outcome(reports, records)
    note = next((text for report in reports if (text := report.text("reason"))), "")
    if outcome is PhaseOutcome.XFAILED or not parts:
        return [PhaseResult(Phase(name), outcome, (), seconds, note)]
    return [
        PhaseResult(phase, PhaseOutcome.FAILED, tuple(failures), seconds if phase == name else 0.0, note)
        for phase, failures in sorted(parts.items(), key=lambda item: list(Phase).index(item[0]))
    ]


def _outcome(reports: Iterable[Event], records: Iterable[Event]) -> PhaseOutcome:
    """The outcome of a phase by pytest's own reports of it; the gravest counts."""
    found = {_one_outcome(report) for report in reports}
    if any(is_unexpected_success(record) for record in records):
        return PhaseOutcome.XPASSED
    for outcome in (PhaseOutcome.FAILED, PhaseOutcome.XPASSED, PhaseOutcome.XFAILED, PhaseOutcome.SKIPPED):
        if outcome in found:
            return outcome
    return PhaseOutcome.PASSED if found else PhaseOutcome.FAILED


def _one_outcome(report: Event) -> PhaseOutcome:
    outcome = report.text("outcome")
    if report.flag("xfail"):
        return PhaseOutcome.XFAILED if outcome == "skipped" else PhaseOutcome.XPASSED
    if outcome == "failed" and report.text("reason").startswith("[XPASS(strict)]"):
        return PhaseOutcome.XPASSED
    if outcome in ("passed", "skipped"):
        return PhaseOutcome(outcome)
    return PhaseOutcome.FAILED


def _reported_failed(node: _Node) -> bool:
    """Whether pytest itself counts a failure of this node."""
    return any(e.text("outcome") == "failed" and not e.flag("xfail") for e in (*node.reports, *node.logged))


def _contradictions(node: _Node) -> list[str]:
    """A raw exception whose reports say otherwise, or two reports of one phase that disagree."""
    found = []
    for name in Phase:
        errors = [
            record
            for event in node.raised
            if event.text("phase") == name
            and (record := event.record("raised")) is not None
            and not is_skip(record)
            and not unhandled_coroutine(record)
        ]
        reports = [e for e in node.reports if e.text("phase") == name]
        logged = [e for e in node.logged if e.text("phase") == name]
        excused = any(e.flag("xfail") for e in reports)
        failed = any(e.text("outcome") == "failed" for e in reports)
        if errors and reports and not failed and not excused:
            found.append(f"{node.node} raised in its {name} phase, but its report says that it did not fail")
        counted = any(e.text("outcome") == "failed" for e in logged)
        if node.finished and failed and not counted:
            found.append(f"{node.node} failed in its {name} phase, but that was not counted")
    return found


def _interrupted(stream: Stream, nodes: tuple[NodeResult, ...]) -> bool:
    """Whether the session was stopped from outside its tests; pytest's own stop after errors is not that."""
    for event in stream.of("interrupt"):
        record = event.record("raised")
        if record is None or record.text("type").rpartition(".")[2] != "Interrupted":
            return True
    return any(
        Trait.INTERRUPT in failure.traits
        for node in nodes
        if not node.finished
        for phase in node.phases
        for failure in phase.failures
    )


def _collection_failures(stream: Stream, project: Project) -> tuple[Failure, ...]:
    """What kept test modules, conftest files or the configuration from loading."""
    found = []
    for event in stream.of("collect_error"):
        record = event.record("raised")
        if record is None:
            found.append(Failure("CollectError", event.text("text")[:2000]))
        else:
            found.append(failure_of(record, project))
    if not stream.of("node"):
        found += _start_failures(stream, project)
    return tuple(found)


def _start_failures(stream: Stream, project: Project) -> list[Failure]:
    """Errors of start-up. Flags of the command are checked before, so a bad option is the project's own."""
    errors = stream.of("session_error") or stream.of("end")
    records = [record for event in errors if (record := event.record("raised")) is not None]
    tried = bool(stream.of("session_end"))
    found = []
    for record in records:
        usage = _is_usage(record)
        if (usage and tried and _in_collection(record)) or "builtins.KeyboardInterrupt" in record.texts(
            "mro"
        ):
            continue  # a selector that leads nowhere, or an interrupt: told apart from errors
        found.append(failure_of(record, project, {Trait.PLUGIN_MISSING} if usage else ()))
    end = end_of(stream)
    if end is not None and end.status == _USAGE_ERROR and not records and not tried:
        why = "pytest does not start with the project's settings"
        found.append(Failure(_USAGE, why, traits=frozenset({Trait.PLUGIN_MISSING})))
    return found


def _is_usage(record: Event) -> bool:
    return record.text("type").rpartition(".")[2] == _USAGE


def _in_collection(record: Event) -> bool:
    """Whether it was raised while selectors were looked up, not while the settings were checked."""
    rows = record.rows("frames")
    return not rows or any(row[2:] == ("perform_collect",) for row in rows)


def _internal_errors(stream: Stream, nodes: list[_Node]) -> list[str]:
    """Errors of the runner itself once nodes ran."""
    if not nodes:
        return []
    return [
        f"the runner itself failed: {record.text('type')}: {record.text('message')[:300]}"
        for event in stream.of("session_error")
        if (record := event.record("raised")) is not None
    ]


def _collection_skips(stream: Stream) -> tuple[str, ...]:
    skips = []
    for event in stream.of("collect_skip"):
        record = event.record("raised")
        reason = record.text("message") if record is not None else event.text("text")
        skips.append(f"{event.text('of')}: {reason}"[:500])
    return tuple(skips)


def _not_found(stream: Stream) -> tuple[str, ...]:
    """Selectors that led to no test; by pytest's words only where it keeps no list of them."""
    told = values(stream.of("not_found"))
    if told or not stream.of("session_end"):
        return told
    return tuple(
        record.text("message")[:1000]
        for event in stream.of("session_error")
        if (record := event.record("raised")) is not None and _is_usage(record) and _in_collection(record)
    )


def _status_problems(
    status: int, nodes: tuple[NodeResult, ...], collection: tuple[Failure, ...]
) -> list[str]:
    if status == _NOTHING_RAN and nodes:
        return ["nodes ran, but the runner says that none was collected"]
    if status == _INTERNAL_ERROR and not collection:
        return ["the runner reports an error of its own"]
    return []
