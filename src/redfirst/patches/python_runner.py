# SPDX-License-Identifier: Apache-2.0
"""What a Python file changes in the test runner itself: its modules, and the items that it runs."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from redfirst.patches.python_grown import Function

_MODULES = frozenset({"pytest", "_pytest", "unittest"})
_SETTERS = frozenset({"setattr", "delattr", "patch", "object"})
_SETTINGS = frozenset({"maxDiff", "longMessage"})
_ITEMS = frozenset({"item", "node"})


def runner_changes(before: ast.Module, after: ast.Module) -> list[str]:
    """Attributes of the runner and of its items that the new text sets and the old one did not; as text."""
    known = {node.name for node in ast.walk(before) if isinstance(node, Function)}
    added = Counter(_changes(after, known)) - Counter(_changes(before, known))
    return sorted(added)


def _changes(tree: ast.Module, known: set[str]) -> Iterator[str]:
    names = {name for node in ast.walk(tree) for name in _imported(node)} | _MODULES
    for node in _before_new_tests(tree, known):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            if _of_item(node) or (_of_runner(node.value, names) and node.attr not in _SETTINGS):
                yield ast.unparse(node)[:60]
        elif isinstance(node, ast.Call) and _sets_on_runner(node, names):
            yield ast.unparse(node)[:60]


def _before_new_tests(node: ast.AST, known: set[str]) -> Iterator[ast.AST]:
    """All nodes but those inside new tests: what a test does while it runs is the run's to see."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function) and child.name.startswith("test") and child.name not in known:
            continue
        yield child
        yield from _before_new_tests(child, known)


def _imported(node: ast.AST) -> Iterator[str]:
    """Names under which a file knows the runner; the mocks of unittest are there to be changed."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname and alias.name.split(".")[0] in _MODULES and "mock" not in alias.name:
                yield alias.asname
    elif isinstance(node, ast.ImportFrom) and not node.level:
        module = node.module or ""
        if module.split(".")[0] in _MODULES and "mock" not in module:
            yield from (alias.asname or alias.name for alias in node.names if alias.name != "mock")


def _of_item(node: ast.Attribute) -> bool:
    """``request.node.runtest = …`` and ``item.obj = …``."""
    if node.attr == "runtest":
        return not (isinstance(node.value, ast.Name) and node.value.id == "self")
    return node.attr == "obj" and _last(node.value) in _ITEMS


def _of_runner(node: ast.expr, names: set[str] | frozenset[str]) -> bool:
    while isinstance(node, ast.Attribute):
        if node.attr == "mock":
            return False
        node = node.value
    return isinstance(node, ast.Name) and node.id in names


def _sets_on_runner(call: ast.Call, names: set[str]) -> bool:
    """``setattr(pytest, …)``, ``monkeypatch.setattr("pytest.raises", …)`` and the patches of mocks."""
    if _last(call.func) not in _SETTERS or not call.args:
        return False
    target = call.args[0]
    if isinstance(target, ast.Constant) and isinstance(target.value, str):
        words = target.value.split(".")
        return len(words) > 1 and words[0] in _MODULES and "mock" not in words
    return _of_runner(target, names)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
