# SPDX-License-Identifier: Apache-2.0
"""Binding: what was declared against what exists and what was seen to run, both ways."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from redfirst.core.evidence import NodeResult, RunReport
from redfirst.core.kinds import FailureKind
from redfirst.gate.classify import Reason
from redfirst.runners.protocol import Runner


def faults_before_run(
    runner: Runner, declared: Sequence[str], before: Iterable[str], after: Iterable[str]
) -> list[str]:
    """Faults that the text alone shows: ambiguous bare names, added tests that are not declared.

    ``before``/``after``: tests that the text of the patched files defines without and with the patch.
    """
    after, old = tuple(dict.fromkeys(after)), frozenset(before)
    faults = []
    for name in declared:
        found = [
            test for test in after if runner.matches(name, test) or runner.matches(runner.base_of(name), test)
        ]
        if len(found) > 1:
            faults.append(f"{name!r} is ambiguous: {', '.join(found)}")
    for test in after:
        if test not in old and not _declared(runner, declared, test):
            faults.append(f"the patch adds {test}, which the contract does not declare")
    return faults


def _declared(runner: Runner, declared: Iterable[str], test: str) -> bool:
    """Whether ``test`` (without a case) is declared, whole or by cases."""
    return any(runner.matches(name, test) or runner.matches(runner.base_of(name), test) for name in declared)


def unexplained(
    runner: Runner, declared: Sequence[str], known: Iterable[str], report: RunReport
) -> tuple[str, ...]:
    """Available tests that are neither declared nor defined by Base's text: Base must be collected to tell."""
    old = frozenset(known)
    tests = dict.fromkeys(runner.base_of(node) for node in report.available)
    return tuple(test for test in tests if test not in old and not _declared(runner, declared, test))


def partly_declared(runner: Runner, declared: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    """Tests that are declared by single cases and that Base's text does not define."""
    old = frozenset(known)
    tests = dict.fromkeys(runner.base_of(name) for name in declared if runner.base_of(name) != name)
    return tuple(test for test in tests if not any(runner.matches(test, one) for one in old))


def binding_reasons(runner: Runner, declared: Sequence[str], report: RunReport) -> list[Reason]:
    """Compare the nodes that ran with the declared ones, both ways."""
    ran = [node.node for node in report.nodes]
    reasons = []
    for name in declared:
        if not any(runner.matches(name, node) for node in ran):
            reasons.append(_absent(runner, name, report))
        else:
            missing = [n for n in report.available if runner.matches(name, n) and n not in ran]
            if missing:
                reasons.append(
                    _unbound(f"{name!r} is declared whole, but these cases did not run: {_few(missing)}")
                )
    for node in ran:
        if not any(runner.matches(name, node) for name in declared):
            reasons.append(_unbound(f"{node} ran and is not declared"))
    return reasons


def _absent(runner: Runner, name: str, report: RunReport) -> Reason:
    if any(runner.matches(name, node) for node in report.deselected):
        return Reason(FailureKind.NOT_RUN, f"{name!r} was not selected to run, by command or settings")
    return _unbound(f"{name!r} is declared and did not run")


def added_undeclared(runner: Runner, suspects: Sequence[str], base_available: Iterable[str]) -> list[Reason]:
    """Of the unexplained tests, those that Base does not collect are added and undeclared."""
    old = {runner.base_of(node) for node in base_available}
    return [
        _unbound(f"the patch adds {test}, which the contract does not declare")
        for test in suspects
        if test not in old
    ]


def incomplete_new_tests(
    runner: Runner, declared: Sequence[str], new_tests: Sequence[str], report: RunReport
) -> list[Reason]:
    """A new test is declared whole: every case of it must be declared."""
    reasons = []
    for test in new_tests:
        cases = [node for node in report.available if runner.matches(test, node)]
        missing = [node for node in cases if not any(runner.matches(name, node) for name in declared)]
        if missing:
            reasons.append(_unbound(f"{test} is new and declared only in part; undeclared: {_few(missing)}"))
    return reasons


def bound_nodes(runner: Runner, declared: Sequence[str], report: RunReport) -> tuple[NodeResult, ...]:
    """The observed nodes that are declared, in the order of the declaration then of the run."""
    picked: dict[str, NodeResult] = {}
    for name in declared:
        for node in report.nodes:
            if runner.matches(name, node.node):
                picked.setdefault(node.node, node)
    return tuple(picked.values())


def _unbound(why: str) -> Reason:
    return Reason(FailureKind.NODE_UNBOUND, why)


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
