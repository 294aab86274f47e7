# SPDX-License-Identifier: Apache-2.0
"""Hands a written bundle to the gate and sees whether it fails there for the reason that was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from redfirst.agents.strategies.snippet.contract import contract_for
from redfirst.agents.strategies.snippet.findings import Finding
from redfirst.agents.strategies.snippet.imports import Known, clashes
from redfirst.agents.strategies.snippet.patch import Named, Placed, put
from redfirst.agents.strategies.snippet.place import Host
from redfirst.agents.strategies.snippet.probe import Prober
from redfirst.agents.strategies.snippet.project import owns
from redfirst.agents.strategies.snippet.public import same_objects
from redfirst.agents.strategies.snippet.rehearse import expected_errors
from redfirst.agents.strategies.snippet.report import Report
from redfirst.agents.strategies.snippet.steps import Step
from redfirst.agents.strategies.snippet.write import Part
from redfirst.agents.task import Asserted, Gate, QualifiedBundle, Task
from redfirst.core.bundle import TestBundle
from redfirst.core.kinds import FailureKind
from redfirst.core.verdict import NodeVerdict, Verdict
from redfirst.gate.contract import contract_bytes

#: Kinds that say nothing of the test itself: another file may do.
PLACE_KINDS = frozenset(
    {
        FailureKind.PATCH_FORBIDDEN,
        FailureKind.PATCH_CONFLICT,
        FailureKind.COMMAND_REJECTED,
        FailureKind.NODE_UNBOUND,
        FailureKind.COLLECTION_ERROR,
        FailureKind.SETUP_ERROR,
        FailureKind.NOT_RUN,
        FailureKind.TEST_ERROR,
    }
)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why the gate, or the look at its verdict, turned a bundle down; ``elsewhere``: another file may help."""

    why: str
    elsewhere: bool


@dataclass(frozen=True, slots=True)
class Desk:
    """What handing in needs beside the tests."""

    task: Task
    gate: Gate
    prober: Prober
    report: Report
    steps: Sequence[Step]

    def hand_in(self, tests: Sequence[Named], host: Host) -> QualifiedBundle | Refused:
        """One submission."""
        owned = partial(owns, self.gate)
        placed = put(tests, host, self.gate.runner, owned, self._known(tests, host))
        parts = [part for named in tests for part in named.test.parts if part.shows is not None]
        contract = contract_for(parts, self.report, self.steps, placed.nodes)
        bundle = TestBundle(placed.patch, placed.command, contract_bytes(contract))
        self.task.log(f"handing in {', '.join(placed.nodes)}")
        answer = self.gate.qualify(bundle)
        if self.task.submitted is not None:
            self.task.submitted(bundle, answer.verdict)
        if answer.frozen is None:
            verdict = answer.verdict
            return Refused(f"{verdict.kind.value}: {verdict.why}", verdict.kind in PLACE_KINDS)
        if not as_reported(placed, answer.verdict):
            why = f"the test fails in another way than the report says ({answer.verdict.why})"
            return Refused(why, elsewhere=True)
        asserted = {part.shows: part.guard for part in parts if part.shows is not None}
        says = tuple(_asserted(finding, guard) for finding, guard in asserted.items())
        return QualifiedBundle(answer.frozen.bundle, answer.verdict, says)

    def _known(self, tests: Sequence[Named], host: Host) -> Known:
        """What the imports of the file mean; a run where a name stands for two things that may be one."""
        plain = Known(host.package)
        pairs = (
            [pair for named in tests for pair in clashes(named.test, host.text, plain)] if host.text else []
        )
        return Known(host.package, same_objects(self.prober, pairs)) if pairs else plain


def _asserted(finding: Finding, guard: bool) -> Asserted:
    return Asserted(finding.expected.strip()[:300], finding.strength, guard)


def as_reported(placed: Placed, verdict: Verdict) -> bool:
    """Whether each test that fails does so at one of its findings, for that finding's own reason."""
    failing = [node for node in verdict.nodes if node.kind is not FailureKind.PASSED]
    for node in failing:
        owner = next((named for named in placed.tests if named.name == _function_of(node)), None)
        if owner is None or not _for_its_reason(owner, placed, node):
            return False
    if not all(_rows_fail_as_told(named, failing) for named in placed.tests if named.test.decorators):
        return False
    red = set(map(_function_of, failing))
    return all(named.name in red for named in placed.tests if named.test.findings)


def _function_of(node: NodeVerdict) -> str:
    """The name of the test function alone."""
    return node.node.partition("[")[0].replace("::", ".").rpartition(".")[2]


def _rows_fail_as_told(named: Named, failing: Sequence[NodeVerdict]) -> bool:
    """Whether of a table, whose rows share one assertion, as many rows fail as there are findings in it."""
    red = [node for node in failing if _function_of(node) == named.name]
    return len(red) == sum(part.shows is not None and not part.guard for part in named.test.parts)


def _for_its_reason(named: Named, placed: Placed, node: NodeVerdict) -> bool:
    parts = [part for part in named.test.parts if part.shows is not None]
    line = None if named.test.decorators else _line_of(placed, node)
    if line is not None:
        parts = [part for part in parts if line in _stripped(part)] or parts
    return any(_fits(part, node) for part in parts)


def _line_of(placed: Placed, node: NodeVerdict) -> str | None:
    """The text of the test's line where a node failed; None where it failed in the source."""
    path, _, number = node.where.rpartition(":")
    lines = placed.text.splitlines()
    inside = path.endswith(placed.path) and number.isdigit() and 0 < int(number) <= len(lines)
    return lines[int(number) - 1].strip() if inside else None


def _stripped(part: Part) -> set[str]:
    return {line.strip() for line in part.lines}


def _fits(part: Part, node: NodeVerdict) -> bool:
    finding = part.shows
    if finding is None or part.guard:
        return False
    wanted = expected_errors(finding)
    if node.kind is FailureKind.ASSERTION_FAILED:
        return "AssertionError" in wanted
    return any(name in node.message for name in wanted - {"AssertionError", "Failed"})
