# SPDX-License-Identifier: Apache-2.0
"""Turns assertions that differ in their literals alone into one test with a table."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.fit import fitted
from redfirst.agents.strategies.snippet.steps import parse_quietly
from redfirst.agents.strategies.snippet.write import Part, TestText


@dataclass(frozen=True, slots=True)
class _Cell:
    """A literal of an assertion: where it stands in the line, and the name for its column."""

    start: int
    end: int
    text: str
    hint: str


def tabulated(test: TestText, width: int) -> TestText | None:
    """The test as a table, or None where its parts are not all assertions of one shape."""
    rows = [_cells(part) for part in test.parts]
    if (
        len(rows) < 2
        or test.unittest
        or test.arguments
        or test.definitions
        or any(row is None for row in rows)
    ):
        return None
    cells = [row for row in rows if row is not None]
    shapes = {_shape(part.lines[0], row) for part, row in zip(test.parts, cells, strict=True)}
    if len(shapes) != 1:
        return None
    differing = [n for n in range(len(cells[0])) if len({row[n].text for row in cells}) > 1]
    names = _names([cells[0][n] for n in differing])
    if len(differing) < 2 or "expected" not in names:
        return None
    picked = [[row[n] for n in differing] for row in cells]
    body = _with_names(test.parts[0].lines[0], picked[0], names)
    part = replace(test.parts[0], lines=(body,))
    rest = tuple(replace(p, lines=()) for p in test.parts[1:])
    imports = tuple(dict.fromkeys([*test.imports, "import pytest"]))
    decorators = tuple(_decorator(names, [[cell.text for cell in row] for row in picked], width))
    return replace(test, imports=imports, parts=(part, *rest), arguments=tuple(names), decorators=decorators)


def _cells(part: Part) -> list[_Cell] | None:
    """The literals of ``assert f(literal) == literal``; None for any other part."""
    body = parse_quietly(part.code)
    if part.shows is None or len(part.lines) != 1 or len(body) != 1 or not part.code.isascii():
        return None
    tree = body[0]
    if not isinstance(tree, ast.Assert) or not isinstance(tree.test, ast.Compare):
        return None
    if len(tree.test.ops) != 1 or not isinstance(tree.test.ops[0], ast.Eq | ast.Is):
        return None
    left = _literals(tree.test.left, "value")
    right = _literals(tree.test.comparators[0], "expected")
    if len(right) != 1 or right[0][0] is not tree.test.comparators[0]:
        return None
    return [_cell(part.code, node, hint) for node, hint in (*left, *right)]


def _literals(node: ast.AST, hint: str) -> list[tuple[ast.expr, str]]:
    """The biggest literals in an expression, in its order, with a name for each."""
    if isinstance(node, ast.expr) and _is_literal(node):
        return [(node, hint)]
    found: list[tuple[ast.expr, str]] = []
    if isinstance(node, ast.Call):
        found += _literals(node.func, hint)
        only = len(node.args) == 1 and hint == "value"
        for argument in node.args:
            found += _literals(argument, hint if only else _called(node.func))
        for keyword in node.keywords:
            found += _literals(keyword.value, keyword.arg or hint)
        return found
    for child in ast.iter_child_nodes(node):
        found += _literals(child, hint)
    return found


def _called(func: ast.expr) -> str:
    """A column name for an argument of a constructor: its class in small letters; ``value`` for a function."""
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() if name[:1].isupper() else "value"


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _cell(code: str, node: ast.expr, hint: str) -> _Cell:
    return _Cell(node.col_offset, node.end_col_offset or 0, ast.get_source_segment(code, node) or "", hint)


def _shape(line: str, cells: Sequence[_Cell]) -> str:
    return _with_names(line, cells, ["\0"] * len(cells))


def _with_names(line: str, cells: Sequence[_Cell], names: Sequence[str]) -> str:
    for cell, name in sorted(zip(cells, names, strict=True), key=lambda pair: -pair[0].start):
        line = line[: cell.start] + name + line[cell.end :]
    return line


def _names(cells: Sequence[_Cell]) -> list[str]:
    names: list[str] = []
    for cell in cells:
        name, number = cell.hint, 2
        while name in names:
            name, number = f"{cell.hint}{number}", number + 1
        names.append(name)
    return names


def _decorator(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    heading = ", ".join(f'"{name}"' for name in names)
    lines = ["@pytest.mark.parametrize(", f"    ({heading}),", "    ["]
    for row in rows:
        text = f"({', '.join(row)})"
        broken = fitted(text, width - 9)
        lines += [f"        {line}" for line in broken]
        lines[-1] += ","
    return [*lines, "    ],", ")"]
