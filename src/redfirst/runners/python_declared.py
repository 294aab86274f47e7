# SPDX-License-Identifier: Apache-2.0
"""Test ids that the text of a Python file plainly defines, and how ids are compared."""

from __future__ import annotations

import ast
import posixpath
import re
import warnings
from collections.abc import Iterable

_TEST_FILE = re.compile(r"(^|_)tests?(_|\.py$)")


def split_id(node: str) -> tuple[str, tuple[str, ...]]:
    """A pytest id as (path, names); the case stays with the last name, whatever it holds.

    A bare name is a path without names.
    """
    path, separator, rest = node.partition("::")
    if not separator or path.count("[") != path.count("]"):  # the separator lies inside a case
        return node, ()
    head, bracket, case = rest.partition("[")
    names = head.split("::")
    names[-1] += bracket + case
    return path, tuple(names)


def base_name(node: str) -> str:
    """An id without its case."""
    path, names = split_id(node)
    at = node.find("[", len(path) if names else 0)
    return node[:at] if at >= 0 and node.endswith("]") else node


def parsed(text: bytes) -> ast.Module | None:
    """The syntax tree of a file, or None if it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def statements(body: Iterable[ast.stmt]) -> Iterable[ast.stmt]:
    """The statements of a body, those under `if`, `try` and `with` included."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody", "handlers"):
            if isinstance(node, ast.If | ast.Try | ast.With):
                for inner in getattr(node, field, []):
                    yield from statements(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def class_bodies(body: Iterable[ast.stmt]) -> dict[str, ast.ClassDef]:
    """The classes that a body defines, by name; the last definition counts."""
    return {node.name: node for node in statements(body) if isinstance(node, ast.ClassDef)}


def pytest_tests(path: str, text: bytes) -> tuple[str, ...] | None:
    """Ids of the pytest tests that a file defines; None if it does not parse."""
    if not _is_test_file(path):
        return ()
    tree = parsed(text)
    if tree is None:
        return None
    functions = [f"{path}::{name}" for name in _functions(tree.body)]
    classes = class_bodies(tree.body)
    found = [test for name in classes for test in _class_tests(name, classes, f"{path}::")]
    return tuple(dict.fromkeys(functions + found))


def unittest_tests(path: str, text: bytes) -> tuple[str, ...] | None:
    """Dotted names of the unittest tests that a file defines; None if it does not parse."""
    if not path.endswith(".py"):
        return ()
    tree = parsed(text)
    if tree is None:
        return None
    module = path[: -len(".py")].replace("/", ".")
    classes = class_bodies(tree.body)
    return tuple(
        f"{module}.{name}.{method}"
        for name in classes
        if _is_case(name, classes)
        for method in _methods(name, classes, "test")
    )


def _is_test_file(path: str) -> bool:
    name = posixpath.basename(path)
    return name.endswith(".py") and bool(_TEST_FILE.search(name)) and name != "conftest.py"


def _functions(body: Iterable[ast.stmt]) -> list[str]:
    return [
        node.name
        for node in statements(body)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test")
        and not _is_fixture(node)
    ]


def _is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    targets = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    return any(_last_name(target) in ("fixture", "yield_fixture") for target in targets)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _class_tests(name: str, classes: dict[str, ast.ClassDef], prefix: str) -> list[str]:
    node = classes[name]
    is_case = _is_case(name, classes)
    if not is_case and (not name.startswith("Test") or _has_init(name, classes)):
        return []
    if _opted_out(node):
        return []
    own = f"{prefix}{name}::"
    found = [own + method for method in _methods(name, classes, "test")]
    inner = class_bodies(node.body)
    return found + [test for child in inner for test in _class_tests(child, inner, own) if not is_case]


def _methods(name: str, classes: dict[str, ast.ClassDef], prefix: str) -> list[str]:
    """Test methods of a class, those of its bases in the same file included."""
    found: dict[str, None] = {}
    for ancestor in reversed(_ancestry(name, classes)):
        found.update(dict.fromkeys(_functions(ancestor.body)))
    return [method for method in found if method.startswith(prefix)]


def _ancestry(name: str, classes: dict[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """The class and its bases in the same file, nearest first."""
    found: list[ast.ClassDef] = []
    queue = [name]
    while queue:
        node = classes.get(queue.pop(0))
        if node is not None and node not in found:
            found.append(node)
            queue += [_last_name(base) for base in node.bases]
    return found


def _is_case(name: str, classes: dict[str, ast.ClassDef]) -> bool:
    bases = [_last_name(base) for node in _ancestry(name, classes) for base in node.bases]
    return any(base.endswith("TestCase") and base not in classes for base in bases)


def _has_init(name: str, classes: dict[str, ast.ClassDef]) -> bool:
    return any(
        isinstance(item, ast.FunctionDef) and item.name in ("__init__", "__new__")
        for node in _ancestry(name, classes)
        for item in node.body
    )


def _opted_out(node: ast.ClassDef) -> bool:
    return any(
        isinstance(item, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "__test__" for target in item.targets)
        and isinstance(item.value, ast.Constant)
        and item.value.value is False
        for item in node.body
    )
