# SPDX-License-Identifier: Apache-2.0
"""Which names one node of a Python syntax tree binds by itself, in whatever form."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence


def bound_here(node: ast.AST) -> Iterator[str]:
    """Names stored or deleted, caught exceptions, and captures of a ``match``."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
    elif isinstance(node, ast.Try | ast.TryStar):
        yield from (handler.name for handler in node.handlers if handler.name)
    elif isinstance(node, ast.MatchAs | ast.MatchStar):
        if node.name:
            yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def late_stars(old: Sequence[ast.stmt], new: Sequence[ast.stmt], held: set[str]) -> list[str]:
    """Modules of which an added line below the first existing test imports everything."""
    known = {_star(node) for statement in old for node in ast.walk(statement)}
    start = next((at for at, node in enumerate(new) if getattr(node, "name", None) in held), len(new))
    found = {_star(node) for statement in new[start:] for node in ast.walk(statement)}
    return sorted(name for name in found - known if name is not None)


def _star(node: ast.AST) -> str | None:
    if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
        return "." * node.level + (node.module or "")
    return None
