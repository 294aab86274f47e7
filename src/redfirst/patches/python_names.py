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
    return sorted(_stars_below(new, held) - _stars_below(old, held))


def _stars_below(body: Sequence[ast.stmt], held: set[str]) -> set[str]:
    start = next((at for at, node in enumerate(body) if getattr(node, "name", None) in held), len(body))
    found = {_star(node) for statement in body[start:] for node in ast.walk(statement)}
    return {name for name in found if name is not None}


def _star(node: ast.AST) -> str | None:
    if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
        return "." * node.level + (node.module or "")
    return None
