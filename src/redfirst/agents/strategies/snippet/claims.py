# SPDX-License-Identifier: Apache-2.0
"""Reads what a sentence or a comment states: values and exceptions, and whether they are wanted or complained of."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from enum import StrEnum

from redfirst.agents.strategies.snippet.cues import Role, cues_in
from redfirst.agents.strategies.snippet.wishes import How, wish_after


class Mark(StrEnum):
    """A bare judgement beside a statement."""

    NONE = ""
    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Claim:
    """One stated value. ``value`` as written, without its backticks; ``code``: it stood in backticks.

    ``evidence``: the sentence; ``before``/``after``: what it says around the value; ``hedged``: it is not sure.
    ``message``: of an exception, '' if none is stated. ``how``: in which way the value is meant. ``scope``: what the
    sentence says right behind the value of the case that it is about: "for the first call". ``lasting``: it is said to
    be so already and to have to stay.
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
    how: How = How.IS
    lasting: bool = False

    @property
    def scope(self) -> str:
        match = _SCOPE.match(self.after)
        return match.group(1).strip() if match else ""

    @property
    def versioned(self) -> bool:
        """Whether it is what some release gave, which may be the broken one."""
        return bool(_ELSEWHEN.search(self.evidence[len(self.before) :].partition(self.value)[0]))

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
_EXCEPTION = re.compile(
    r"`{0,2}((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit|Iteration|Interrupt))\b`{0,2}"
    r"(?::\s*([^`]+?)(?=`|$))?"
)
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
_ELSEWHEN = re.compile(r"\bused to\b|\d+\.\d+")
_LASTING = re.compile(
    r"\b(?:still|stay|remain|keep|continue|of course|as before|already|go on|unaffected|obviously)\b",
    re.IGNORECASE,
)
_SCOPE = re.compile(
    r"\s*,?\s*\(?((?:for|with|on|in|at|after|when|if)\s+(?:`[^`]*`|[^,.;:`()]){1,60}?)\s*"
    r"(?=[,.;:()]|\band\b|\bbut\b|\binstead\b|$)"
)
_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)


def claims_in(text: str, line: int) -> tuple[Claim, ...]:
    """What one sentence states, in its order; cues inside code spans do not count."""
    text = text[:_MAX_SENTENCE]
    masked = _SPAN.sub(lambda match: "\0" * len(match.group(0)), text)
    found: list[Claim] = []
    reached = 0
    for cue in cues_in(masked):
        if cue.start < reached or len(found) >= _MAX_CLAIMS:
            continue
        value = _value_after(text, masked, cue.end) or _wished(text, cue.end)
        if value is None:
            continue
        if cue.how is not How.IS:
            value = replace(value, how=cue.how)
        claim = _claim(_role_of(cue.role, text[: cue.start], found), text, line, cue.start, cue.end, value)
        if cue.role is None and found:
            # "gives 1 instead of 2": both are about one thing
            claim = replace(claim, before=found[-1].before)
        found.append(claim)
        reached = value.end
        for other in _continued(text, masked, claim, line):
            found.append(other)
            reached = len(text) - len(other.after)
    return tuple(found)


def _wished(text: str, at: int) -> _Found | None:
    """A property in words in the place of a value."""
    wish = wish_after(text, at)
    return _Found(wish.value, wish.end, True, text[at : wish.end], how=wish.how) if wish else None


def _continued(text: str, masked: str, claim: Claim, line: int) -> list[Claim]:
    """The other values of "`A` for the first call and `B` for the second"."""
    found: list[Claim] = []
    while claim.scope:
        at = len(text) - len(claim.after)
        scoped = _SCOPE.match(text, at)
        joined = re.compile(r"\s*(?:,\s*and|,|and)\s+").match(text, scoped.end()) if scoped else None
        value = _value_after(text, masked, joined.end()) if joined else None
        if not joined or value is None or value.exception:
            break
        claim = _claim(claim.role, text, line, joined.start(), joined.end(), value)
        if not claim.scope:
            break
        found.append(claim)
    return found


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
    how: How = How.IS


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
    wanted = role in (Role.EXPECTED, Role.EXPECTED_RAISE)
    lasting = wanted and bool(_LASTING.search(text[:end] + value.filler))
    return Claim(
        role,
        value.text,
        line,
        text,
        value.code,
        text[:start],
        after,
        hedged or lasting,
        value.message,
        value.how,
        lasting,
    )


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
    """What a comment beside a statement says of it. ``alike``: words that call it wrong as another statement is."""

    claims: tuple[Claim, ...]
    mark: Mark = Mark.NONE
    alike: str = ""


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


__all__ = [
    "Claim",
    "How",
    "Mark",
    "Remark",
    "Role",
    "claims_in",
    "is_literal",
    "leading_literal",
    "read_remark",
]
