# SPDX-License-Identifier: Apache-2.0
"""Fills the behaviour contract of a bundle from the report's own words, finding by finding."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from redfirst.agents.strategies.snippet.findings import Finding, Kind
from redfirst.agents.strategies.snippet.report import Report
from redfirst.agents.strategies.snippet.steps import Step
from redfirst.agents.strategies.snippet.write import Part
from redfirst.agents.task import Strength
from redfirst.core.bundle import BehaviorContract

_MAX = 600
_LEFT_OUT = {
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
STRENGTHS = {
    Strength.EXACT: "the whole result is asserted",
    Strength.PROPERTY: "a property of the result is asserted; a wrong result may have it too",
    Strength.NOT_THIS: "only the reported result is ruled out; any other one passes, a wrong one too",
}


def contract_for(
    parts: Sequence[Part], report: Report, steps: Sequence[Step], nodes: Sequence[str]
) -> BehaviorContract:
    """The contract of one bundle; ``parts`` are the asserting ones. Every field says no more than was confirmed."""
    shown = {part.shows: part.guard for part in parts if part.shows is not None}
    findings = [finding for finding, guard in shown.items() if not guard]
    guards = [finding for finding, guard in shown.items() if guard]
    codes = [steps[finding.step].code for finding in findings]
    evidence = [line for finding in (*findings, *guards) for line in finding.evidence if line.strip()]
    return BehaviorContract(
        entrypoint=_short("; ".join(dict.fromkeys(entry_of(steps[finding.step]) for finding in findings))),
        trigger=_short("\n".join(codes)),
        expected_output=_short(_expected(findings, guards)),
        issue_evidence=_each(evidence) or (_short(report.title),),
        alternative_hypotheses=_each(map(_alternative, findings)),
        non_assertions=_each([_strength(findings), *(line for f in findings for line in _left_out(f))]),
        test_nodes=tuple(nodes),
    )


def _expected(findings: Sequence[Finding], guards: Sequence[Finding]) -> str:
    wanted = [finding.expected.strip() for finding in findings]
    held = [f"as before: {guard.expected.strip()}" for guard in guards]
    return "\n".join([*wanted, *held])


def _each(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_short, lines)))


def _strength(findings: Sequence[Finding]) -> str:
    """How strong the bundle is, as its weakest and strongest finding say."""
    held = [kind for kind in Strength if any(finding.strength is kind for finding in findings)]
    return "Strength: " + "; ".join(f"{kind.value} ({STRENGTHS[kind]})" for kind in held) + "."


def _alternative(finding: Finding) -> str:
    seen = f"On Base the statement gives {_short(finding.observed)}"
    if finding.kind in (Kind.RETURNS, Kind.NOT_RAISES):
        return f"{seen}; the exception could be meant, and the report mistaken about what the input deserves."
    if finding.kind is Kind.RAISES:
        return f"{seen}; the input could be meant to be accepted."
    return f"{seen}, as reported; that result could be meant, and the report's expectation mistaken."


def _left_out(finding: Finding) -> tuple[str, ...]:
    lines = [_LEFT_OUT[finding.kind]]
    if finding.open_end:
        lines.append(f"Another exception than {finding.exception} is not objected to.")
    return tuple(lines)


def entry_of(step: Step) -> str:
    """What shows the bug: the dotted name before a statement's first bracket, or the command that it runs."""
    if step.command is not None:
        return step.command.text
    code = step.code
    pattern = r"([A-Za-z_][\w.]*)\s*\("
    match = re.search(pattern, code.strip().splitlines()[-1]) or re.search(pattern, code)
    return match.group(1) if match else code


def _short(text: str) -> str:
    squeezed = text.strip()
    return squeezed if len(squeezed) <= _MAX else squeezed[: _MAX - 1] + "…"
