# SPDX-License-Identifier: Apache-2.0
"""Settles which statement a stated result is about; where two could be meant, none is."""

from __future__ import annotations

import re
from dataclasses import replace

from redfirst.agents.strategies.snippet.claims import Claim, How, Mark
from redfirst.agents.strategies.snippet.compare import likeness, literal_type, shared_words, states
from redfirst.agents.strategies.snippet.facts import Facts
from redfirst.agents.strategies.snippet.probe import Seen
from redfirst.agents.strategies.snippet.quantified import Quantity, chosen, quantity_of
from redfirst.agents.strategies.snippet.story import fits, speaks_of
from redfirst.agents.strategies.snippet.wishes import NUMBER_WORDS

_ORDER = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "last": -1}
_ORDINAL = re.compile(
    rf"\b(?:the|my|this) (?:very )?({'|'.join(_ORDER)})\b"
    r"(?! (?:element|item|entry|row|key|character|char|column|argument|parameter|line|part|word|digit|letter|byte|"
    r"field|release|version|time|group|page|level|half|option|name|two|three|four|five|six|few)\b)",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    rf"\b(first|last|other|remaining) ({'|'.join(NUMBER_WORDS)}|\d)\b(?! (?:element|item|character|line|digit)s?)",
    re.IGNORECASE,
)
_EVERYWHERE = re.compile(r"\b(?:in (?:all|both|each|every)|(?:all|both|each) of (?:them|these)|everywhere)\b")


def as_meant(facts: Facts, claim: Claim) -> Claim:
    """A claim that names a key where every result is a mapping: it is about the key, not about the whole."""
    if claim.how is not How.IS or not re.fullmatch(r"['\"]?[A-Za-z_][\w-]*['\"]?", claim.value):
        return claim
    values = [value for place in facts.results() if (value := facts.seen[place].value)]
    mappings = values and all(value.type == "builtins.dict" and value.literal for value in values)
    return replace(claim, how=How.CONTAINS) if mappings else claim


def targets_of(facts: Facts, claim: Claim) -> list[tuple[int, str]]:
    """Places of the steps that a claim is about, each with the value that is stated for it; empty where unclear."""
    values = claim.listed if claim.how is How.IS else (claim.value,)
    if len(values) > 1:
        return _in_order(facts, claim, values)
    if _EVERYWHERE.search(claim.after) and claim.how is not How.IS:
        return [(place, claim.value) for place in facts.speaking() if facts.seen[place].value is not None]
    quantity = quantity_of(claim)
    if quantity is not None:
        return _all_of(facts, claim, quantity)
    target = _target(facts, claim)
    return [] if target is None else [(target, claim.value)]


def _all_of(facts: Facts, claim: Claim, quantity: Quantity) -> list[tuple[int, str]]:
    """``all four of these should be 0``: the value for each result that is another."""
    results = [place for place in facts.results() if facts.scene.remarks[place].mark is not Mark.GOOD]
    differing = [place for place in results if not _is(facts.seen[place], claim)]
    places = chosen(quantity, results, differing)
    shown = all(facts.seen[place].value is not None for place in places)
    if not places or not shown or not fits(claim, facts.scene.code, _outputs(facts)):
        facts.doubts.append(f"line {claim.line}: which results should all be {claim.value} is not clear")
        return []
    return [(place, claim.value) for place in places]


def picked_out(facts: Facts, claim: Claim) -> list[int]:
    """Where a claim picks some results by their place, such as "the last two": the other shown results."""
    word = _COUNTED.search(claim.before)
    if not word or len(claim.listed) < 2:
        return []
    chosen = {place for place, _ in targets_of(facts, claim)}
    return [place for place in facts.results() if chosen and place not in chosen]


def _in_order(facts: Facts, claim: Claim, values: tuple[str, ...]) -> list[tuple[int, str]]:
    """``the last three should be 1, 2 and 3``: one value for each of as many results."""
    word = _COUNTED.search(claim.before)
    places = facts.results() if word else facts.speaking()
    count = _number(word.group(2)) if word else len(values)
    marked = [place for place in places if facts.scene.remarks[place].mark is Mark.BAD]
    if not word and len(places) != count and len(marked) == count:
        places = marked
    settled = count == len(values) and (len(places) == count or (word and len(places) > count))
    if not settled or not fits(claim, facts.scene.code, _outputs(facts)):
        facts.doubts.append(f"line {claim.line}: which results should be {', '.join(values)} is not clear")
        return []
    chosen = places[:count] if word and word.group(1).lower() == "first" else places[-count:]
    return list(zip(chosen, values, strict=True))


def _number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBER_WORDS[word.lower()]


def _outputs(facts: Facts) -> str:
    scene = facts.scene
    return " ".join(step.shown or "" for step in scene.steps) + " ".join(o.text for o in scene.outputs)


def _target(facts: Facts, claim: Claim) -> int | None:
    """The step that a claim in prose is about, or None where it could be another."""
    scene = facts.scene
    named = [place for place in range(len(facts.seen)) if speaks_of(claim, scene.steps[place])]
    if named:
        return named[-1]
    if not fits(claim, scene.code, _outputs(facts)):
        facts.doubts.append(
            f"line {claim.line}: {claim.value!r} seems to be about other code than the snippet"
        )
        return None
    placed = ordinal(claim)
    if placed is not None and len(facts.results()) > 1:
        return by_order(facts, placed)
    speaking = [p for p in facts.speaking() if _can_show(facts.seen[p], claim)]
    differing = [p for p in speaking if not _is(facts.seen[p], claim)]
    marked = [p for p in differing if scene.remarks[p].mark is Mark.BAD]
    if len(marked) == 1:
        return marked[0]
    if len(differing) < 2:
        return differing[0] if differing else None
    target = _nearest(facts, differing, claim)
    if target is None:
        facts.doubts.append(f"line {claim.line}: which statement should give {claim.value!r} is not clear")
    return target if target in differing else None


def ordinal(claim: Claim) -> int | None:
    """The place that a sentence gives to what its claim is about: 0 for the first, -1 for the last; None for none.

    What stands right behind the value counts before what stands ahead of it.
    """
    ahead = re.split(r"`[^`]*`|\band\b|,", claim.before)[-1] if claim.scope else claim.before
    for words in (claim.scope, ahead, "" if claim.scope else claim.after):
        found = {_ORDER[word.lower()] for word in _ORDINAL.findall(words)}
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def by_order(facts: Facts, place: int) -> int | None:
    """The step at a place among all that gives a result."""
    results = facts.results()
    return results[place] if place < len(results) and results else None


def _nearest(facts: Facts, places: list[int], claim: Claim) -> int | None:
    """The step whose result is clearly the nearest to what is stated, its kind of value included."""
    text = claim.value
    if claim.how is not How.IS:
        return None
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


def _can_show(seen: Seen, claim: Claim) -> bool:
    """Whether a claim could be about what a step did: a value, an exception, or the pieces that a loop prints."""
    return bool(seen.value is not None or seen.raised or (claim.how is How.LENGTH and seen.out.strip()))


def _is(seen: Seen, claim: Claim) -> bool:
    return seen.value is not None and states(claim, seen.value) is True
