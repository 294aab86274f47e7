# SPDX-License-Identifier: Apache-2.0
"""Fills the behaviour contract of a test from the report's own words."""

from __future__ import annotations

import re

from redfirst.agents.strategies.snippet.findings import Finding, Kind
from redfirst.agents.strategies.snippet.report import Report
from redfirst.core.bundle import BehaviorContract

_MAX = 600
_PROPERTY = {
    Kind.EQUAL: "The stated result is asserted for the reported input alone; other inputs are not.",
    Kind.ASSERTS: "Only the report's own assertion is made; nothing beside it.",
    Kind.RAISES: "The text of the exception is not asserted, nor what happens for other inputs.",
    Kind.RETURNS: "Only the stated result is asserted; other inputs that raise the same exception are not.",
    Kind.NOT_RAISES: (
        "This is a weak property: the reported exception must not come. What the call should give is not asserted, "
        "because the report does not say it in a form that could be confirmed."
    ),
    Kind.NOT_VALUE: (
        "This is the weakest property: the reported wrong result must not come. Which result is right is not asserted, "
        "because the report does not say it in a form that could be confirmed."
    ),
}


def contract_for(finding: Finding, report: Report, code: str, node: str) -> BehaviorContract:
    """The contract of one test; every field is filled, none with more than was confirmed."""
    evidence = tuple(dict.fromkeys(_short(line) for line in finding.evidence if line.strip()))
    return BehaviorContract(
        entrypoint=_short(_entry(code)),
        trigger=_short(code),
        expected_output=_short(finding.expected),
        issue_evidence=evidence or (_short(report.title),),
        alternative_hypotheses=_alternatives(finding),
        non_assertions=_left_out(finding),
        test_nodes=(node,),
    )


def _alternatives(finding: Finding) -> tuple[str, ...]:
    seen = f"On Base the statement gives {_short(finding.observed)}"
    if finding.kind in (Kind.RETURNS, Kind.NOT_RAISES):
        return (
            f"{seen}; the exception could be meant, and the report mistaken about what the input deserves.",
        )
    if finding.kind is Kind.RAISES:
        return (f"{seen}; the input could be meant to be accepted.",)
    return (f"{seen}, as reported; that result could be meant, and the report's expectation mistaken.",)


def _left_out(finding: Finding) -> tuple[str, ...]:
    lines = [_PROPERTY[finding.kind]]
    if finding.open_end:
        lines.append(f"Another exception than {finding.exception} is not objected to.")
    return tuple(lines)


def _entry(code: str) -> str:
    """The callable of the statement that shows the bug: the dotted name before its first bracket."""
    match = re.search(r"([A-Za-z_][\w.]*)\s*\(", code.strip().splitlines()[-1]) or re.search(
        r"([A-Za-z_][\w.]*)\s*\(", code
    )
    return match.group(1) if match else code


def _short(text: str) -> str:
    squeezed = text.strip()
    return squeezed if len(squeezed) <= _MAX else squeezed[: _MAX - 1] + "…"
