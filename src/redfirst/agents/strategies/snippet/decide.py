# SPDX-License-Identifier: Apache-2.0
"""Compares what happened with what the report says, and keeps only what both agree on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from redfirst.agents.strategies.snippet.assertions import equality, inequality
from redfirst.agents.strategies.snippet.claims import Claim, Mark, Role
from redfirst.agents.strategies.snippet.compare import (
    likeness,
    literal_type,
    same_output,
    same_step,
    same_value,
    shared_words,
)
from redfirst.agents.strategies.snippet.exceptions import decide_exceptions, reported
from redfirst.agents.strategies.snippet.facts import Facts
from redfirst.agents.strategies.snippet.findings import Check, Decision, Finding, Kind
from redfirst.agents.strategies.snippet.probe import Observed, Seen
from redfirst.agents.strategies.snippet.steps import bound_names, is_example
from redfirst.agents.strategies.snippet.story import Output, Story, fits, speaks_of, subject_of

_COMPLAINT = re.compile(
    r"\b(?:wrong|incorrect|bug|but|should|unexpected|broken|instead|surpris|expect|lost|missing|ignored?|garbled|mangled|"
    r"disappear|different|differs?|fails?|regression|used to|no longer|not right|odd|strange|weird)",
    re.IGNORECASE,
)
_NUMBER_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "both": 2}


def decide(story: Story, observed: Observed) -> Decision:
    """Every property that the report asks for and that did not hold on Base, strongest first."""
    findings: list[Finding] = []
    doubts: list[str] = []
    names = frozenset(bound_names(step.tree for step in story.steps))
    text = " ".join(sentence.text for sentence in story.report.sentences)
    told = " ".join(s.text for s in story.report.sentences if not s.text.rstrip().endswith("?"))
    single = len(story.scenes) == 1
    for scene in story.scenes:
        seen = observed.steps[scene.first : scene.first + len(scene.steps)]
        if not seen:
            continue
        facts = Facts(scene, seen, names, text, told)
        findings += _asserting(facts)
        equalities = list(_equalities(facts))
        disputed = _disputed(equalities)
        findings += [f for f in equalities if not disputed & {check.step for check in f.checks}]
        findings += decide_exceptions(facts, story)
        findings += [f for f in _wrong_values(facts, single) if f.step not in disputed]
        if disputed:
            facts.doubts.append(
                "the report states different results for one statement: which counts is not clear"
            )
        findings = [f for f in findings if f.step < _derailed(facts, story) or f.step < scene.first]
        doubts += facts.doubts
    unique = {(f.kind, f.step, f.checks, f.exception): f for f in reversed(findings)}
    return Decision(
        tuple(sorted(unique.values(), key=lambda f: (f.kind, f.step))), tuple(dict.fromkeys(doubts))
    )


# ------------------------------------------------------------------------------------- stated results
def _equalities(facts: Facts) -> Iterator[Finding]:
    """Findings from every stated expected result that can be tied to one step."""
    for place, remark in enumerate(facts.scene.remarks[: len(facts.seen)]):
        for claim in remark.claims:
            if claim.role is Role.EXPECTED:
                yield from _equal(facts, place, claim.value, claim, sure=True)
    for claim in facts.scene.claims:
        if claim.role is not Role.EXPECTED or claim.hedged:
            continue
        if len(claim.listed) > 1:
            yield from _enumerated(facts, claim)
            continue
        target = target_of(facts, claim)
        if target is not None and _agrees(facts, target, claim):
            sure = speaks_of(claim, facts.scene.steps[target])
            yield from _equal(facts, target, claim.value, claim, sure=sure)
    yield from _expected_outputs(facts)


def _derailed(facts: Facts, story: Story) -> int:
    """The first step after which the code is no longer where the report has it: one raised what nobody reports."""
    for place, seen in enumerate(facts.seen):
        own = isinstance(facts.scene.steps[place].tree, ast.Assert)
        if seen.raised and not own and not reported(facts, story, place):
            return facts.scene.first + place + 1
    return len(story.steps) + 1


def _disputed(findings: list[Finding]) -> set[int]:
    """Steps for which the report states different results."""
    wanted: dict[int, set[str]] = {}
    for check in (check for finding in findings for check in finding.checks):
        wanted.setdefault(check.step, set()).add(check.expression)
    return {step for step, expressions in wanted.items() if len(expressions) > 1}


def _equal(facts: Facts, place: int, text: str, claim: Claim, *, sure: bool) -> Iterator[Finding]:
    seen, step = facts.seen[place], facts.scene.steps[place]
    if facts.contradicted(place):
        facts.doubts.append(f"line {step.line}: the report shows {step.shown!r}, here it is something else")
        return
    if seen.raised or seen.value is None or not seen.value.stable or claim.hedged:
        return
    if same_value(seen.value, text):
        facts.doubts.append(f"line {step.line}: the stated result {text} is what happens")
        return
    printed = bool(seen.out.strip())
    expression = equality(text, seen.value, names=facts.names, printed=printed, sure=sure)
    if expression is None:
        facts.doubts.append(f"line {claim.line}: {text!r} cannot be compared with {seen.value.repr[:80]}")
        return
    index = facts.scene.first + place
    yield Finding(Kind.EQUAL, index, seen.value.repr, text, (claim.evidence,), (Check(index, expression),))


def _enumerated(facts: Facts, claim: Claim) -> Iterator[Finding]:
    """``the last three should be 1, 2 and 3``: one finding with a check for each."""
    values = claim.listed
    speaking = facts.speaking()
    word = re.search(r"\blast (\w+)", claim.before, re.IGNORECASE)
    count = _NUMBER_WORDS.get(word.group(1).lower(), 0) if word else len(values)
    if count != len(values) or len(speaking) < count or (not word and len(speaking) != count):
        facts.doubts.append(f"line {claim.line}: which results should be {', '.join(values)} is not clear")
        return
    checks: list[Check] = []
    shown: list[str] = []
    for place, value in zip(speaking[-count:], values, strict=True):
        for finding in _equal(facts, place, value, claim, sure=False):
            checks += finding.checks
            shown.append(finding.observed)
    if len(checks) == count:
        yield Finding(
            Kind.EQUAL, checks[-1].step, ", ".join(shown), ", ".join(values), (claim.evidence,), tuple(checks)
        )


def target_of(facts: Facts, claim: Claim) -> int | None:
    """The step that a claim in prose is about, or None where it could be another."""
    scene = facts.scene
    named = [place for place in range(len(facts.seen)) if speaks_of(claim, scene.steps[place])]
    if named:
        return named[-1]
    outputs = " ".join(step.shown or "" for step in scene.steps) + " ".join(o.text for o in scene.outputs)
    if not fits(claim, scene.code, outputs):
        facts.doubts.append(
            f"line {claim.line}: {claim.value!r} seems to be about other code than the snippet"
        )
        return None
    speaking = [p for p in facts.speaking() if facts.seen[p].value is not None or facts.seen[p].raised]
    differing = [p for p in speaking if not _is(facts.seen[p], claim.value)]
    marked = [p for p in differing if scene.remarks[p].mark is Mark.BAD]
    if len(marked) == 1:
        return marked[0]
    if len(differing) < 2:
        return differing[0] if differing else None
    target = _by_order(claim, speaking) or _nearest(facts, differing, claim.value)
    if target is None:
        facts.doubts.append(f"line {claim.line}: which statement should give {claim.value!r} is not clear")
    return target if target in differing else None


def _by_order(claim: Claim, speaking: list[int]) -> int | None:
    """The step that a sentence names by its place: the first, the second, the last."""
    order = {"first": 0, "second": 1, "third": 2, "last": -1}
    found = re.findall(r"\bthe (first|second|third|last)\b", claim.before + claim.after, re.IGNORECASE)
    places = {order[word.lower()] for word in found}
    if len(places) != 1:
        return None
    place = places.pop()
    return speaking[place] if place < len(speaking) else None


def _nearest(facts: Facts, places: list[int], text: str) -> int | None:
    """The step whose result is clearly the nearest to what is stated, its kind of value included."""
    kind = literal_type(text)
    values = [(place, value) for place in places if (value := facts.seen[place].value)]
    if kind is not None and not any(facts.seen[place].raised for place in places):
        same = [
            (place, value) for place, value in values if value.literal and literal_type(value.repr) is kind
        ]
        values = same or values
        if len(same) == 1:
            return same[0][0]
    if any(facts.seen[place].raised for place in places):
        return None
    shown = [(value.text or value.repr, place) for place, value in values]
    scored = sorted(
        ((likeness(text, real) + shared_words(text, real), real, place) for real, place in shown),
        reverse=True,
    )
    clear = len(scored) > 1 and likeness(text, scored[0][1]) >= 0.6 and scored[0][0] - scored[1][0] >= 0.1
    return scored[0][2] if clear else None


def _is(seen: Seen, text: str) -> bool:
    return seen.value is not None and same_value(seen.value, text)


def _agrees(facts: Facts, place: int, claim: Claim) -> bool:
    """Whether what the same sentence says of the actual result is what happened."""
    told = [c for c in facts.scene.claims if c.role is Role.ACTUAL and c.evidence == claim.evidence]
    seen = facts.seen[place]
    if not told or seen.value is None or any(same_step(seen, c.value) for c in told):
        return True
    facts.doubts.append(
        f"line {claim.line}: the report says {told[0].value!r}, here it is {seen.value.repr[:80]}"
    )
    return False


def _expected_outputs(facts: Facts) -> Iterator[Finding]:
    """Findings from a block that shows what the code should print or give."""
    for output in facts.scene.outputs:
        if output.role is not Role.EXPECTED or output.exception:
            continue
        actual = [o for o in facts.scene.outputs if o.role is not Role.EXPECTED and not o.exception]
        single = [p for p in facts.speaking() if facts.seen[p].value is not None]
        claim = Claim(Role.EXPECTED, output.text, output.line, _words(output), True)
        if len(single) == 1 and len(facts.speaking()) == 1:
            if not actual or any(same_step(facts.seen[single[0]], o.text) for o in actual):
                yield from _equal(facts, single[0], output.text, claim, sure=bool(actual))
        elif any(same_output(printed_text(facts), o.text) for o in actual):
            yield from _printed(facts, output.text, claim.evidence, wanted=True)


def _words(output: Output) -> str:
    return f"{output.evidence} {output.text}" if output.evidence != output.text else output.text


def printed_text(facts: Facts) -> str:
    """All that the steps of a scene print."""
    return "".join(seen.out for seen in facts.seen)


def _printed(facts: Facts, text: str, evidence: str, *, wanted: bool) -> Iterator[Finding]:
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


# ------------------------------------------------------------------------------------ the report's asserts
def _asserting(facts: Facts) -> Iterator[Finding]:
    """Assertions of the report itself that fail on Base."""
    for place, seen in enumerate(facts.seen):
        step = facts.scene.steps[place]
        if is_example(step.tree) and seen.raised is None:
            index = facts.scene.first + place
            evidence = step.code.strip()[:600]
            yield Finding(
                Kind.ASSERTS,
                index,
                "a failing assertion",
                "the report's own test passes",
                (evidence,),
                example=True,
            )
        own = seen.raised and seen.raised.name == "AssertionError" and len(seen.raised.files) <= 1
        if own and isinstance(step.tree, ast.Assert) and facts.scene.remarks[place].mark is not Mark.GOOD:
            index = facts.scene.first + place
            condition = ast.unparse(step.tree.test)
            yield Finding(Kind.ASSERTS, index, "AssertionError", condition, (step.code.strip(),))


# ----------------------------------------------------------------------------------------- wrong values
def _wrong_values(facts: Facts, single: bool) -> Iterator[Finding]:
    """The weakest finding: a result that the report shows and complains of, as it came out here."""
    speaking = facts.speaking()
    fine = [claim for claim in facts.scene.claims if claim.role is Role.EXPECTED]
    unwanted = [claim for claim in facts.scene.claims if claim.role is Role.UNWANTED and not claim.hedged]
    for place in speaking:
        seen, remark, step = facts.seen[place], facts.scene.remarks[place], facts.scene.steps[place]
        told = _told_value(facts, place)
        denied = next((c for c in unwanted if _is(seen, c.value) and fits(c, facts.scene.code, "")), None)
        if any(_is(seen, claim.value) for claim in (*fine, *remark.claims) if claim.role is Role.EXPECTED):
            continue
        alone = single and len(speaking) == 1 and bool(_COMPLAINT.search(facts.told))
        if seen.value is None or not (denied or (told and (alone or remark.mark is Mark.BAD))):
            continue
        expression = inequality(seen.value)
        if expression:
            index = facts.scene.first + place
            evidence = denied.evidence if denied else told or step.code
            expected = f"something else than {seen.value.repr[:200]}"
            checks = (Check(index, expression),)
            yield Finding(Kind.NOT_VALUE, index, seen.value.repr, expected, (evidence,), checks)
    blocks = [o for o in facts.scene.outputs if o.role is not Role.EXPECTED and not o.exception]
    complained = single and len(blocks) == 1 and _COMPLAINT.search(facts.told)
    if complained and not _is_one_value(facts, speaking) and same_output(printed_text(facts), blocks[0].text):
        yield from _printed(facts, blocks[0].text, _words(blocks[0]), wanted=False)


def _is_one_value(facts: Facts, speaking: list[int]) -> bool:
    return len(speaking) == 1 and facts.seen[speaking[0]].value is not None


def _told_value(facts: Facts, place: int) -> str | None:
    """The words in which the report shows the result that this step gave, or None."""
    step, seen = facts.scene.steps[place], facts.seen[place]
    if step.shown is not None and same_step(seen, step.shown):
        return f"{step.code.strip()} → {step.shown}"
    claims = (*facts.scene.remarks[place].claims, *facts.scene.claims)
    for claim in claims:
        if claim.role in (Role.ACTUAL, Role.SHOWN) and same_step(seen, claim.value):
            about = subject_of(claim)
            if claim in facts.scene.remarks[place].claims or not about or speaks_of(claim, step):
                return claim.evidence
    for output in facts.scene.outputs:
        if output.role is not Role.EXPECTED and same_step(seen, output.text):
            return _words(output)
    return None
