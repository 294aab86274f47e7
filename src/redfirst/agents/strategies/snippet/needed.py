# SPDX-License-Identifier: Apache-2.0
"""Picks the statements of a report that a test needs: what the shown result depends on."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.probe import Seen
from redfirst.agents.strategies.snippet.spawn import FOLDER
from redfirst.agents.strategies.snippet.steps import Step, bound_names

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True)
class Needed:
    """Statements of a test in the report's order. ``imports``: import lines, the supplied ones included.

    ``definitions``: what belongs at the level of the module; ``body``: indices of steps for the test itself.
    """

    imports: tuple[str, ...]
    definitions: tuple[int, ...]
    body: tuple[int, ...]


def used_names(tree: ast.AST) -> set[str]:
    """Names that a tree reads."""
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}


def needed(
    steps: Sequence[Step], seen: Sequence[Seen], wanted: frozenset[int], reads: frozenset[str] = frozenset()
) -> Needed:
    """What steps ``wanted`` (and code that reads the names ``reads``) need of the steps up to the last of them."""
    last = max(wanted)
    trees = [step.tree for step in steps[: last + 1]]
    variables = _variables(trees)
    names = set(reads)
    kept: set[int] = set()
    for index in range(last, -1, -1):
        tree = trees[index]
        if tree is None or isinstance(tree, _IMPORTS) or _is_spare(steps, index, kept):
            continue
        if index in wanted or _serves(steps, index, kept) or _matters(tree, seen[index], names, variables):
            kept.add(index)
            names |= used_names(tree)
    imports = _imports(trees, seen, names)
    return _layout(trees, kept, imports)


def _serves(steps: Sequence[Step], index: int, kept: set[int]) -> bool:
    """Whether a step writes a file, or makes the folder for it, that later ones of ``kept`` can need."""
    step = steps[index]
    if step.file:
        stem = step.file.rpartition("/")[2].removesuffix(".py")
        return any(steps[other].command or steps[other].file or stem in steps[other].code for other in kept)
    return step.code == FOLDER and any(steps[other].file for other in kept)


def _is_spare(steps: Sequence[Step], index: int, kept: set[int]) -> bool:
    step = steps[index]
    return bool((step.file or step.code == FOLDER) and not _serves(steps, index, kept))


def _variables(trees: Sequence[ast.stmt | None]) -> set[str]:
    """Names bound by anything but imports and definitions: objects that later statements may change."""
    plain = [tree for tree in trees if tree and not isinstance(tree, (*_IMPORTS, *_DEFINITIONS))]
    return set(bound_names(plain))


def _matters(tree: ast.stmt, seen: Seen, names: set[str], variables: set[str]) -> bool:
    """Whether leaving this statement out could change what the needed ones do."""
    if seen.raised is not None or isinstance(tree, ast.Assert):
        return False
    if set(bound_names([tree])) & names or _changed_roots(tree) & names:
        return True
    if isinstance(tree, _DEFINITIONS):
        return False
    if isinstance(tree, ast.Expr):
        return _effect(tree.value, seen, names & variables)
    return bool(used_names(tree) & names & variables)


def _effect(value: ast.expr, seen: Seen, shared: set[str]) -> bool:
    """Whether an expression statement may have an effect on what is shared with the needed ones."""
    if isinstance(value, ast.Constant | ast.Name):
        return False
    printing = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print"
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    if printing and len(calls) == 1:
        return False
    silent = seen.value is not None and seen.value.type == "builtins.NoneType" and not seen.out
    return bool(used_names(value) & shared) or (silent and not printing)


def _changed_roots(tree: ast.stmt) -> set[str]:
    """Names whose attributes or items a statement sets or deletes."""
    roots = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            inner: ast.expr = node
            while isinstance(inner, ast.Attribute | ast.Subscript | ast.Call):
                inner = inner.func if isinstance(inner, ast.Call) else inner.value
            if isinstance(inner, ast.Name):
                roots.add(inner.id)
    return roots


def _imports(trees: Sequence[ast.stmt | None], seen: Sequence[Seen], names: set[str]) -> tuple[str, ...]:
    found: list[str] = []
    for index, tree in enumerate(trees):
        found += [line for line in seen[index].imports if imported_name(line) in names]
        if isinstance(tree, ast.Import):
            found += [_import(a) for a in tree.names if (a.asname or a.name.partition(".")[0]) in names]
        elif isinstance(tree, ast.ImportFrom):
            found += _from(tree, names)
    return tuple(dict.fromkeys(found))


def _import(alias: ast.alias) -> str:
    return ast.unparse(ast.Import([alias]))


def _from(tree: ast.ImportFrom, names: set[str]) -> list[str]:
    """A from-import cut down to the needed names; a star or a future import is kept whole."""
    star = any(alias.name == "*" for alias in tree.names)
    picked = [alias for alias in tree.names if star or (alias.asname or alias.name) in names]
    if tree.module == "__future__":
        picked = tree.names
    return [ast.unparse(ast.ImportFrom(tree.module, picked, tree.level))] if picked else []


def imported_name(line: str) -> str:
    """The name that a one-name import line binds."""
    return next(bound_names(ast.parse(line).body), "")


def _layout(trees: Sequence[ast.stmt | None], kept: set[int], imports: tuple[str, ...]) -> Needed:
    """Definitions go to the module; so does all before the last of them if they read variables."""
    definitions = sorted(i for i in kept if isinstance(trees[i], _DEFINITIONS))
    others = sorted(kept - set(definitions))
    bound = set(bound_names(trees[i] for i in others))
    reading = (
        set().union(*(used_names(tree) for i in definitions if (tree := trees[i]))) if definitions else set()
    )
    if reading & bound:
        definitions = sorted(i for i in kept if i <= definitions[-1])
        others = [i for i in others if i > definitions[-1]]
    return Needed(imports, tuple(definitions), tuple(others))
