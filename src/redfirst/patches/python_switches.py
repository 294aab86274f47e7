# SPDX-License-Identifier: Apache-2.0
"""What a patched Python file may switch existing tests off with: skips, expected failures, ``__test__``."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from redfirst.patches.python_grown import SWITCHES

_SETUP = re.compile(
    r"set_?up(?:_?(?:class|module|method|function|testdata))?|asyncsetup|setUp\w*", re.IGNORECASE
)
_OUTCOMES = frozenset({"Skipped", "XFailed", "Exit"})
_TEXT = re.compile(
    rb"pytestmark[ \t]*=|\b(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure|skipTest|SkipTest|importorskip)\b"
)


def new_switches(before: ast.Module, after: ast.Module) -> list[str]:
    """Switches that reach more than the tests and functions that the patch adds."""
    known = {node.name for node in ast.walk(before) if isinstance(node, _DEFINITIONS)}
    added = Counter(_reaching(after, known)) - Counter(_reaching(before, None))
    return sorted(added)


def new_switches_of_text(old: bytes, new: bytes) -> list[str]:
    """The same for a text that this Python cannot parse."""
    added = Counter(_TEXT.findall(new)) - Counter(_TEXT.findall(old))
    return sorted(name.decode("ascii").rstrip(" \t=") for name in added)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _reaching(node: ast.AST, known: set[str] | None) -> Iterator[str]:
    """Names of switches below ``node``; definitions that are new (not in ``known``) count only if they run for all."""
    for child in ast.iter_child_nodes(node):
        if (
            isinstance(child, _DEFINITIONS)
            and known is not None
            and child.name not in known
            and not _runs_for_all(child)
        ):
            continue
        if isinstance(child, ast.Assign | ast.AnnAssign) and isinstance(node, ast.Module):
            yield from _assigned(child, known)
            continue
        if isinstance(child, ast.Attribute) and child.attr in SWITCHES:
            yield child.attr
        elif isinstance(child, ast.Name) and child.id in SWITCHES:
            yield child.id
        elif isinstance(child, ast.Name) and child.id == "pytestmark" and isinstance(child.ctx, ast.Store):
            yield "pytestmark"
        yield from _outcome(child)
        yield from _reaching(child, known)


def _outcome(node: ast.AST) -> Iterator[str]:
    """What ``pytest.skip`` and its like raise, raised by hand; ``pytest.exit``."""
    if isinstance(node, ast.Raise) and node.exc is not None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if isinstance(raised, ast.Attribute | ast.Name) and _word(raised) in _OUTCOMES:
            yield _word(raised)
    elif isinstance(node, ast.ImportFrom) and node.module == "_pytest.outcomes":
        yield from (alias.name for alias in node.names if alias.name in _OUTCOMES)
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.exit":
        yield "exit"


def _assigned(node: ast.Assign | ast.AnnAssign, known: set[str] | None) -> Iterator[str]:
    """A mark kept under a name of its own switches nothing off; ``pytestmark`` marks the whole module."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}
    attributes = {
        inner.attr for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Attribute)
    }
    if "pytestmark" in names | attributes:
        yield f"pytestmark = {ast.unparse(node.value) if node.value else ''}"[:80]
    elif attributes or names & SWITCHES:
        yield from sorted(attributes & SWITCHES | names & SWITCHES)
        if node.value is not None:
            yield from _reaching(node.value, known)
    elif known is None or not isinstance(node.value, ast.Call | ast.Attribute):
        return
    elif _calls_now(node.value):
        yield "importorskip"


def _calls_now(value: ast.expr) -> bool:
    """``numpy = pytest.importorskip("numpy")`` skips the module at once."""
    return any(
        isinstance(node, ast.Attribute | ast.Name) and _word(node) == "importorskip"
        for node in ast.walk(value)
    )


def _word(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _runs_for_all(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Set-up functions and fixtures that every test gets without asking."""
    if isinstance(node, ast.ClassDef):
        return False
    if _SETUP.fullmatch(node.name):
        return True
    return any(
        key.arg == "autouse"
        for item in node.decorator_list
        if isinstance(item, ast.Call)
        for key in item.keywords
    )
