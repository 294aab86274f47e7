# SPDX-License-Identifier: Apache-2.0
"""Which hooks of the test runners a Python file brings, in any form."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from redfirst.patches.python_names import bound_here

_NAMES = frozenset({"pytest_plugins", "load_tests", "collect_ignore", "collect_ignore_glob"})
_SETTERS = frozenset(
    {"setattr", "delattr", "globals", "locals", "vars", "__dict__", "update", "setdefault", "__setitem__"}
)
_HOOK = re.compile(r"pytest_[a-z_]+|load_tests")
_HOOK_IN_CODE = re.compile(r"\b(?:pytest_\w+|load_tests)\b")
# What takes such a text for the name of a module or of a parameter.
_HARMLESS = frozenset(
    {"importorskip", "import_module", "__import__", "find_spec", "hasplugin", "has_plugin", "parametrize"}
)
_TEXT = re.compile(
    rb"^[ \t]*(?:async[ \t]+)?(?:def[ \t]+)?(pytest_\w+|load_tests|collect_ignore\w*)[ \t]*(?:\(|=[^=]|:)",
    re.MULTILINE,
)


def new_hooks(path: str, old: ast.Module, new: ast.Module) -> list[str]:
    """Hooks that the new text binds and the old one did not, or binds in another way; sorted names."""
    added = Counter(_hooks(path, new)) - Counter(_hooks(path, old))
    return sorted({name for name, _ in added})


def new_hooks_of_text(old: bytes, new: bytes) -> list[str]:
    """The same for a text that this Python cannot parse, by lines."""
    added = Counter(_TEXT.findall(new)) - Counter(_TEXT.findall(old))
    return sorted(name.decode("ascii", "replace") for name in added)


def _hooks(path: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Name and wording of each binding."""
    conftest = path.rsplit("/", 1)[-1] == "conftest.py"
    for node in ast.walk(tree):
        yield from ((name, ast.dump(node)) for name in _bound_anywhere(node, conftest) if is_hook(name))
    for statement in tree.body:
        for node in _outside_functions(statement):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                name = node.id if isinstance(node, ast.Name) else node.attr
                if is_hook(name):
                    yield name, ast.dump(statement)
            elif not isinstance(node, ast.Name):
                names = [*bound_here(node), *_loaded_texts(node)]
                yield from ((name, ast.dump(statement)) for name in names if is_hook(name))


def _bound_anywhere(node: ast.AST, conftest: bool) -> Iterator[str]:
    """Names that this one node binds in a way that counts at any depth."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from _imported(node, conftest)
    elif isinstance(node, ast.Call):
        yield from _set_by_text(node)
        yield from _run_as_code(node)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        yield from _texts([node.slice])
    elif isinstance(node, ast.Attribute) and node.attr == "hookimpl":
        yield "pytest_ (hookimpl)"
    elif isinstance(node, ast.Global):
        yield from node.names


def is_hook(name: str) -> bool:
    """Whether a runner would take a thing of this name for its own."""
    return name.startswith("pytest_") or name in _NAMES


def _imported(node: ast.Import | ast.ImportFrom, conftest: bool) -> Iterator[str]:
    """A module such as ``pytest_asyncio`` is no hook; a name out of a module may be one."""
    for alias in node.names:
        if alias.name == "*" and conftest:
            yield f"pytest_ (everything of {getattr(node, 'module', None) or '.'})"
        elif alias.asname is not None or isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name


def _set_by_text(node: ast.Call) -> Iterator[str]:
    words = {part.id if isinstance(part, ast.Name) else part.attr for part in ast.walk(node.func)
             if isinstance(part, ast.Name | ast.Attribute)}  # fmt: skip
    if words & _SETTERS:
        yield from _texts(node.args)
        yield from (
            text for arg in node.args if isinstance(arg, ast.Dict) for text in _texts(filter(None, arg.keys))
        )
        yield from (key.arg for key in node.keywords if key.arg)


def _run_as_code(node: ast.Call) -> Iterator[str]:
    if isinstance(node.func, ast.Name | ast.Attribute) and _last(node.func) in ("exec", "eval"):
        for part in (inner for arg in node.args for inner in ast.walk(arg)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield from _HOOK_IN_CODE.findall(part.value)


def _loaded_texts(node: ast.AST) -> Iterator[str]:
    """Texts that are exactly the name of a hook: keys, arguments and subscripts."""
    nodes: Iterable[ast.expr] = ()
    if isinstance(node, ast.Dict):
        nodes = filter(None, node.keys)
    elif isinstance(node, ast.Call) and _last(node.func) not in _HARMLESS:
        nodes = node.args
    elif isinstance(node, ast.Subscript):
        nodes = [node.slice]
    yield from (text for text in _texts(nodes) if _HOOK.fullmatch(text))


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _texts(nodes: Iterable[ast.expr]) -> Iterator[str]:
    yield from (n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it, but not what functions hold."""
    yield node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _outside_functions(child)
