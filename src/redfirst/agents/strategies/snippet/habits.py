# SPDX-License-Identifier: Apache-2.0
"""What a test file is used to: quotes, line length, docstrings, tables."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.fit import quotes_of
from redfirst.agents.strategies.snippet.steps import parse_quietly
from redfirst.agents.task import Gate

_DEFAULT_WIDTH = 88


@dataclass(frozen=True, slots=True)
class Habits:
    """``width``: longest line; ``quote``: '' for none; ``docstring``: '' for none, else ``line`` or ``block``."""

    width: int = _DEFAULT_WIDTH
    quote: str = '"'
    docstring: str = ""
    tables: bool = False


def habits_of(gate: Gate, text: str) -> Habits:
    """The habits of a file, the project's settings for its formatter and linter included."""
    return Habits(
        _width(gate, text), quotes_of(text), _docstring(parse_quietly(text)), "mark.parametrize(" in text
    )


def _width(gate: Gate, text: str) -> int:
    try:
        tools = tomllib.loads((gate.read("pyproject.toml") or b"").decode("utf-8", "replace")).get("tool", {})
    except tomllib.TOMLDecodeError:
        tools = {}
    for tool, name in (("ruff", "line-length"), ("black", "line-length")):
        width = tools.get(tool, {}).get(name) if isinstance(tools.get(tool), dict) else None
        if isinstance(width, int) and width >= 60:
            return width
    for path in ("setup.cfg", "tox.ini", ".flake8"):
        found = re.search(rb"^max[-_]line[-_]length\s*=\s*(\d+)", gate.read(path) or b"", re.MULTILINE)
        if found and int(found.group(1)) >= 60:
            return min(int(found.group(1)), 120)
    return max(
        _DEFAULT_WIDTH - 9, min(_DEFAULT_WIDTH, max(map(len, text.splitlines()), default=_DEFAULT_WIDTH))
    )


def test_functions(body: Sequence[ast.stmt]) -> list[ast.FunctionDef]:
    """Test functions and methods at the first two levels of a file."""
    classes = [tree for tree in body if isinstance(tree, ast.ClassDef)]
    inner = [tree for case in classes for tree in case.body]
    return [t for t in (*body, *inner) if isinstance(t, ast.FunctionDef) and t.name.startswith("test")]


test_functions.__test__ = False  # type: ignore[attr-defined]


def _docstring(body: Sequence[ast.stmt]) -> str:
    """The form of docstring that three of four tests have."""
    tests = test_functions(body)
    texts = [text for test in tests if (text := ast.get_docstring(test, clean=False)) is not None]
    if len(tests) < 3 or len(texts) < 0.75 * len(tests):
        return ""
    return "block" if sum(text.startswith("\n") for text in texts) > len(texts) / 2 else "line"
