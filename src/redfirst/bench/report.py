# SPDX-License-Identifier: Apache-2.0
"""The report of a bench run as rows and lines: pure, from results to text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from redfirst.bench.metrics import Interval, Mean, Rate, Summary
from redfirst.bench.record import Answer, BugResult

HEADER = ("bug", "test", "gold", "correct", "wrong", "accuracy", "seconds")


def rows(results: Sequence[BugResult]) -> list[tuple[str, ...]]:
    """A header, then one row a bug. A qualified test that is not fail-to-pass is marked with ``!``."""
    return [HEADER, *(_row(item) for item in results)]


def markdown_table(table: Sequence[tuple[str, ...]]) -> list[str]:
    """The rows as a Markdown table, the first one as its head."""
    head, *body = table
    lines = [_line(head), _line(tuple("---" for _ in head))]
    return lines + [_line(row) for row in body]


def totals(summary: Summary) -> list[str]:
    """What the run comes to, one line a figure."""
    lines = [
        f"qualified {_rate(summary.qualified)}",
        f"fail-to-pass {_rate(summary.fail_to_pass)}",
        f"fail-to-pass of the qualified {_rate(summary.precision)}",
        f"balanced accuracy, mean over the fail-to-pass {_mean(summary.over_fail_to_pass)}",
        f"balanced accuracy, mean over the qualified {_mean(summary.over_qualified)}",
        f"balanced accuracy, mean over all {_mean(summary.over_all)} (a refusal counts 0.5, an error 0)",
        f"refused {summary.refusals}, errors {summary.errors}, undecided judgements {summary.undecided}",
    ]
    if summary.median_seconds is not None:
        lines.append(f"seconds to reproduce, median {summary.median_seconds:.1f}{_of_qualified(summary)}")
    return lines


def remarks(results: Sequence[BugResult]) -> list[str]:
    """Why each bug that is no clean success is not one."""
    return [f"{item.instance_id}: {text}" for item in results if (text := _remark(item))]


def record_of(results: Sequence[BugResult], summary: Summary) -> dict[str, object]:
    """The report as one JSON object."""
    return {"summary": asdict(summary), "bugs": [asdict(item) for item in results]}


def _row(result: BugResult) -> tuple[str, ...]:
    seconds = "" if result.seconds is None else f"{result.seconds:.1f}"
    if result.error is not None:
        return (result.instance_id, "error", "", "", "", "", seconds)
    if not result.qualified:
        return (result.instance_id, "refused", "", "", "", "", seconds)
    answers = {item.patch: item.answer for item in result.judgements}
    wrong = [answer for patch, answer in answers.items() if patch not in ("gold", "correct")]
    rejected = sum(answer is Answer.REJECTED for answer in wrong)
    accuracy = "" if result.balanced_accuracy is None else f"{result.balanced_accuracy:.2f}"
    return (
        result.instance_id,
        (result.kind or "") if result.fail_to_pass else f"! {result.kind}",
        str(answers.get("gold", "")),
        str(answers.get("correct", "")),
        f"{rejected} of {len(wrong)} rejected",
        accuracy,
        seconds,
    )


def _remark(result: BugResult) -> str:
    if result.error is not None:
        return f"error: {result.error}"
    if result.refusal is not None:
        return f"refused: {result.refusal}"
    odd = [item for item in result.judgements if _is_odd(item.patch, item.answer)]
    told = [f"{item.patch} {item.answer} ({item.kind}: {' '.join(item.why.split())[:160]})" for item in odd]
    mark = "" if result.fail_to_pass else "not fail-to-pass; "
    return mark + "; ".join(told) if told or mark else ""


def _is_odd(patch: str, answer: Answer) -> bool:
    if patch in ("gold", "correct"):
        return answer is not Answer.ACCEPTED
    return answer is Answer.UNDECIDED


def _of_qualified(summary: Summary) -> str:
    found = summary.median_seconds_qualified
    return "" if found is None else f" (of the qualified {found:.1f})"


def _rate(rate: Rate) -> str:
    text = f"{rate.count} of {rate.total}"
    return text if rate.value is None else f"{text} = {rate.value:.2f}{_interval(rate.interval)}"


def _mean(mean: Mean) -> str:
    return "none" if mean.value is None else f"{mean.value:.2f}{_interval(mean.interval)}, n = {mean.count}"


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f" [{interval.low:.2f}, {interval.high:.2f}]"


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
