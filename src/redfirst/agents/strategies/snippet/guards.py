# SPDX-License-Identifier: Apache-2.0
"""Finds what a report calls right and what holds on Base: it must still hold when the bug is gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redfirst.agents.strategies.snippet.assertions import equality
from redfirst.agents.strategies.snippet.blame import picked_out
from redfirst.agents.strategies.snippet.claims import Mark, Role
from redfirst.agents.strategies.snippet.compare import same_step
from redfirst.agents.strategies.snippet.exceptions import exceptions_kept
from redfirst.agents.strategies.snippet.facts import Facts
from redfirst.agents.strategies.snippet.findings import Check, Finding, Kind
from redfirst.agents.strategies.snippet.probe import Value
from redfirst.agents.strategies.snippet.results import Stated
from redfirst.agents.strategies.snippet.story import Story

_Reason = tuple[
    int, tuple[str, str | None]
]  # a place, the words, and what holds of its result if they say so


def guards_of(facts: Facts, stated: Sequence[Stated], findings: Sequence[Finding]) -> Iterator[Finding]:
    """Guards of one scene: steps marked as good, stated results that came, and what an ordinal leaves out."""
    blamed = {check.step for finding in findings for check in finding.checks} | {f.step for f in findings}
    reasons = dict([*_left_out(facts), *_met(stated), *_marked(facts)])
    for place, (evidence, expression) in sorted(reasons.items()):
        known = facts.contradicted(place) or facts.of_release(place)
        if facts.scene.first + place not in blamed and not known:
            yield from _guard(facts, place, evidence, expression, findings)


def guards_in(
    facts: Facts, story: Story, stated: Sequence[Stated], findings: Sequence[Finding]
) -> list[Finding]:
    """All guards of one scene, those about exceptions included; none about a step that has a finding."""
    blamed = {finding.step for finding in findings}
    return [
        *guards_of(facts, stated, findings),
        *(f for f in exceptions_kept(facts, story) if f.step not in blamed),
    ]


def _marked(facts: Facts) -> Iterator[_Reason]:
    for place, remark in enumerate(facts.scene.remarks[: len(facts.seen)]):
        if remark.mark is Mark.GOOD:
            step = facts.scene.steps[place]
            yield place, (step.comment or step.code, None)


def _met(stated: Sequence[Stated]) -> Iterator[_Reason]:
    for one in stated:
        if one.met and one.expression and not one.claim.versioned:
            yield one.place, (one.claim.evidence, one.expression)


def _left_out(facts: Facts) -> Iterator[_Reason]:
    for claim in facts.scene.claims:
        if claim.role is not Role.EXPECTED or claim.hedged:
            continue
        for place in picked_out(facts, claim):
            shown = facts.scene.steps[place].shown
            if shown is not None and same_step(facts.seen[place], shown):
                yield place, (claim.evidence, None)


def _guard(
    facts: Facts, place: int, evidence: str, stated: str | None, findings: Sequence[Finding]
) -> Iterator[Finding]:
    """The guard of one step: its result, or else that it goes on without the exception that others raise."""
    seen, index = facts.seen[place], facts.scene.first + place
    if seen.raised is not None:
        return
    expression = stated or (
        kept(seen.value, facts.names, printed=bool(seen.out.strip())) if seen.value else None
    )
    if seen.value and expression:
        checks = (Check(index, expression),)
        yield Finding(Kind.EQUAL, index, seen.value.repr, seen.value.repr, (evidence,), checks)
        return
    unwanted = {finding.exception for finding in findings if finding.kind in (Kind.RETURNS, Kind.NOT_RAISES)}
    if len(unwanted) == 1:
        name = unwanted.pop()
        yield Finding(Kind.NOT_RAISES, index, "no exception", f"no {name}", (evidence,), exception=name)


def kept(value: Value, names: frozenset[str], *, printed: bool) -> str | None:
    """An expression over ``_`` for "the result stays as it is"; None where it has no literal to compare with."""
    if not value.stable or not value.literal or value.type == "builtins.NoneType" or len(value.repr) > 300:
        return None
    return equality(value.repr, value, names=names, printed=printed, sure=True)
