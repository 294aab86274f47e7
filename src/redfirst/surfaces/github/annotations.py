# SPDX-License-Identifier: Apache-2.0
"""A check as GitHub workflow commands, which become annotations of the changed lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from redfirst.surfaces.github.untrusted import in_command, in_property

if TYPE_CHECKING:
    from redfirst.gate.check.policy import Row
    from redfirst.gate.check.report import CheckReport

#: GitHub shows ten of each level for a step.
_MOST = 10
_LEVELS = {
    "fail-to-pass": "notice",
    "new API": "notice",
    "pass-to-pass": "warning",
    "not run": "warning",
    "undecidable": "warning",
    "fail-to-fail": "error",
    "pass-to-fail": "error",
    "flaky": "error",
}


def annotation_lines(report: CheckReport) -> list[str]:
    """One line each, worst first; the answer itself comes last and without a place."""
    rows = [(level_of(row, report), row) for row in report.rows]
    lines = []
    for level in ("error", "warning", "notice"):
        mine = [row for found, row in rows if found == level]
        lines += [_line(level, row) for row in mine[: _MOST - 1]]
    decision = report.decision
    level = {"holds": "notice", "does not hold": "error", "undecided": "error"}[decision.answer.value]
    text = "; ".join((*decision.why[:5], *([decision.todo] if decision.todo else [])))
    return [
        *lines,
        f"::{level} title={in_property(f'redfirst check: {decision.answer}')}::{in_command(text)}",
    ]


def level_of(row: Row, report: CheckReport) -> str:
    """How loud one test is; what a refactor wants, or a test that owes nothing, is no warning."""
    level = _LEVELS[row.label.value]
    calm = not row.owes or report.policy.no_behaviour_change or not report.changed.behaves
    return "notice" if calm and row.label.value == "pass-to-pass" else level


def _line(level: str, row: Row) -> str:
    place = f"file={in_property(row.file)}," if row.file else ""
    place += f"line={row.line}," if row.line else ""
    return f"::{level} {place}title={in_property(row.label.value)}::{in_command(f'{row.node}: {row.why}')}"


def print_annotations(report: CheckReport) -> None:
    """To standard error, which a workflow reads as well, so that JSON on standard output stays alone."""
    for line in annotation_lines(report):
        sys.stderr.write(line + "\n")
    sys.stderr.flush()
