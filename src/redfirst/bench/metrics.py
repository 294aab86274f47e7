# SPDX-License-Identifier: Apache-2.0
"""What judgements are worth: rates, balanced accuracy and their intervals, as functions of values."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from redfirst.bench.record import Answer, BugResult, Judgement

POSITIVES = ("gold", "correct")
#: What a refusal counts in the mean over all bugs: no better and no worse than a coin.
REFUSAL = 0.5
#: Two-sided 95 % of the normal distribution.
Z95 = 1.959963984540054
_RESAMPLES = 4000
_SEED = 20260101


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rate:
    """``count`` of ``total``, with Wilson's interval; None where ``total`` is zero."""

    count: int
    total: int
    interval: Interval | None

    @property
    def value(self) -> float | None:
        return self.count / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean of ``count`` values with a bootstrapped interval; None where there are too few."""

    value: float | None
    count: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole run. Every rate is over all bugs, errors included: what was not measured is no success.

    ``over_fail_to_pass``: mean balanced accuracy of the fail-to-pass tests. ``over_qualified``: of all
    qualified ones. ``over_all``: a refusal counts 0.5, an error 0.
    """

    bugs: int
    qualified: Rate
    fail_to_pass: Rate
    precision: Rate
    over_fail_to_pass: Mean
    over_qualified: Mean
    over_all: Mean
    refusals: int
    errors: int
    undecided: int
    median_seconds: float | None
    median_seconds_qualified: float | None


def is_fail_to_pass(judgements: Sequence[Judgement]) -> bool:
    """Whether a qualified test accepts both the true fix and the other correct patch."""
    accepted = {item.patch for item in judgements if item.answer is Answer.ACCEPTED}
    return accepted.issuperset(POSITIVES)


def balanced_accuracy(judgements: Sequence[Judgement]) -> float:
    """Mean of the share of correct trees accepted and the share of wrong ones rejected.

    An undecided judgement is neither. A class without any tree counts zero.
    """
    right = [item for item in judgements if item.patch in POSITIVES]
    wrong = [item for item in judgements if item.patch not in POSITIVES]
    accepted = _share(sum(item.answer is Answer.ACCEPTED for item in right), len(right))
    rejected = _share(sum(item.answer is Answer.REJECTED for item in wrong), len(wrong))
    return (accepted + rejected) / 2


def wilson(count: int, total: int) -> Interval | None:
    """Wilson's 95 % interval of a rate; None without any trial. Raises ValueError for impossible counts."""
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total}")
    if total == 0:
        return None
    share, square = count / total, Z95 * Z95
    centre = (share + square / (2 * total)) / (1 + square / total)
    spread = (share * (1 - share) + square / (4 * total)) / total
    half = Z95 * math.sqrt(spread) / (1 + square / total)
    low = 0.0 if count == 0 else max(0.0, centre - half)
    high = 1.0 if count == total else min(1.0, centre + half)
    return Interval(low, high)


def rate(count: int, total: int) -> Rate:
    """A rate with its interval."""
    return Rate(count, total, wilson(count, total))


def mean(values: Sequence[float]) -> Mean:
    """A mean with a percentile bootstrap; the same values give the same interval. Below 2 values, no interval."""
    if not values:
        return Mean(None, 0, None)
    value = statistics.fmean(values)
    if len(values) < 2:
        return Mean(value, 1, None)
    draw = random.Random(_SEED)
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    edge = round(0.025 * _RESAMPLES)
    return Mean(value, len(values), Interval(means[edge], means[-edge - 1]))


def summarise(results: Sequence[BugResult]) -> Summary:
    """The figures of a run."""
    total = len(results)
    qualified = [item for item in results if item.qualified]
    passing = [item for item in qualified if item.fail_to_pass]
    return Summary(
        bugs=total,
        qualified=rate(len(qualified), total),
        fail_to_pass=rate(len(passing), total),
        precision=rate(len(passing), len(qualified)),
        over_fail_to_pass=mean([_accuracy(item) for item in passing]),
        over_qualified=mean([_accuracy(item) for item in qualified]),
        over_all=mean([_worth(item) for item in results]),
        refusals=sum(item.refusal is not None for item in results),
        errors=sum(item.error is not None for item in results),
        undecided=sum(len(item.undecided) for item in qualified),
        median_seconds=_median([item for item in results if item.error is None]),
        median_seconds_qualified=_median(qualified),
    )


def _median(results: Sequence[BugResult]) -> float | None:
    times = [item.seconds for item in results if item.seconds is not None]
    return statistics.median(times) if times else None


def _worth(result: BugResult) -> float:
    if result.error is not None:
        return 0.0
    return _accuracy(result) if result.qualified else REFUSAL


def _accuracy(result: BugResult) -> float:
    return result.balanced_accuracy or 0.0


def _share(count: int, total: int) -> float:
    return count / total if total else 0.0
