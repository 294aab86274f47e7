# SPDX-License-Identifier: Apache-2.0
"""Names a test after what the report's title says."""

from __future__ import annotations

import re

_MAX = 44
_FILLER_TEXT = """
a an the is are was were be been being it its this that these those there of in on at to as by for with from into
when if and or but not only also just even still very any some all each every other has have had does do did can
could should would will may might must my our your their i we you they which who what how why because since after
before while than then so too up out again always never sometimes after due via using
bug issue problem wrong wrongly incorrect incorrectly broken fails fail failed unexpected unexpectedly instead
regression please gets get got give gives seems
"""
_FILLER = frozenset(_FILLER_TEXT.split())
_VERSION = re.compile(r"\b(?:since|in|with|on|from)?\s*v?\d+\.\d+(?:\.\w+)*\b", re.IGNORECASE)
_ERROR = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Warning)\b")


def name_for(title: str, taken: frozenset[str], suffix: str = "") -> str:
    """A short function name from the report's title that is not ``taken``."""
    name = "test_" + "_".join([*_words(title), *([suffix] if suffix else [])])
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{name}_{number}", number + 1
    return unique


def slug_for(title: str) -> str:
    """A short file name, without ``test_`` and ending."""
    return "_".join(_words(title)[:4])


def _words(title: str) -> list[str]:
    """The telling words of a title, as many as fit."""
    text = re.sub(r"'(?:t|s|re|ve|ll|d|m)\b", "", _VERSION.sub(" ", title))
    without = _ERROR.sub(" ", text)
    for candidate in (without, text):
        words = [_plain(word) for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]*|\d+", candidate)]
        telling = [word for word in words if word and word not in _FILLER]
        if len(telling) > 1:
            break
    kept: list[str] = []
    for word in telling:
        if len("_".join([*kept, word])) > _MAX or len(kept) == 6:
            break
        if word not in kept:
            kept.append(word)
    return kept or ["reported_behaviour"]


def _plain(word: str) -> str:
    return word.strip("_").lower()
