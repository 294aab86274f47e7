# SPDX-License-Identifier: Apache-2.0
"""Keeps labels and policies pure and fail-closed: what is not established proves nothing."""

from __future__ import annotations

import pytest

from redfirst.core.kinds import FailureKind, Outcome
from redfirst.gate.check.change import ChangeSet, Role
from redfirst.gate.check.label import Label, NodeRun, label
from redfirst.gate.check.nodes import Deleted
from redfirst.gate.check.policy import Answer, Part, Policy, Require, Row, decide

PASS, FAIL = NodeRun(FailureKind.PASSED), NodeRun(FailureKind.ASSERTION_FAILED, "1 != 2")
LACKS = NodeRun(FailureKind.EXCEPTION_RAISED, "no name", new_api=True)
UNLOADED = NodeRun(FailureKind.COLLECTION_ERROR, "no name", new_api=True)
SKIPPED, SLOW = NodeRun(FailureKind.NOT_RUN, "later"), NodeRun(FailureKind.TIMEOUT, "too long")


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ([FAIL, FAIL], [PASS, PASS], Label.FAIL_TO_PASS),
        ([PASS, PASS], [PASS, PASS], Label.PASS_TO_PASS),
        ([FAIL], [FAIL], Label.FAIL_TO_FAIL),
        ([PASS], [FAIL], Label.PASS_TO_FAIL),
        ([LACKS], [PASS], Label.NEW_API),
        ([UNLOADED], [PASS, PASS], Label.NEW_API),
        ([UNLOADED], [FAIL], Label.FAIL_TO_FAIL),
        ([FAIL, PASS], [PASS, PASS], Label.FLAKY),
        ([FAIL, FAIL], [PASS, SLOW], Label.FLAKY),
        ([FAIL], [SKIPPED], Label.NOT_RUN),
        ([SKIPPED], [PASS], Label.NOT_RUN),
        ([], [PASS], Label.NOT_RUN),
        ([FAIL], [], Label.NOT_RUN),
        ([], [], Label.UNDECIDABLE),
        ([SLOW], [PASS], Label.UNDECIDABLE),
        ([FAIL], [SLOW], Label.UNDECIDABLE),
        ([NodeRun(FailureKind.SETUP_ERROR)], [PASS], Label.UNDECIDABLE),
        ([NodeRun(FailureKind.TEST_ERROR)], [PASS], Label.UNDECIDABLE),
    ],
)
def test_labels(base: list[NodeRun], head: list[NodeRun], expected: Label) -> None:
    assert label(base, head).label is expected


@pytest.mark.parametrize("kind", [kind for kind in FailureKind if not kind.valid])
def test_an_invalid_run_on_either_side_never_proves(kind: FailureKind) -> None:
    odd = NodeRun(kind)
    proofs = {Label.FAIL_TO_PASS, Label.PASS_TO_PASS, Label.NEW_API}
    assert label([odd], [PASS]).label not in proofs
    assert label([FAIL], [odd]).label not in proofs
    assert label([LACKS], [odd]).label not in proofs


def row(found: Label, part: Part = Part.ADDED, head: Outcome | None = Outcome.PASS) -> Row:
    if found in (Label.FAIL_TO_FAIL, Label.PASS_TO_FAIL):
        head = Outcome.FAIL
    if found in (Label.FLAKY, Label.NOT_RUN):
        head = None
    return Row(f"t::{found.name.lower()}_{part}", part, found, "why", head)


def change(*roles: Role) -> ChangeSet:
    return ChangeSet((), tuple((f"{role}.x", role) for role in roles))


FIX = change(Role.SOURCE, Role.TESTS)
F2P, P2P, API = row(Label.FAIL_TO_PASS), row(Label.PASS_TO_PASS), row(Label.NEW_API)
BLIND = row(Label.UNDECIDABLE)
DEAD = row(Label.UNDECIDABLE, head=None)
HOLDS, FAILS, OPEN = Answer.HOLDS, Answer.FAILS, Answer.UNDECIDED
ONE, ALL = Policy(), Policy(Require.ALL)
NEW, SAME = Policy(allow_new_api=True), Policy(no_behaviour_change=True)


@pytest.mark.parametrize(
    ("rows", "policy", "expected"),
    [
        ([F2P], ONE, HOLDS),
        ([F2P, P2P], ONE, HOLDS),
        ([F2P, P2P], ALL, FAILS),
        ([F2P, row(Label.PASS_TO_PASS, Part.KEPT), row(Label.PASS_TO_PASS, Part.REACHED)], ALL, HOLDS),
        ([P2P], ONE, FAILS),
        ([], ONE, FAILS),
        ([], ALL, FAILS),
        ([API], ONE, FAILS),
        ([API], NEW, HOLDS),
        ([API, F2P], Policy(Require.ALL, allow_new_api=True), HOLDS),
        ([F2P, row(Label.FAIL_TO_FAIL)], ONE, FAILS),
        ([F2P, row(Label.PASS_TO_FAIL, Part.REACHED)], ONE, FAILS),
        ([F2P, row(Label.FLAKY)], ONE, FAILS),
        ([F2P, row(Label.FLAKY, Part.REACHED)], ONE, HOLDS),
        ([F2P, row(Label.NOT_RUN)], ONE, HOLDS),
        ([F2P, row(Label.NOT_RUN)], ALL, FAILS),
        ([row(Label.NOT_RUN)], ONE, FAILS),
        ([BLIND], ONE, OPEN),
        ([BLIND, P2P], ONE, OPEN),
        ([F2P, BLIND], ONE, HOLDS),
        ([F2P, DEAD], ONE, OPEN),
        ([F2P, BLIND], ALL, OPEN),
        ([F2P, BLIND, P2P], ALL, FAILS),
        ([row(Label.FAIL_TO_PASS, Part.REACHED)], ONE, HOLDS),
        ([row(Label.FAIL_TO_PASS, Part.REACHED)], ALL, HOLDS),
        ([row(Label.PASS_TO_PASS, Part.MOVED)], ONE, FAILS),
        ([P2P], SAME, HOLDS),
        ([], SAME, HOLDS),
        ([P2P, F2P], SAME, FAILS),
        ([P2P, API], SAME, FAILS),
        ([P2P, API], Policy(allow_new_api=True, no_behaviour_change=True), HOLDS),
        ([P2P, BLIND], SAME, OPEN),
        ([row(Label.PASS_TO_FAIL)], SAME, FAILS),
    ],
)
def test_a_fix(rows: list[Row], policy: Policy, expected: Answer) -> None:
    decision = decide(FIX, rows, policy)
    assert decision.answer is expected
    assert decision.why
    assert bool(decision.todo) is (expected is not HOLDS)


@pytest.mark.parametrize(
    ("roles", "rows", "expected"),
    [
        ((), [], HOLDS),
        ((Role.DOCUMENTATION,), [], HOLDS),
        ((Role.CONFIGURATION, Role.DOCUMENTATION), [], HOLDS),
        ((Role.TESTS,), [P2P], HOLDS),
        ((Role.TESTS, Role.CONFIGURATION), [F2P], HOLDS),
        ((Role.TESTS,), [row(Label.FAIL_TO_FAIL)], FAILS),
        ((Role.TESTS,), [DEAD], OPEN),
        ((Role.SUBMODULES,), [], FAILS),
        ((Role.SOURCE,), [], FAILS),
    ],
)
def test_other_changes(roles: tuple[Role, ...], rows: list[Row], expected: Answer) -> None:
    assert decide(change(*roles), rows, ONE).answer is expected


def test_what_could_not_be_looked_at_is_never_passed_over() -> None:
    foreign = [("a_test.go", "no runner here runs its tests")]
    assert decide(FIX, [], ONE, unjudged=foreign).answer is OPEN
    assert decide(FIX, [F2P], ONE, unjudged=foreign).answer is HOLDS
    assert decide(FIX, [F2P], ALL, unjudged=foreign).answer is OPEN
    assert decide(change(Role.TESTS), [], ONE, unjudged=foreign).answer is OPEN
    assert any("a_test.go" in text for text in decide(FIX, [F2P], ONE, unjudged=foreign).warnings)


def test_deleted_tests_and_unproving_ones_are_warned_of() -> None:
    decision = decide(FIX, [F2P, row(Label.NOT_RUN)], ONE, deleted=[Deleted("t::gone", "t.py")])
    assert "t::gone was deleted" in decision.warnings
    assert any("did not run" in text for text in decision.warnings)


@pytest.mark.parametrize("part", Part)
def test_only_what_the_change_wrote_has_to_have_failed_first(part: Part) -> None:
    written = part in (Part.ADDED, Part.ALTERED)
    assert decide(FIX, [F2P, row(Label.PASS_TO_PASS, part)], ALL).answer is (FAILS if written else HOLDS)
    assert decide(FIX, [F2P, row(Label.FLAKY, part)], ONE).answer is (FAILS if written else HOLDS)
