# SPDX-License-Identifier: Apache-2.0
"""Finds the results that a report states and that did not come, and those that it states and that did."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.assertions import wished
from redfirst.agents.strategies.snippet.blame import as_meant, targets_of
from redfirst.agents.strategies.snippet.claims import Claim, How, Role
from redfirst.agents.strategies.snippet.compare import same_output, same_step, states
from redfirst.agents.strategies.snippet.facts import Facts
from redfirst.agents.strategies.snippet.findings import Check, Finding, Kind
from redfirst.agents.strategies.snippet.probe import Seen
from redfirst.agents.strategies.snippet.story import Output, speaks_of


@dataclass(frozen=True, slots=True)
class Stated:
    """A stated result of one step. ``met``: it is what came out, and ``expression`` says so of it."""

    place: int
    claim: Claim
    text: str
    met: bool
    finding: Finding | None = None
    expression: str | None = None


def stated_results(facts: Facts) -> list[Stated]:
    """Every stated expected result that can be tied to one step, with the finding that it gives."""
    found: list[Stated] = []
    for place, remark in enumerate(facts.scene.remarks[: len(facts.seen)]):
        for claim in remark.claims:
            if claim.role is Role.EXPECTED:
                found += _stated(facts, place, claim.value, as_meant(facts, claim), sure=True)
    for claim in (as_meant(facts, claim) for claim in facts.scene.claims):
        if claim.role is Role.EXPECTED and (claim.lasting or not claim.hedged):
            found += _in_prose(facts, claim)
    return [*found, *_expected_outputs(facts)]


def _in_prose(facts: Facts, claim: Claim) -> list[Stated]:
    """All that one claim of a sentence says; nothing where one of its values cannot be confirmed."""
    pairs = targets_of(facts, claim)
    found: list[Stated] = []
    for place, value in pairs:
        if not _agrees(facts, place, claim):
            return []
        sure = len(pairs) == 1 and speaks_of(claim, facts.scene.steps[place])
        found += _stated(facts, place, value, claim, sure=sure)
    return found if len(found) == len(pairs) else []


def _stated(facts: Facts, place: int, text: str, claim: Claim, *, sure: bool) -> list[Stated]:
    seen, step = facts.seen[place], facts.scene.steps[place]
    if facts.contradicted(place):
        facts.doubts.append(f"line {step.line}: the report shows {step.shown!r}, here it is something else")
        return []
    if claim.how is How.LENGTH and seen.value is None and not seen.raised and not claim.lasting:
        return _pieces(facts, place, text, claim)
    if seen.raised or seen.value is None or not seen.value.stable or (claim.hedged and not claim.lasting):
        return []
    if states(claim, seen.value, text):
        facts.doubts.append(f"line {step.line}: the stated result {text} is what happens")
        return [Stated(place, claim, text, met=True, expression=_wish(facts, place, claim, text, sure=True))]
    if claim.lasting:
        return []
    expression = _wish(facts, place, claim, text, sure=sure)
    if expression is None:
        facts.doubts.append(f"line {claim.line}: {text!r} cannot be compared with {seen.value.repr[:80]}")
        return []
    return [_false(facts, place, claim, text, expression, seen.value.repr)]


def _wish(facts: Facts, place: int, claim: Claim, text: str, *, sure: bool) -> str | None:
    seen, tree = facts.seen[place], facts.scene.steps[place].tree
    if seen.value is None:
        return None
    printed = bool(seen.out.strip())
    return wished(claim, text, seen.value, tree, names=facts.names, printed=printed, sure=sure)


def _false(facts: Facts, place: int, claim: Claim, text: str, expression: str, observed: str) -> Stated:
    index = facts.scene.first + place
    wanted = text if claim.how is How.IS else f"a result that {claim.how.value} {text}"
    finding = Finding(Kind.EQUAL, index, observed, wanted, (claim.evidence,), (Check(index, expression),))
    return Stated(place, claim, text, met=False, finding=finding)


def _pieces(facts: Facts, place: int, text: str, claim: Claim) -> list[Stated]:
    """How many pieces a loop shows: the report says how many there are, and that is how often it printed."""
    tree, seen = facts.scene.steps[place].tree, facts.seen[place]
    lines = [line for line in seen.out.splitlines() if line.strip()]
    told = [c for c in facts.scene.claims if c.how is How.LENGTH and c.role is Role.ACTUAL]
    simple = isinstance(tree, ast.For) and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
    if not isinstance(tree, ast.For) or not simple or not lines:
        return []
    if not told or any(int(c.value) != len(lines) for c in told) or int(text) == len(lines):
        facts.doubts.append(f"line {claim.line}: of what there should be {text} is not clear")
        return []
    expression = f"len(list({ast.unparse(tree.iter)})) == {text}"
    return [_false(facts, place, claim, text, expression, f"{len(lines)} pieces")]


def _agrees(facts: Facts, place: int, claim: Claim) -> bool:
    """Whether what the same sentence says of the actual result is what happened."""
    told = [c for c in facts.scene.claims if c.role is Role.ACTUAL and c.evidence == claim.evidence]
    seen = facts.seen[place]
    if not told or seen.value is None or any(_is_so(seen, c) for c in told):
        return True
    facts.doubts.append(
        f"line {claim.line}: the report says {told[0].value!r}, here it is {seen.value.repr[:80]}"
    )
    return False


def _is_so(seen: Seen, claim: Claim) -> bool:
    """Whether an actual result that is told is that of this step."""
    said = states(claim, seen.value) if seen.value else None
    return said is None or said or same_step(seen, claim.value)


# ----------------------------------------------------------------------------------- blocks of output
def _expected_outputs(facts: Facts) -> Iterator[Stated]:
    """From a block that shows what the code should print or give."""
    for output in facts.scene.outputs:
        if output.role is not Role.EXPECTED or output.exception:
            continue
        actual = [o for o in facts.scene.outputs if o.role is not Role.EXPECTED and not o.exception]
        single = [p for p in facts.speaking() if facts.seen[p].value is not None]
        claim = Claim(Role.EXPECTED, output.text, output.line, words_of(output), True)
        if len(single) == 1 and len(facts.speaking()) == 1:
            if not actual or any(same_step(facts.seen[single[0]], o.text) for o in actual):
                yield from _stated(facts, single[0], output.text, claim, sure=bool(actual))
        elif any(same_output(printed_text(facts), o.text) for o in actual):
            for finding in printed(facts, output.text, claim.evidence, wanted=True):
                yield Stated(finding.step - facts.scene.first, claim, output.text, met=False, finding=finding)


def words_of(output: Output) -> str:
    """The sentence that leads to a block, and the block."""
    return f"{output.evidence} {output.text}" if output.evidence != output.text else output.text


def printed_text(facts: Facts) -> str:
    """All that the steps of a scene print."""
    return "".join(seen.out for seen in facts.seen)


def printed(facts: Facts, text: str, evidence: str, *, wanted: bool) -> Iterator[Finding]:
    """A finding about all that the scene prints."""
    out = printed_text(facts)
    if any(seen.raised for seen in facts.seen) or wanted == same_output(out, text):
        return
    printing = [place for place, seen in enumerate(facts.seen) if seen.out]
    first, last = facts.scene.first + printing[0], facts.scene.first + printing[-1]
    normal = "\n".join(line.rstrip() for line in text.strip().splitlines())
    expression = f"_ {'==' if wanted else '!='} {normal!r}"
    kind = Kind.EQUAL if wanted else Kind.NOT_VALUE
    expected = text if wanted else f"something else than {out.strip()!r}"
    checks = (Check(last, expression),)
    yield Finding(kind, last, out, expected, (evidence,), checks, printed=True, since=first)
