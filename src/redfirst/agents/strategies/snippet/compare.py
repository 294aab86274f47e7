# SPDX-License-Identifier: Apache-2.0
"""Tells whether a text of the report and an observed value, output or exception are the same thing."""

from __future__ import annotations

import ast
import re
from difflib import SequenceMatcher

from redfirst.agents.strategies.snippet.claims import is_literal
from redfirst.agents.strategies.snippet.probe import Raised, Seen, Value

_SIMILAR = 0.75


def same_value(value: Value, text: str) -> bool:
    """Whether ``text`` is this value: its repr, its own text if it is a string, or an equal literal."""
    wanted = text.strip()
    if wanted == value.repr.strip() or (value.text is not None and _folded(wanted) == _folded(value.text)):
        return True
    if is_literal(wanted):
        return value.literal and _equal_literals(wanted, value.repr)
    return _tree(wanted) is not None and _tree(wanted) == _tree(value.repr)


def same_output(out: str, text: str) -> bool:
    """Whether printed text is what the report shows, blank ends of lines aside."""
    return bool(out.strip()) and _folded(out) == _folded(text)


def same_step(seen: Seen, text: str) -> bool:
    """Whether what a step printed or gave is ``text``."""
    return same_output(seen.out, text) or (seen.value is not None and same_value(seen.value, text))


def same_exception(raised: Raised, name: str, message: str = "") -> bool:
    """Whether a reported exception is the one that was raised: the class itself, and the message if one is given."""
    if name.rpartition(".")[2] != raised.name:
        return False
    reported, real = _squeezed(message), _squeezed(raised.message)
    if not reported or not real or reported in real or real in reported:
        return True
    return SequenceMatcher(None, reported[:500], real[:500], autojunk=False).ratio() >= _SIMILAR


def alike(one: str, other: str) -> bool:
    """Whether two texts are so near that one can be the corrected form of the other."""
    return likeness(one, other) >= 0.6


def likeness(one: str, other: str) -> float:
    """How near two texts are, from 0 to 1; quotes around them do not count."""
    left, right = (text.strip().strip("'\"")[:2000] for text in (one, other))
    return SequenceMatcher(None, left, right, autojunk=False).ratio()


def shared_words(one: str, other: str) -> float:
    """The share of words that two texts have in common, from 0 to 1."""
    left, right = (set(re.findall(r"[A-Za-z]+", text)) for text in (one, other))
    return len(left & right) / len(left | right) if left | right else 0.0


def literal_type(text: str) -> type | None:
    """The type of a literal, or None."""
    return type(ast.literal_eval(text.strip())) if is_literal(text) else None


def _equal_literals(one: str, other: str) -> bool:
    try:
        left, right = ast.literal_eval(one), ast.literal_eval(other)
        return type(left) is type(right) and bool(left == right)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False


def _tree(text: str) -> str | None:
    try:
        return ast.dump(ast.parse(text, mode="eval"))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _folded(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().rstrip(".")
