# SPDX-License-Identifier: Apache-2.0
"""Reads the properties of a result that a report states in words: how many, empty, true, contained, the same as."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class How(StrEnum):
    """In which way a claim speaks of a result; ``value`` of the claim is then what the comment says."""

    IS = "is"  # the result itself
    LENGTH = "has so many items"  # a number in digits
    CONTAINS = "contains"  # what must be found in it
    LACKS = "does not contain"  # what must not be found in it
    TRUTH = "is true"  # True or False
    TYPE = "is a"  # the name of a built-in type
    SAME = "is the same as"  # code in backticks
    UNCHANGED = "is its own input"  # nothing


@dataclass(frozen=True, slots=True)
class Wish:
    """A property in words, and where it ends in the sentence."""

    how: How
    value: str
    end: int


NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_EMPTY = {"list": "[]", "dict": "{}", "dictionary": "{}", "string": "''", "tuple": "()", "str": "''"}
_TYPES = {
    "list": "list", "tuple": "tuple", "dict": "dict", "dictionary": "dict", "string": "str", "str": "str",
    "int": "int", "integer": "int", "float": "float", "bool": "bool", "boolean": "bool", "set": "set",
    "bytes": "bytes", "frozenset": "frozenset",
}  # fmt: skip
_ITEMS = (
    r"(?:items?|elements?|entr(?:y|ies)|parts?|pieces?|lines?|rows?|results?|values?|keys?|tokens?|match(?:es)?|"
    r"statements?|words?|columns?|fields?|records?|objects?|nodes?|chunks?|groups?|hits?|paragraphs?|children)"
)
_UNITS = (
    r"(?:seconds?|minutes?|hours?|days?|times?|bytes?|digits?|microseconds?|milliseconds?|spaces?|ways?|of)"
)
_LEAD = r"\s*(?:(?:back|only|just|exactly|with|simply|also|still|to be|be|:)\s+)*"
_NUMBER = "|".join(NUMBER_WORDS)
_PATTERNS: tuple[tuple[How, re.Pattern[str]], ...] = tuple(
    (how, re.compile(_LEAD + pattern, re.IGNORECASE))
    for how, pattern in (
        (How.IS, rf"(?:an?\s+)?`?empty`?\s+(?P<empty>{'|'.join(_EMPTY)})\b"),
        (How.LENGTH, rf"(?P<word>{_NUMBER})\b(?=\s*(?:[.,:;)]|$)|\s+(?!{_UNITS}\b)[a-z]+(?:s|children)\b)"),
        (How.LENGTH, rf"(?P<digits>\d+)(?=\s+(?:\w+\s+)?{_ITEMS}\b)"),
        (How.TRUTH, r"(?P<truth>true|false)\b"),
        (How.SAME, r"(?:the\s+)?(?:same|equal)\s+(?:as|to)\s+(?:for\s+|with\s+|in\s+)?`(?P<code>[^`]+)`"),
        (How.UNCHANGED, r"(?P<same>unchanged|left\s+(?:alone|untouched|as\s+(?:it\s+is|is)))\b"),
        (
            How.TYPE,
            rf"an?\s+`?(?P<type>{'|'.join(_TYPES)})`?(?=\s*(?:[.,:;)]|$|here\b|too\b|instead\b|again\b|rather\b|not\b|and\s+not\b))",
        ),
    )
)


def wish_after(text: str, at: int) -> Wish | None:
    """The property that stands right behind a cue such as "should be"; None where there is none."""
    for how, pattern in _PATTERNS:
        match = pattern.match(text, at)
        if match:
            return Wish(how, _value(match), match.end())
    return None


def _value(match: re.Match[str]) -> str:
    name, text = next((name, text) for name, text in match.groupdict().items() if text is not None)
    tables = {"empty": _EMPTY, "type": _TYPES, "word": {k: str(v) for k, v in NUMBER_WORDS.items()}}
    if name == "truth":
        return text.capitalize()
    return tables[name][text.lower()] if name in tables else text.strip()
