# SPDX-License-Identifier: Apache-2.0
"""What `redfirst check` prints for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redfirst.surfaces.cli.output import print_line, print_table

if TYPE_CHECKING:
    from redfirst.gate.check.report import CheckReport

_STYLES = {
    "fail-to-pass": "green",
    "new API": "yellow",
    "pass-to-pass": "yellow",
    "fail-to-fail": "red",
    "pass-to-fail": "red",
    "flaky": "red",
    "not run": "yellow",
    "undecidable": "magenta",
}
_ANSWERS = {"holds": "bold green", "does not hold": "bold red", "undecided": "bold magenta"}
_SHOWN = 200


def show(report: CheckReport) -> None:
    """The table of tests, then the answer with its reasons."""
    rows = [(row.label.value, row.part.value, row.node) for row in report.rows]
    if rows:
        print_table(rows[:_SHOWN], title=_title(report), styles=_STYLES)
        if len(rows) > _SHOWN:
            print_line(f"  and {len(rows) - _SHOWN} more; --json has them all")
    else:
        print_line(_title(report), style="bold")
    for item in report.deleted[:20]:
        print_line(f"  deleted: {item.node}")
    for note in report.notes:
        print_line(f"  note: {note}")
    decision = report.decision
    told = {f"{item.node} was deleted" for item in report.deleted}
    for warning in [text for text in decision.warnings if text not in told][:20]:
        print_line(f"  warning: {warning}")
    print_line(decision.answer.value.upper(), style=_ANSWERS[decision.answer.value])
    for why in decision.why[:20]:
        print_line(f"  {why}")
    if decision.todo:
        print_line(f"  to do: {decision.todo}")
    if report.sandbox == "plain" and report.nodes:
        print_line("  plain: nothing isolates the tests from this machine")


def _title(report: CheckReport) -> str:
    compared = report.compared
    count = len(report.nodes)
    tests = f"{count} test" if count == 1 else f"{count} tests"
    return (
        f"{tests} touched between {compared.base[:12]} and {compared.head[:12]} "
        f"({compared.base_ref} … {compared.head_ref}), {report.seconds:.1f} s"
    )
