# SPDX-License-Identifier: Apache-2.0
"""Gives the names that a test uses another spelling, strings and comments left alone."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace

from redfirst.agents.strategies.snippet.steps import bound_names, parse_quietly
from redfirst.agents.strategies.snippet.write import TestText

_Change = tuple[int, int, int, str]  # line from 1, first and last byte, what comes there


def names_in(test: TestText) -> set[str]:
    """Names that the test binds itself, at any depth."""
    trees = [tree for code in test.code[len(test.imports) :] for tree in parse_quietly(code)]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return arguments | stored | set(bound_names(trees)) | set(test.arguments)


def renameable(test: TestText, name: str) -> bool:
    """Whether every use of a name can be replaced: none stands in a formatted string."""
    nodes = [n for code in test.code for tree in parse_quietly(code) for n in ast.walk(tree)]
    formatted = [inner for node in nodes if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)]
    return not any(isinstance(inner, ast.Name) and inner.id == name for inner in formatted)


def attributes_of(test: TestText, module: str) -> set[str]:
    """The names that a test reads off ``module``; empty if that stands alone somewhere, or gets an attribute."""
    nodes = [n for code in _pieces(test) for tree in parse_quietly(code) for n in ast.walk(tree)]
    every = [n for n in nodes if isinstance(n, ast.Name) and n.id == module]
    read = [n for n in nodes if _is_read_off(n, module)]
    return {n.attr for n in read if isinstance(n, ast.Attribute)} if len(read) == len(every) else set()


def without_prefix(test: TestText, module: str) -> TestText:
    """``test`` with ``name`` for every ``module.name``."""

    def changes(tree: ast.AST) -> Iterable[_Change]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and _is_read_off(node, module):
                yield node.value.lineno, node.value.col_offset, (node.value.end_col_offset or 0) + 1, ""

    return _rewritten(test, lambda code: _changed(code, changes))


def renamed(test: TestText, renames: dict[str, str]) -> TestText:
    """``test`` with other text for some of the names that it reads."""
    return _rewritten(test, lambda code: rename(code, renames))


def rename(code: str, renames: dict[str, str]) -> str:
    """``code`` with other text for some of the names that it reads."""

    def changes(tree: ast.AST) -> Iterable[_Change]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in renames:
                yield node.lineno, node.col_offset, node.end_col_offset or 0, renames[node.id]

    return _changed(code, changes)


def _is_read_off(node: ast.AST, module: str) -> bool:
    """Whether a node is ``module.name``, read, and written without a break."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return False
    width = (node.end_col_offset or 0) - node.col_offset
    plain = node.lineno == node.end_lineno and width == len(f"{module}.{node.attr}".encode())
    return plain and isinstance(node.value, ast.Name) and node.value.id == module


def _pieces(test: TestText) -> list[str]:
    return [*test.definitions, *(part.code for part in test.parts)]


def _rewritten(test: TestText, change: Callable[[str], str]) -> TestText:
    parts = tuple(replace(part, lines=tuple(change(part.code).split("\n"))) for part in test.parts)
    return replace(test, parts=parts, definitions=tuple(map(change, test.definitions)))


def _changed(code: str, changes: Callable[[ast.AST], Iterable[_Change]]) -> str:
    body = parse_quietly(code)
    if not body:
        return code
    lines = [line.encode() for line in code.split("\n")]
    for row, start, end, text in sorted(changes(ast.Module(body, [])), reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:start] + text.encode() + line[end:]
    return b"\n".join(lines).decode()
