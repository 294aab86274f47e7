# SPDX-License-Identifier: Apache-2.0
"""Reads how many results a sentence speaks of at once, and whether it calls a whole block right."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.claims import Claim, Mark, Remark
from redfirst.agents.strategies.snippet.steps import Step
from redfirst.agents.strategies.snippet.wishes import NUMBER_WORDS

_NUMBER = rf"(?P<number>{'|'.join(NUMBER_WORDS)}|\d+)"
_THINGS = (
    r"(?:these|those|them|which|the(?:se|m)? (?:above |last )?(?:calls|results|lines|cases|values|outputs))"
)
_ALL = (
    re.compile(
        rf"(?:^|[,;:(]\s*|\b(?:and|but|so|that|think|expect)\s+)(?P<word>all|both|each|every one)"
        rf"(?: (?:the )?{_NUMBER})?(?: of {_THINGS})?(?: (?:calls|results|lines|cases|values|outputs))?\s*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:^|[,;:(]\s*)(?:they|these|those|the {_NUMBER}|{_THINGS})(?: {_NUMBER.replace('number', 'more')})?\s+$",
        re.IGNORECASE,
    ),
)
_FOR_ALL = re.compile(
    rf"^`?,?\s*(?:for|in) (?P<word>all|both|each)(?: (?:the )?{_NUMBER})?(?: of {_THINGS})?"
    r"(?: (?:calls|results|lines|cases|values|outputs))?\s*(?:[.!;,)]|$)",
    re.IGNORECASE,
)
_FINE_SO_FAR = re.compile(
    r"^(?:so far,? so good|"
    r"(?:(?:and |up to here |so far )?(?:that|this|which|it|these|those|all|everything|all of (?:that|this|these|it))"
    r"(?:'s| is| are| was| were)? )?(?:still |all |quite |perfectly )?"
    r"(?:as (?:expected|it should be)|fine|right|correct|good|ok(?:ay)?|well|works?(?: fine| well| as expected)?)"
    r"(?: so far| of course)?)\s*(?:[.!,:;]|$)",
    re.IGNORECASE,
)
_WORKS_BELOW = re.compile(
    r"\b(?:works?(?: fine| well| correctly| as expected)?|(?:is|are)(?:n't| not) affected|(?:is|are) unaffected|"
    r"(?:is|are) (?:still )?(?:fine|right|correct|ok(?:ay)?|as expected|good)|"
    r"(?:must|should|has to|have to) (?:of course )?(?:stay|remain|be left)|"
    r"(?:I|we)(?:'d| would)? (?:like to )?keep (?:it|them|this|these))\b",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    r"\b(?:not|no|n't|never|only|except|but|however|first|second|third|last|(?:this|that|which) one|"
    r"one of|should|would|until|if|once|how|why|what|whether|longer|wrong|but)\b|n't\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A claim about several results. ``number``: how many, None for all there are."""

    number: int | None


def quantity_of(claim: Claim) -> Quantity | None:
    """How many results a claim is about where its sentence says so: ``all four of these should be 0``."""
    said = claim.evidence[len(claim.before) :].partition(claim.value)[0]
    doubled = re.search(r"\b(?P<word>all|both|each)\b", said, re.IGNORECASE)
    match = _ALL[0].search(claim.before) or _FOR_ALL.match(claim.after)
    if match is None and doubled:
        match = _ALL[1].search(claim.before)
    if match is None:
        return None
    groups = match.groupdict()
    word = (groups.get("word") or (doubled.group("word") if doubled else "")).lower()
    number = groups.get("number") or groups.get("more")
    if number:
        return Quantity(int(number) if number.isdigit() else NUMBER_WORDS[number.lower()])
    return Quantity(2 if word == "both" else None)


def chosen(quantity: Quantity, results: Sequence[int], differing: Sequence[int]) -> list[int]:
    """The places that a quantity picks: all that differ from what is stated; empty where the number does not fit."""
    fits = quantity.number is None or quantity.number in (len(differing), len(results))
    return list(differing) if fits and len(results) > 1 else []


def calls_block_right(sentence: str) -> bool:
    """Whether a sentence behind a block says of all in it that it is as it should be."""
    return bool(_FINE_SO_FAR.match(sentence)) and not _LIMITED.search(sentence)


def announces_right(sentence: str) -> bool:
    """Whether a sentence that leads to a block says that what comes there works."""
    bare = re.sub(r"\s*\([^()]*\)", "", sentence).rstrip()
    rest = re.sub(r",? also not (?:if|when|with|for|in) [^,:;]*", "", _WORKS_BELOW.sub("", bare))
    return rest != bare and bare.endswith(":") and not _LIMITED.search(rest)


def all_right(steps: Sequence[Step], remarks: Sequence[Remark]) -> tuple[Remark, ...]:
    """The remarks of a block's statements, where the prose says that all that it shows is right."""
    return tuple(
        replace(remark, mark=Mark.GOOD)
        if remark.mark is Mark.NONE and isinstance(step.tree, ast.Expr)
        else remark
        for step, remark in zip(steps, remarks, strict=True)
    )
