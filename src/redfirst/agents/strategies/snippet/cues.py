# SPDX-License-Identifier: Apache-2.0
"""The turns of phrase that announce a result: whether it is wanted or complained of, and in which way it is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from redfirst.agents.strategies.snippet.wishes import How


class Role(StrEnum):
    """What a stated value is in the eyes of the reporter."""

    EXPECTED = "expected"
    ACTUAL = "actual"
    UNWANTED = "unwanted"
    EXPECTED_RAISE = "expected raise"
    ACTUAL_RAISE = "actual raise"
    SHOWN = "shown"  # a bare result beside the code: nobody says whether it is good


@dataclass(frozen=True, slots=True)
class Cue:
    """A phrase found in a sentence. ``role`` is None for "instead of": it depends on what stands before."""

    role: Role | None
    how: How
    start: int
    end: int


ADVERBS = (
    r"(?:also|still|just|instead|rather|really|then|simply|clearly|always|both|all|now|only|actually|in fact|"
    r"indeed|probably|therefore|surely|of course|be able to)"
)
_GIVE = (
    r"(?:be(?:en)?(?: equal to)?|return(?:ed)?|give(?:n)?|print(?:ed)?|output|yield(?:ed)?|produce[d]?|equal|"
    r"evaluate[d]? to|result(?:ed)? in|read|become|show|say|raise[d]?|throw|fail with|end in|render(?: as)?|"
    r"turn into|end up as|come (?:out|back) as|stay|remain)"
)
_HOLD = r"(?:contain|include|list|mention|hold|carry)"
_NOUN = r"(?:output|result|value|behaviou?r|outcome|answer|return value|results)"
_SHALL = r"(?:should|must|ought to|supposed to|has to|have to|needs? to)"
_VERSION = r"\b(?:v|version )?\d+\.\d+(?:\.\w+)*"
_GAVE = r"(?:gave|returned|printed|produced|yielded|showed|raised|output)"
_TABLE: tuple[tuple[Role, How, str], ...] = (
    (Role.EXPECTED, How.LACKS, rf"\b(?:should|must|ought)(?:n't| not)(?: to)? (?:{ADVERBS} )*{_HOLD}\b"),
    (Role.EXPECTED, How.CONTAINS, rf"\b{_SHALL} (?:{ADVERBS} )*{_HOLD}\b"),
    (
        Role.UNWANTED,
        How.IS,
        rf"\b(?:should|must|ought)(?:n't| not)(?: to)? (?:{ADVERBS} )*(?:have )?{_GIVE}\b",
    ),
    (Role.UNWANTED, How.IS, r"\b(?:did(?:n't| not)|would(?:n't| not)|never) expect\b"),
    (Role.EXPECTED, How.IS, rf"\b{_SHALL} (?:{ADVERBS} )*(?:have )?(?:{ADVERBS} )*{_GIVE}\b"),
    (Role.EXPECTED, How.IS, rf"\bshould (?:{ADVERBS} )*have (?=\w+ \w+s\b|\d+ )"),
    (Role.EXPECTED, How.IS, rf"\bwould (?:{ADVERBS} )*(?:have )?(?:{ADVERBS} )*expect(?:ed)?\b"),
    (Role.EXPECTED, How.IS, rf"(?<!un)(?<!as )\bexpect(?:ed|ing|s)?\b(?: {_NOUN})?"),
    (Role.EXPECTED, How.IS, rf"\b(?:correct|right|proper) {_NOUN} (?:is|was|would be|should be)\b"),
    (Role.EXPECTED, How.IS, rf"\bused to {_GIVE}\b"),
    (Role.EXPECTED, How.IS, rf"{_VERSION} (?:{ADVERBS} )*(?:correctly |rightly )?{_GAVE}\b"),
    (
        Role.EXPECTED,
        How.IS,
        rf"\b(?:in|with|before|until|under|on) {_VERSION},? (?:this|it|that|we|I) {_GAVE}\b",
    ),
    (Role.EXPECTED, How.IS, r"\b(?:in|with|before|until|under|on) [\d.]+,? (?:this|it|that) was\b"),
    (Role.ACTUAL, How.IS, rf"\bactual(?:ly)?\b(?: {_NOUN})?"),
    (Role.ACTUAL, How.IS, rf"\b(?:I|we|you) (?:{ADVERBS} )*(?:get|got|see|saw|am getting|end up with)\b"),
    (
        Role.ACTUAL,
        How.IS,
        rf"\b(?:but|and|it|this|that|which|call|result) (?:{ADVERBS} )*(?:got|is|was|gets?)\b",
    ),
    (
        Role.ACTUAL,
        How.IS,
        r"\b(?:got|returns?|returned|gives?|gave|prints?|printed|yields?|yielded|outputs|produces?|produced|shows?|"
        r"results in|evaluates to|becomes|has become|turns (?:\S+ )?into|ends up as|comes (?:out|back) as|raises?|"
        r"raised|throws?|threw|(?:rejected|refused|rejects|refuses|complains?|complained)\b[^`.;]{0,40}\bwith|"
        r"(?:fails?|failed|crash(?:es|ed)?|dies|died|breaks?|blows up|errors?(?: out)?|aborts|ends|ends up) "
        r"(?:with|in))",
    ),
)
_CUES = tuple((role, how, re.compile(pattern, re.IGNORECASE)) for role, how, pattern in _TABLE)
_INSTEAD = re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE)


def cues_in(masked: str) -> Iterator[Cue]:
    """All cues of a sentence by position; of two that overlap the more telling one."""
    found: list[Cue] = []
    for role, how, pattern in _CUES:
        for match in pattern.finditer(masked):
            if not any(cue.start <= match.start() < cue.end for cue in found):
                found.append(Cue(role, how, match.start(), match.end()))
    found += [Cue(None, How.IS, match.start(), match.end()) for match in _INSTEAD.finditer(masked)]
    yield from sorted(found, key=lambda cue: (cue.start, cue.end))
