# SPDX-License-Identifier: Apache-2.0
"""What the statement at one line of a Python text does."""

from __future__ import annotations

import ast

from redfirst.runners.python_declared import parsed

_FORKS = frozenset(("fork", "forkpty", "posix_spawn", "posix_spawnp", "fork_exec"))


def raises_at(text: bytes, line: int) -> bool:
    """Whether a ``raise`` statement covers ``line`` (1-based)."""
    tree = parsed(text)
    return tree is not None and any(
        isinstance(node, ast.Raise) and node.lineno <= line <= (node.end_lineno or node.lineno)
        for node in ast.walk(tree)
    )


def calls_fork(text: bytes, line: int) -> bool:
    """Whether a call that starts a process covers ``line`` (1-based)."""
    tree = parsed(text)
    return tree is not None and any(
        isinstance(node, ast.Call)
        and _called(node.func) in _FORKS
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        for node in ast.walk(tree)
    )


def _called(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
