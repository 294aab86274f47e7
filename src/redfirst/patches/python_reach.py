# SPDX-License-Identifier: Apache-2.0
"""What a Python module does to its tests and assertions from outside of them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from redfirst.patches.python_grown import SWITCHES, Function

_OF_TESTS = re.compile(r"test|assert|Test|\w+Tests?$|\w+TestCase$")
_SETTERS = frozenset({"setattr", "delattr", "pop", "update", "setdefault", "__setitem__", "__delitem__"})
_REMOVERS = frozenset({"pop", "popitem", "clear", "__delitem__"})
_ASSERTION = re.compile(r"assert\w+")


def reached(before: ast.Module, after: ast.Module) -> list[str]:
    """Tests, their classes and assertions that the new text sets, removes or runs text against."""
    held = {
        node.name
        for node in ast.walk(before)
        if isinstance(node, Function | ast.ClassDef) and _OF_TESTS.match(node.name)
    }
    if not held:
        return []
    added = Counter(_touched(after, held)) - Counter(_touched(before, held))
    return [f"existing tests are changed from outside: {name}" for name in sorted(added)]


def _touched(tree: ast.Module, held: set[str]) -> Iterator[str]:
    methods = {
        inner.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, Function)
    }
    for node in ast.walk(tree):
        yield from (name for name in bound_from_afar(node) if name in held & methods)
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            yield from _of_held(node, held)
        if isinstance(node, ast.Call) and word(node.func) == "getattr":
            yield from (
                arg.value for arg in node.args if isinstance(arg, ast.Constant) and arg.value in SWITCHES
            )
        if isinstance(node, ast.Call):
            yield from _set_on_held(node, held)
    yield from _executed(tree, held)
    yield from _removed_by_namespace(tree)


def _set_on_held(node: ast.Call, held: set[str]) -> Iterator[str]:
    """``delattr`` of what exists, and ``setattr`` under a name that cannot be read or that switches."""
    if word(node.func) not in ("setattr", "delattr") or len(node.args) < 2:
        return
    target, name = node.args[:2]
    if not any(isinstance(part, ast.Name) and part.id in held for part in ast.walk(target)):
        return
    plain = isinstance(name, ast.Constant) and isinstance(name.value, str)
    if word(node.func) == "delattr" or not plain or getattr(name, "value", "") in SWITCHES:
        yield ast.unparse(node)[:60]


def _removed_by_namespace(node: ast.AST) -> Iterator[str]:
    """``del globals()[…]`` and ``vars(…).pop(…)`` while the module is loaded."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.Lambda):
            continue
        if isinstance(child, ast.Subscript) and isinstance(child.ctx, ast.Del) and _is_namespace(child.value):
            yield f"del {ast.unparse(child)}"[:60]
        elif (
            isinstance(child, ast.Call)
            and isinstance(child.func, ast.Attribute)
            and child.func.attr in _REMOVERS
            and _is_namespace(child.func.value)
        ):
            yield ast.unparse(child)[:60]
        yield from _removed_by_namespace(child)


def _is_namespace(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return word(node.func) in ("globals", "vars", "locals")
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _of_held(node: ast.Attribute | ast.Subscript, held: set[str]) -> Iterator[str]:
    """``test_a.__code__ = …`` and ``TestCase.assertEqual = …``."""
    if isinstance(node, ast.Attribute) and _ASSERTION.fullmatch(node.attr):
        yield ast.unparse(node)
    root: ast.expr = node
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if isinstance(root, ast.Name) and root.id in held:
        yield ast.unparse(node)


def _executed(tree: ast.Module, held: set[str]) -> Iterator[str]:
    """Text that is run as code while the module is loaded and that names what exists.

    Tests made by other text are left to the run, as the specification says.
    """
    calls = [call for call in _loaded_calls(tree) if word(call.func) in ("exec", "eval")]
    if not calls:
        return
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    named = [text for text in texts if held & set(re.findall(r"\w+", text))]
    for call in calls if named else []:
        yield f"{word(call.func)}()"


def _loaded_calls(node: ast.AST) -> Iterator[ast.Call]:
    """Calls that happen while the module or a class body is loaded."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.Lambda):
            continue
        if isinstance(child, ast.Call):
            yield child
        yield from _loaded_calls(child)


def bound_from_afar(node: ast.AST) -> Iterator[str]:
    """Names of tests and assertions that are set as an attribute, through ``global`` or by their text."""
    names: list[object] = []
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
        names = [node.attr]
    elif isinstance(node, ast.Global):
        names = [*node.names]
    elif isinstance(node, ast.Call) and word(node.func) in _SETTERS:
        names = [*(getattr(arg, "value", None) for arg in node.args), *(key.arg for key in node.keywords)]
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        names = [getattr(node.slice, "value", None)]
    yield from (name for name in names if isinstance(name, str) and _OF_TESTS.match(name))


def word(node: ast.expr) -> str:
    """The last word of a dotted name, '' for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
