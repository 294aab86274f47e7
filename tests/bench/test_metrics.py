# SPDX-License-Identifier: Apache-2.0
"""Keeps the figures right: hand-made cases, and what holds for every set of judgements."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redfirst.bench.metrics import balanced_accuracy, is_fail_to_pass, mean, rate, summarise, wilson
from redfirst.bench.record import Answer, BugResult, Judgement

YES, NO, OPEN = Answer.ACCEPTED, Answer.REJECTED, Answer.UNDECIDED


def judged(gold: Answer | None, correct: Answer | None, *wrong: Answer) -> tuple[Judgement, ...]:
    """Judgements in the order of an audit; None leaves one out."""
    pairs = [("gold", gold), ("correct", correct), *((f"wrong-{n}", item) for n, item in enumerate(wrong, 1))]
    return tuple(Judgement(name, answer, "", "", 0.0) for name, answer in pairs if answer is not None)


@pytest.mark.parametrize(
    ("judgements", "passing", "accuracy"),
    [
        (judged(YES, YES, NO, NO, NO), True, 1.0),
        (judged(YES, YES, YES, YES, YES), True, 0.5),
        (judged(NO, NO, NO, NO, NO), False, 0.5),
        (judged(YES, NO, NO, YES), False, 0.5),
        (judged(YES, YES, NO, YES, YES), True, (1 + 1 / 3) / 2),
        (judged(YES, OPEN, NO, OPEN), False, 0.5),
        (judged(YES, YES), True, 0.5),
        (judged(None, None, NO, NO), False, 0.5),
        (judged(YES, None, NO), False, 1.0),
        ((), False, 0.0),
    ],
)
def test_a_table_of_audits(judgements: tuple[Judgement, ...], passing: bool, accuracy: float) -> None:
    assert is_fail_to_pass(judgements) is passing
    assert balanced_accuracy(judgements) == pytest.approx(accuracy)


answers = st.sampled_from(list(Answer))


@given(answers, answers, st.lists(answers, max_size=6))
def test_accuracy_is_a_share_and_undecided_never_helps(
    gold: Answer, correct: Answer, wrong: list[Answer]
) -> None:
    value = balanced_accuracy(judged(gold, correct, *wrong))
    assert 0 <= value <= 1
    for better, answer in ((YES, "gold"), (NO, "wrong-1")):
        if answer == "wrong-1" and not wrong:
            continue
        open_case = [OPEN if name == answer else item for name, item in _named(gold, correct, wrong)]
        right_case = [better if name == answer else item for name, item in _named(gold, correct, wrong)]
        assert balanced_accuracy(judged(*open_case)) <= value <= balanced_accuracy(judged(*right_case))


def _named(gold: Answer, correct: Answer, wrong: list[Answer]) -> list[tuple[str, Answer]]:
    return [("gold", gold), ("correct", correct), *((f"wrong-{n}", item) for n, item in enumerate(wrong, 1))]


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (10, 26, 0.2243, 0.5747)],
)
def test_wilson_against_known_values(count: int, total: int, low: float, high: float) -> None:
    found = wilson(count, total)
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


@given(st.integers(1, 500).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_wilson_holds_the_rate_and_mirrors(pair: tuple[int, int]) -> None:
    count, total = pair
    found, mirror = wilson(count, total), wilson(total - count, total)
    assert found is not None
    assert mirror is not None
    assert 0 <= found.low <= count / total <= found.high <= 1
    assert math.isclose(found.low, 1 - mirror.high, abs_tol=1e-12)


def test_nothing_tried_has_no_rate() -> None:
    assert (wilson(0, 0), rate(0, 0).value, mean([]).value) == (None, None, None)
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_a_mean_lies_in_its_interval_and_is_the_same_again(values: list[float]) -> None:
    found = mean(values)
    assert found == mean(values)
    assert found.interval is not None
    assert min(values) - 1e-9 <= found.interval.low <= found.interval.high <= max(values) + 1e-9


def test_a_summary_by_hand() -> None:
    results = [
        BugResult("a", qualified=True, kind="x", fail_to_pass=True, balanced_accuracy=1.0, seconds=1.0),
        BugResult("b", qualified=True, kind="x", balanced_accuracy=0.25, seconds=3.0, undecided=("wrong-1",)),
        BugResult("c", refusal="no code", seconds=2.0),
        BugResult("d", error="no sdist"),
    ]
    found = summarise(results)
    assert (found.qualified.count, found.fail_to_pass.count, found.bugs) == (2, 1, 4)
    assert (found.precision.count, found.precision.total) == (1, 2)
    assert (found.over_fail_to_pass.value, found.over_qualified.value) == (1.0, 0.625)
    assert found.over_all.value == pytest.approx((1.0 + 0.25 + 0.5 + 0.0) / 4)
    assert (found.refusals, found.errors, found.undecided, found.median_seconds) == (1, 1, 1, 2.0)
    assert found.median_seconds_qualified == 2.0
