# SPDX-License-Identifier: Apache-2.0
"""Reads what a sentence says of a command's exit status: which one, and whether it is wanted or complained of."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.cues import Role


@dataclass(frozen=True, slots=True)
class Status:
    """A statement on an exit status: it is ``code``, or with ``other`` anything else."""

    code: int
    other: bool = False

    def holds(self, real: int) -> bool:
        return (real == self.code) is not self.other

    @property
    def expression(self) -> str:
        """The check of it, ``_`` being the finished process."""
        return f"_.returncode {'!=' if self.other else '=='} {self.code}"

    @property
    def words(self) -> str:
        return f"exit status {'other than ' if self.other else ''}{self.code}"

    @property
    def inverse(self) -> Status:
        return Status(self.code, not self.other)


@dataclass(frozen=True, slots=True)
class Exit:
    """One such statement. ``role``: EXPECTED or ACTUAL. ``about``: the code in backticks ahead of it, or ''.

    ``sure``: it is no question and no guess. ``lasting``: it is said to be so and to be right. ``whole``: it holds for
    every command at hand. ``before``: what the sentence says ahead of it. ``bare``: its words alone do not say that it
    is about an exit status.
    """

    role: Role
    status: Status
    evidence: str
    about: str = ""
    sure: bool = True
    lasting: bool = False
    whole: bool = False
    before: str = ""
    bare: bool = False


_SUCCESS, _FAILURE = Status(0), Status(0, other=True)
_NUMBER = (
    r"(?P<not>other than |anything but |different from |not )?(?P<n>-?\d{1,3}|non-? ?zero|zero)\b(?!\.\d|%)"
)
_BE_TEXT = (
    "is was be been of to as with at a an the its it only just still simply always now have has should must will would "
    "stays? remains? set equals? : = =="
)
_BE = rf"(?:(?:{'|'.join(_BE_TEXT.split())})\s+)"
_KIND = r"(?:exit|return|error|process|shell)[ -]?(?:status|code|value)"
_EXIT = (
    r"\b(?:exit(?:s|ed|ing)?|quit(?:s|ting)?|terminat(?:es?|ed|ing)|finish(?:es|ed)?|end(?:s|ed)?|"
    r"return(?:s|ed|ing)?|fail(?:s|ed)?|die[sd]?|complet(?:es?|ed))"
)
_FORMS = (
    re.compile(rf"{_EXIT}\s+{_BE}*(?:(?:{_KIND}|status|code)[\s:=]*{_BE}*)?{_NUMBER}", re.IGNORECASE),
    re.compile(
        rf"\b{_KIND}(?:\s+(?:of|for|from)\s+(?:\w+\s+)?`\0+`)?(?:\s*[:=]\s*|\s+){_BE}*{_NUMBER}",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:status|code)\s+{_BE}*{_NUMBER}", re.IGNORECASE),
    re.compile(rf"\b(?P<n>non-? ?zero|zero)\s+(?:{_KIND}|status|code|exit)\b", re.IGNORECASE),
    re.compile(
        rf"\$\?`?(?:\s*[:=]\s*|\s+)(?:then |now )?(?:(?:print|show|say|give)s? )?{_BE}*{_NUMBER}",
        re.IGNORECASE,
    ),
    re.compile(rf"\b{_KIND}\s+\(?(?P<n>\d{{1,3}})\b", re.IGNORECASE),
)
_FURTHER = re.compile(
    rf"\b(?:(?:should|must|ought to|has to) (?:have )?(?:be(?:en)?|return|exit(?: with)?)|instead of|rather than|"
    rf"(?<=, )not|and not|but not|where|expected(?: was| is|:)?)\s+{_BE}*{_NUMBER}",
    re.IGNORECASE,
)
_PIECES = re.compile(r"\s+(?!(?:as|is|this|was|unless|always|cases|whereas|plus|thus)\b)[a-z]+s\b")
_WORDS = (
    (
        _FAILURE,
        r"\bfail(?:s|ed|ing)?\b(?! (?:with|on|to|because|if)\b)(?!\s+(?:the|a|an|my|our)\b)|"
        r"\b(?:report|signal|indicate|show|flag)(?:s|ed)? (?:a |an |the |its )?(?:failure|error)\b|\berror out\b|"
        r"\bexit(?:s|ed)? (?:with (?:an? )?(?:error|failure)|unsuccessfully)\b|\bbe an error\b",
    ),
    (
        _SUCCESS,
        r"\bsucceed(?:s|ed)?\b|"
        r"\b(?:report|signal|indicate|claim|sa[yi]|show|mean|pretend)(?:s|d|ed|ing)? (?:a )?success\b|"
        r"\bexit(?:s|ed)? (?:successfully|cleanly|normally|with success)\b",
    ),
)
_WISH = re.compile(
    r"\b(?:should(?:n't)?|must(?:n't)?|ought|supposed to|expect(?:ed|s|ing)?|would like|'d like|want(?:ed|s)?|"
    r"ha(?:s|ve) to|needs? to|"
    r"desired|correct|used to|please|nice if|better if|nicer if)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\b(?:should|must|ought|do|does|did|can|could|will|would|is|was)(?:n't| not)|\bnever|\bwithout|\bno longer|"
    r"\bcannot)\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)
_TURNED = re.compile(r"(?:instead of|rather than|not|and not|but not)\s+", re.IGNORECASE)
_RIGHT = re.compile(
    r"\b(?:correctly|rightly|properly|as (?:it should|expected|documented)|which is (?:right|correct|fine)|fine|"
    r"of course|of its own|continue to|already|unaffected)\b",
    re.IGNORECASE,
)
_CONTRASTED = re.compile(r"\bothers?\b.*\bdo(?:es)?\s*$", re.IGNORECASE | re.DOTALL)
_UNSURE = re.compile(
    r"\b(?:perhaps|maybe|probably|not sure|either|sometimes|might)\b|\?\s*$|"
    r"\b(?:in|with|until|before|under|on) (?:v|version |python |release )?\d+\.\d+",
    re.IGNORECASE,
)
_ALL = re.compile(r"\b(?:both|all|each|every|always|any|none|whatever|everything)\b", re.IGNORECASE)
_CLAUSE = re.compile(
    r"\s+but\s+|;\s|\bwhile\b|\bwhereas\b|\balthough\b|\beven though\b|,\s+(?=(?:and|it|this|which|I|we|yet)\b)"
)
_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)


def exits_in(text: str) -> tuple[Exit, ...]:
    """What one sentence says of exit statuses, in its order."""
    text = re.sub(r"`(-?\d{1,3}|\$\?|echo \$\?|non-?zero)`", r"\1", text[:1_500])
    masked = _SPAN.sub(lambda match: "`" + "\0" * (len(match.group()) - 2) + "`", text)
    found: list[_Stated] = []
    for one in sorted(_stated(masked), key=lambda one: (one.bare, one.start, -one.end)):
        if not any(other.start < one.end and one.start < other.end for other in found):
            found.append(one)
    found.sort(key=lambda one: one.start)
    for match in _FURTHER.finditer(masked, found[0].end) if found else ():
        if not any(other.start < match.end() and match.start() < other.end for other in found):
            found.append(_Stated(match.start(), match.end(), _status(match), False))
    found.sort(key=lambda one: one.start)
    return _turned([_exit(text, masked, one) for one in found], masked, [one.start for one in found])


@dataclass(frozen=True, slots=True)
class _Stated:
    start: int
    end: int
    status: Status
    bare: bool


def _stated(masked: str) -> list[_Stated]:
    """Every turn of phrase that gives a status."""
    found: list[_Stated] = []
    for form in _FORMS:
        for match in form.finditer(masked):
            telling = re.search(r"status|code|exit|\$\?|value|zero", match.group(), re.IGNORECASE)
            plain = re.search(r"status|code|\$\?|value|zero", match.group(), re.IGNORECASE)
            if plain or not _PIECES.match(masked, match.end()):
                found.append(_Stated(match.start(), match.end(), _status(match), not telling))
    for status, pattern in _WORDS:
        for match in re.finditer(pattern, masked, re.IGNORECASE):
            lone = re.match(r"fail|succeed|error", match.group(), re.IGNORECASE)
            found.append(_Stated(match.start(), match.end(), status, bool(lone)))
    return found


def _status(match: re.Match[str]) -> Status:
    word = (
        match.group("n")
        .lower()
        .replace(" ", "")
        .replace("-", "", 1 if "zero" in match.group("n").lower() else 0)
    )
    status = _FAILURE if word == "nonzero" else Status(0 if word == "zero" else int(word))
    return status.inverse if match.groupdict().get("not") else status


def _clause(masked: str, start: int) -> str:
    """What stands ahead of a statement in its own clause."""
    return _CLAUSE.split(masked[:start])[-1]


def _exit(text: str, masked: str, one: _Stated) -> Exit:
    start, end, status = one.start, one.end, one.status
    clause = _clause(masked, start)
    wished = bool(_WISH.search(clause) or _WISH.search(masked[start:end]))
    if _NEGATED.search(masked[:start]):
        status = status.inverse
    role = Role.EXPECTED if wished else Role.ACTUAL
    about = [m.group(2).strip() for m in _SPAN.finditer(text[:end])]
    around = clause + masked[start:end] + masked[end : end + 40]
    choice = re.match(r"\s*(?:or|/)\s*\d", masked[end:])
    asks = masked.rstrip().endswith("?") and not re.search(r"\bplease\b", masked, re.IGNORECASE)
    unsure = bool(_UNSURE.search(clause) or choice) or (wished and asks)
    right = _RIGHT.search(around) or _CONTRASTED.search(clause)
    lasting = bool(right) and not re.search(r"\b(?:but|yet)\b", around)
    whole = bool(_ALL.search(clause))
    subject = about[-1] if about else ""
    return Exit(role, status, text, subject, not unsure, lasting, whole, text[:start], one.bare)


def _turned(found: list[Exit], masked: str, starts: list[int]) -> tuple[Exit, ...]:
    """``1 instead of 0``: the second is the opposite of the first."""
    kept: list[Exit] = []
    for one, start in zip(found, starts, strict=True):
        if kept and _TURNED.match(masked, start):
            role = Role.ACTUAL if kept[-1].role is Role.EXPECTED else Role.EXPECTED
            one = replace(one, role=role, about=kept[-1].about, lasting=False)
        kept.append(one)
    return tuple(kept)
