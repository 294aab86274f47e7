# SPDX-License-Identifier: Apache-2.0
"""Reads what a sentence or a comment states: values and exceptions, and whether they are wanted or complained of."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum


class Role(StrEnum):
    """What a stated value is in the eyes of the reporter."""

    EXPECTED = "expected"
    ACTUAL = "actual"
    UNWANTED = "unwanted"
    EXPECTED_RAISE = "expected raise"
    ACTUAL_RAISE = "actual raise"
    SHOWN = "shown"  # a bare result beside the code: nobody says whether it is good


class Mark(StrEnum):
    """A bare judgement beside a statement."""

    NONE = ""
    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Claim:
    """One stated value. ``value`` as written, without its backticks; ``code``: it stood in backticks.

    ``evidence``: the sentence; ``before``/``after``: what it says around the value; ``hedged``: it is not sure.
    ``message``: of an exception, '' if none is stated.
    """

    role: Role
    value: str
    line: int
    evidence: str
    code: bool = False
    before: str = ""
    after: str = ""
    hedged: bool = False
    message: str = ""

    @property
    def listed(self) -> tuple[str, ...]:
        """This value and those that follow it in an enumeration: ``1, 2 and 3``."""
        values, rest = [self.value], self.after
        while match := re.match(r"\s*(?:,\s*and\b|,|and\b)\s*", rest):
            rest = rest[match.end() :]
            span = _SPAN.match(rest)
            literal = span.group(2).strip() if span else leading_literal(rest)
            if not literal:
                break
            values.append(literal)
            rest = rest[span.end() if span else len(literal) :]
        return tuple(values)


_MAX_SENTENCE = 1_500
_MAX_LITERAL = 300
_MAX_CLAIMS = 8
_ADVERBS = (
    r"(?:also|still|just|instead|rather|really|then|simply|clearly|always|both|all|now|only|actually|in fact|"
    r"indeed)"
)
_GIVE = (
    r"(?:be(?:en)?(?: equal to)?|return(?:ed)?|give(?:n)?|print(?:ed)?|output|yield(?:ed)?|produce[d]?|equal|"
    r"evaluate[d]? to|result(?:ed)? in|read|become|show|say|raise[d]?|throw|fail with|end in|render(?: as)?)"
)
_EXCEPTION = re.compile(
    r"`{0,2}((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit|Iteration|Interrupt))\b`{0,2}"
    r"(?::\s*([^`]+?)(?=`|$))?"
)
_NOUN = r"(?:output|result|value|behaviou?r|outcome|answer|return value|results)"
_CUES: tuple[tuple[Role, re.Pattern[str]], ...] = tuple(
    (role, re.compile(pattern, re.IGNORECASE))
    for role, pattern in (
        (Role.UNWANTED, rf"\b(?:should|must|ought)(?:n't| not)(?: to)? (?:{_ADVERBS} )*(?:have )?{_GIVE}\b"),
        (Role.UNWANTED, r"\b(?:did(?:n't| not)|would(?:n't| not)|never) expect\b"),
        (
            Role.EXPECTED,
            rf"\b(?:should|must|ought to|supposed to) (?:{_ADVERBS} )*(?:have )?(?:{_ADVERBS} )*{_GIVE}\b",
        ),
        (Role.EXPECTED, rf"\bwould (?:{_ADVERBS} )*(?:have )?expect(?:ed)?\b"),
        (Role.EXPECTED, rf"(?<!un)(?<!as )\bexpect(?:ed|ing|s)?\b(?: {_NOUN})?"),
        (Role.EXPECTED, rf"\b(?:correct|right|proper) {_NOUN} (?:is|was|would be|should be)\b"),
        (Role.EXPECTED, rf"\bused to {_GIVE}\b"),
        (Role.EXPECTED, r"\b\d+\.\d+(?:\.\w+)* (?:gave|returned|printed|produced|yielded)\b"),
        (Role.ACTUAL, rf"\bactual(?:ly)?\b(?: {_NOUN})?"),
        (Role.ACTUAL, rf"\b(?:I|we|you) (?:{_ADVERBS} )*(?:get|got|see|saw|am getting)\b"),
        (Role.ACTUAL, rf"\b(?:but|and|it|this|that|which|call) (?:{_ADVERBS} )*(?:got|is|was|gets?)\b"),
        (
            Role.ACTUAL,
            r"\b(?:got|returns?|returned|gives?|gave|prints?|printed|yields?|yielded|outputs|produces?|produced|shows?|"
            r"results in|evaluates to|becomes|turns (?:\S+ )?into|raises?|raised|throws?|threw|"
            r"(?:fails?|failed|crash(?:es|ed)?|dies|died|breaks?|blows up|errors?(?: out)?|aborts|ends|ends up) "
            r"(?:with|in))",
        ),
    )
)
_INSTEAD = re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE)
_FILLER = re.compile(
    r"\s*(?:[:=,]|->|=>|\bthat\b|\bit\b|\bthis\b|\bthem\b|\bthe\b|\ban?\b|\bto\b|\bbe\b|\bis\b|\bwas\b|\bare\b|\bof\b|"
    r"\bsee\b|\bget\b|\bgetting\b|\breturn(?:s|ed|ing)?\b|\bgive[sn]?\b|\bprint(?:s|ed|ing)?\b|\bhave\b|\bresult\b|\boutput\b|"
    r"\bvalue\b|\banswer\b|\bcall\b|\bplain\b|\bproper\b|\braise[sd]?\b|\braising\b|\bthrow(?:s|ing)?\b|\bwith\b|\bfail\b|"
    r"\bexception\b|\bthe usual\b|\bjust\b|\bback\b|\bonly\b)\s*",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:something|similar|roughly|about|approximately|around|e\.g\.|example|such as|probably|perhaps|maybe|either|"
    r"at least|at most|more|less|not sure|unless)\b",
    re.IGNORECASE,
)
_ENDING = re.compile(
    r"\s*(?:$|[.,;!?)\]\u2013\u2014\"]|-\s|\((?!\w*\))|(?:and|but|or|instead|not|rather|as|like|here|for|in|when|because|since|with|if|"
    r"again|too|though|so|which|while|where|now|today|then|at|on|from|before|after|either|on both)\b)"
)
_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)


def claims_in(text: str, line: int) -> tuple[Claim, ...]:
    """What one sentence states, in its order; cues inside code spans do not count."""
    text = text[:_MAX_SENTENCE]
    masked = _SPAN.sub(lambda match: "\0" * len(match.group(0)), text)
    found: list[Claim] = []
    reached = 0
    for role, start, end in _cues(masked):
        if start < reached or len(found) >= _MAX_CLAIMS:
            continue
        value = _value_after(text, masked, end)
        if value is None:
            continue
        claim = _claim(_role_of(role, text[:start], found), text, line, start, end, value)
        if role is None and found:
            claim = replace(
                claim, before=found[-1].before
            )  # "gives 1 instead of 2": both are about one thing
        found.append(claim)
        reached = value.end
    return tuple(found)


def _cues(masked: str) -> Iterator[tuple[Role | None, int, int]]:
    """All cues by position; None is ``instead of``, whose role depends on what stands before."""
    found: list[tuple[int, int, Role | None]] = []
    for cue, pattern in _CUES:
        for match in pattern.finditer(masked):
            if not any(start <= match.start() < end for start, end, _ in found):
                found.append((match.start(), match.end(), cue))
    found += [(match.start(), match.end(), None) for match in _INSTEAD.finditer(masked)]
    for start, end, role in sorted(found, key=lambda item: item[:2]):
        yield role, start, end


def _role_of(role: Role | None, before: str, found: list[Claim]) -> Role:
    if role is not None:
        return role
    last = found[-1].role if found else None
    if last in (Role.EXPECTED, Role.EXPECTED_RAISE) or re.search(r"\b(?:should|expect|must)", before):
        return Role.ACTUAL
    return Role.EXPECTED


@dataclass(frozen=True, slots=True)
class _Found:
    """A value in a sentence: its text, where it ends, and what it is."""

    text: str
    end: int
    code: bool
    filler: str
    exception: bool = False
    message: str = ""


def _value_after(text: str, masked: str, start: int) -> _Found | None:
    """The value that stands right behind a cue, words without content skipped."""
    at = start
    for _ in range(8):
        match = _FILLER.match(masked, at)
        if not match or match.end() == at:
            break
        at = match.end()
    while at < len(text) and text[at] in " \n":
        at += 1
    filler = text[start:at]
    exception = _EXCEPTION.match(text, at)
    if exception:
        message = (exception.group(2) or "").strip()
        return _Found(exception.group(1), exception.end(), "`" in exception.group(0), filler, True, message)
    span = _SPAN.match(text, at)
    if span:
        return _Found(span.group(2).strip(), span.end(), True, filler)
    literal = leading_literal(text[at:])
    return _Found(literal, at + len(literal), False, filler) if literal else None


def leading_literal(text: str) -> str | None:
    """The longest Python literal at the start of ``text`` that ends where a value may end in a sentence."""
    if not re.match(r"[-+\d\[({'\"]|True\b|False\b|None\b|[bru]{1,2}['\"]", text):
        return None
    for end in range(min(len(text), _MAX_LITERAL), 0, -1):
        piece = text[:end]
        if piece[-1].isspace() or not _ENDING.match(text, end) or piece[-1] in ",;.":
            continue
        if is_literal(piece):
            return piece
    return None


def is_literal(text: str) -> bool:
    """Whether ``text`` is one Python literal, ``...`` nowhere in it."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    if isinstance(tree.body, ast.Tuple) and not text.strip().startswith("("):
        return False
    return not any(isinstance(node, ast.Constant) and node.value is Ellipsis for node in ast.walk(tree))


def _claim(role: Role, text: str, line: int, start: int, end: int, value: _Found) -> Claim:
    if value.exception:
        wanted = role in (Role.EXPECTED, Role.EXPECTED_RAISE)
        role = Role.EXPECTED_RAISE if wanted else Role.ACTUAL_RAISE
    around = value.filler + text[end : value.end]
    after = text[value.end :]
    hedged = bool(_HEDGE.search(text[max(0, start - 25) : start] + around)) or bool(
        re.match(r"\s*(?:or\b|etc\b|\.\.\.|…)", after)
    )
    hedged = hedged or (text.rstrip().endswith("?") and role is not Role.ACTUAL)
    return Claim(role, value.text, line, text, value.code, text[:start], after, hedged, value.message)


# ------------------------------------------------------------------------------------------- comments
_ARROW = re.compile(
    r"^\s*(?:[-=]+>|>+|→|⇒|#|:|(?:prints?|returns?|gives?|outputs?|shows?|result|output|got|still|now)\b:?)\s*",
    re.IGNORECASE,
)
_GOOD = re.compile(
    r"^(?:(?:this|it|that) )?(?:is |still )?(?:ok(?:ay)?|works?|fine|correct|good|right|pass(?:es)?|as expected|"
    r"expected)\b[^=:]*$",
    re.IGNORECASE,
)
_BAD = re.compile(
    r"\b(?:wrong|bug|boom|fails?|error|crash(?:es)?|broken|incorrect|nope|bad|unexpected|oops|huh|explodes|raises)\b|!!|\?\?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Remark:
    """What a comment beside a statement says of it."""

    claims: tuple[Claim, ...]
    mark: Mark = Mark.NONE


def read_remark(comment: str, line: int) -> Remark:
    """Claims and judgement of the comment lines beside one statement."""
    claims: list[Claim] = []
    mark = Mark.NONE
    for text in comment.splitlines():
        found = list(claims_in(text, line))
        bare = _bare_result(text, line)
        if bare and not any(claim.value == bare.value for claim in found):
            found.insert(0, bare)
        claims += found
        if _GOOD.match(text) and not found:
            mark = Mark.GOOD
        elif _BAD.search(text):
            mark = Mark.BAD
    return Remark(tuple(claims), mark)


def _bare_result(text: str, line: int) -> Claim | None:
    """A result that is written down without a verb: ``-> 3``, ``[1, 2]  <- wrong``, ``ValueError: bad``."""
    arrow = _ARROW.match(text)
    rest = text[arrow.end() :] if arrow else text.strip()
    exception = re.match(
        r"((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit|Iteration))(?::\s*(.*))?(?=$|\W)", rest
    )
    if exception:
        return Claim(
            Role.ACTUAL_RAISE, exception.group(1), line, text, message=(exception.group(2) or "").strip()
        )
    literal = leading_literal(re.sub(r"\s+(?:<-+|<=+|--|!|\?|#|//)", " (", rest))
    if literal:
        return Claim(Role.SHOWN, literal, line, text, after=rest[len(literal) :])
    if arrow and rest and arrow.group(0).strip():
        return Claim(Role.SHOWN, rest.strip(), line, text)
    return None
