# SPDX-License-Identifier: Apache-2.0
"""What was declared and what ran are compared both ways."""

from __future__ import annotations

import pytest

from redfirst.core.evidence import NodeResult, Phase, PhaseOutcome, PhaseResult, RunReport
from redfirst.core.kinds import FailureKind
from redfirst.gate.bind import (
    added_undeclared,
    binding_reasons,
    bound_nodes,
    faults_before_run,
    incomplete_new_tests,
    unexplained,
)
from redfirst.runners.registry import runner_named

PYTEST = runner_named("pytest")
A, B, OTHER = "tests/test_a.py::test_a", "tests/test_a.py::test_b", "tests/test_o.py::test_a"


def report(*ran: str, available: tuple[str, ...] = (), deselected: tuple[str, ...] = ()) -> RunReport:
    done = (PhaseResult(Phase.CALL, PhaseOutcome.PASSED),)
    return RunReport(
        tuple(NodeResult(node, done) for node in ran), available=available, deselected=deselected
    )


@pytest.mark.parametrize(
    ("declared", "before", "after", "words"),
    [
        ([A], [], [A], []),
        (["test_a"], [], [A], []),
        (["test_a"], [], [A, OTHER], ["ambiguous"]),
        ([A], [], [A, B], [f"adds {B}"]),
        ([A], [B], [A, B], []),
        ([f"{A}[1]"], [], [A], []),
        (["test_nowhere"], [], [], []),
    ],
)
def test_what_the_text_shows(declared, before, after, words):
    faults = faults_before_run(PYTEST, declared, before, after)
    assert len(faults) == len(words)
    assert all(word in fault for word, fault in zip(words, faults, strict=True))


@pytest.mark.parametrize(
    ("declared", "seen", "kinds"),
    [
        ([A], report(A), []),
        ([A], report(f"{A}[1]", f"{A}[2]"), []),
        ([A], report(), [FailureKind.NODE_UNBOUND]),
        ([A], report(deselected=(A,)), [FailureKind.NOT_RUN]),
        ([A], report(A, B), [FailureKind.NODE_UNBOUND]),
        ([A], report(f"{A}[1]", available=(f"{A}[1]", f"{A}[2]")), [FailureKind.NODE_UNBOUND]),
        ([f"{A}[1]"], report(f"{A}[1]", available=(f"{A}[1]", f"{A}[2]")), []),
        (["test_a"], report(A, available=(A, B)), []),
        ([A], report("tests/test_a.py::test_ab"), [FailureKind.NODE_UNBOUND] * 2),
    ],
)
def test_what_ran(declared, seen, kinds):
    assert [reason.kind for reason in binding_reasons(PYTEST, declared, seen)] == kinds


def test_bound_nodes_keep_the_order_of_the_declaration():
    assert [node.node for node in bound_nodes(PYTEST, [B, A], report(A, B, OTHER))] == [B, A]


def test_a_test_that_only_the_run_shows_is_asked_about_and_then_judged():
    seen = report(A, available=(A, B))
    assert unexplained(PYTEST, [A], [], seen) == (B,)
    assert unexplained(PYTEST, [A], [B], seen) == ()
    assert added_undeclared(PYTEST, [B], [B]) == []
    assert [reason.kind for reason in added_undeclared(PYTEST, [B], [])] == [FailureKind.NODE_UNBOUND]


def test_a_new_test_is_declared_whole():
    seen = report(f"{A}[1]", available=(f"{A}[1]", f"{A}[2]"))
    assert incomplete_new_tests(PYTEST, [f"{A}[1]"], [A], seen)
    assert not incomplete_new_tests(PYTEST, [f"{A}[1]", f"{A}[2]"], [A], seen)
