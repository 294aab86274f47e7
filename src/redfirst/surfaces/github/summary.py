# SPDX-License-Identifier: Apache-2.0
"""A check as Markdown for a job summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redfirst.surfaces.github.untrusted import in_markdown

if TYPE_CHECKING:
    from redfirst.gate.check.report import CheckReport

_MARKS = {
    "fail-to-pass": "✅",
    "new API": "🆕",
    "pass-to-pass": "⚪",
    "fail-to-fail": "❌",
    "pass-to-fail": "❌",
    "flaky": "🎲",
    "not run": "⏭️",
    "undecidable": "❔",
}
_ANSWERS = {"holds": "✅ holds", "does not hold": "❌ does not hold", "undecided": "❔ undecided"}
_ROWS = 100


def markdown(report: CheckReport) -> str:
    """The whole section, with its heading; a job summary may hold several."""
    decision, compared = report.decision, report.compared
    lines = [f"### redfirst check: {_ANSWERS[decision.answer.value]}", ""]
    lines += [f"- {in_markdown(why)}" for why in decision.why[:20]]
    lines += [f"- **to do:** {in_markdown(decision.todo)}"] if decision.todo else []
    lines += ["", f"Base `{compared.base[:12]}`, head `{compared.head[:12]}`."]
    if report.nodes:
        lines += ["", "| | label | change | test | why |", "|-|-|-|-|-|"]
        lines += [
            f"| {_MARKS[row.label.value]} | {row.label.value} | {row.part.value} "
            f"| {in_markdown(row.node)} | {in_markdown(row.why, 200)} |"
            for row in report.rows[:_ROWS]
        ]
        if len(report.rows) > _ROWS:
            lines += ["", f"{len(report.rows) - _ROWS} more tests are in the JSON report."]
    extra = [f"- warning: {in_markdown(text)}" for text in decision.warnings[:20]]
    extra += [f"- note: {in_markdown(text)}" for text in report.notes]
    return "\n".join([*lines, *(["", *extra] if extra else []), ""]) + "\n"
