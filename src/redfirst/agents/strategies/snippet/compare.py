# SPDX-License-Identifier: Apache-2.0
"""Tells whether a text of the report and an observed value, output or exception are the same thing."""

from __future__ import annotations

import ast
import re
from difflib import SequenceMatcher

from redfirst.agents.strategies.snippet.claims import Claim, is_literal
from redfirst.agents.strategies.snippet.probe import Raised, Seen, Value
from redfirst.agents.strategies.snippet.wishes import How

_SIMILAR = 0.75


def same_value(value: Value, text: str) -> bool:
    """Whether ``text`` is this value: its repr, its own text if it is a string, or an equal literal."""
    wanted = text.strip()
    if wanted == value.repr.strip() or (value.text is not None and _folded(wanted) == _folded(value.text)):
        return True
    if is_literal(wanted):
        return value.literal and _equal_literals(wanted, value.repr)
    return _tree(wanted) is not None and _tree(wanted) == _tree(value.repr)


def states(claim: Claim, value: Value, text: str | None = None) -> bool | None:
    """Whether what a claim says is true of a value; None where the value's repr does not tell.

    ``text``: one of the values that the claim lists, its own if left out.
    """
    wanted = claim.value if text is None else text
    if claim.how is How.IS:
        return same_value(value, wanted)
    if claim.how is How.TRUTH:
        return value.repr == wanted if value.type == "builtins.bool" else None
    if claim.how is How.TYPE:
        return value.type == f"builtins.{wanted}"
    if claim.how in (How.SAME, How.UNCHANGED) or not value.literal:
        return None
    real = ast.literal_eval(value.repr)
    if claim.how is How.LENGTH:
        return (
            len(real) == int(wanted) if isinstance(real, list | tuple | dict | set) else real == int(wanted)
        )
    literal = ast.literal_eval(wanted) if is_literal(wanted) else wanted
    if isinstance(real, str):
        return (str(literal) in real) is (claim.how is How.CONTAINS)
    if not isinstance(real, list | tuple | dict | set) or not isinstance(literal, str | int | float | bytes):
        return None
    return (literal in real) is (claim.how is How.CONTAINS)


def same_output(out: str, text: str) -> bool:
    """Whether printed text is what the report shows, blank ends of lines aside."""
    return bool(out.strip()) and _folded(out) == _folded(text)


def shows_part(text: str, real: str) -> bool:
    """Whether every line of ``text`` stands in ``real`` in the same order; ``...`` stands for anything."""
    found = iter(_plain(line) for line in real.splitlines())
    wanted = [_plain(line) for line in text.splitlines()]
    shown = [line for line in wanted if line and line not in ("...", "…", "[...]")]
    return bool(shown) and all(any(_line_fits(line, other) for other in found) for line in shown)


def _plain(line: str) -> str:
    return re.sub(r"\b0x[0-9a-fA-F]+", "0x", line.strip())


def _line_fits(line: str, real: str) -> bool:
    pieces = [re.escape(piece.strip()) for piece in re.split(r"\.\.\.|…", line)]
    return re.fullmatch(r"\s*.*?\s*".join(pieces), real) is not None if len(pieces) > 1 else line == real


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
