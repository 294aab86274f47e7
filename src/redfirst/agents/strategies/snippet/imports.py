# SPDX-License-Identifier: Apache-2.0
"""Fits the imports of a test to its file: what the file has is reused, the rest joins its imports."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.import_lines import exploded, regrouped
from redfirst.agents.strategies.snippet.rename import (
    attributes_of,
    names_in,
    renameable,
    renamed,
    without_prefix,
)
from redfirst.agents.strategies.snippet.steps import bound_names, parse_quietly
from redfirst.agents.strategies.snippet.write import TestText

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Imported:
    """One imported thing. ``name``: '' for a module itself; ``bound``: the name it gets; ``spelt``: how it is used."""

    module: str
    name: str
    bound: str

    @property
    def path(self) -> str:
        """Its full dotted name."""
        return f"{self.module}.{self.name}" if self.name else self.module

    @property
    def spelt(self) -> str:
        """What code says for it: ``import a.b`` binds ``a`` and is used as ``a.b``."""
        return self.module if not self.name and self.bound == _root(self.module) else self.bound


@dataclass(frozen=True, slots=True)
class Fitted:
    """A test in the names of its file. ``top``: import lines for the file's head; those left in ``test`` are local."""

    test: TestText
    top: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What else is known of a file. ``package``: the one it belongs to, for its relative imports; ``same``: pairs of
    full dotted names that are one and the same object."""

    package: str = ""
    same: frozenset[frozenset[str]] = frozenset()


def fit_imports(test: TestText, text: str, known: Known) -> Fitted:
    """Rename, reuse and sort out the imports of ``test`` for a file with ``text``."""
    test = _as_names(test, text)
    names = _Names.of(text, known)
    own = names_in(test)
    renames: dict[str, str] = {}
    top: list[str] = []
    local: list[str] = []
    for line in exploded(test.imports):
        one = _single(line)
        if one is None:
            (local if line.startswith("from __future__") or text else top).append(line)
            continue
        held = names.known_as(one)
        if held == one.spelt:
            continue
        if (
            held
            and one.spelt == one.bound
            and not {one.bound, _root(held)} & own
            and renameable(test, one.bound)
        ):
            renames[one.bound] = held
        elif names.is_free(one):
            top.append(line)
        else:
            local.append(line)
    rest = replace(test, imports=regrouped(local))
    return Fitted(renamed(rest, renames) if renames else rest, regrouped(top))


def clashes(test: TestText, text: str, known: Known) -> list[tuple[str, str]]:
    """Full dotted names, of ``test`` and of its file, that get the same name and may be the same object."""
    names = _Names.of(text, known)
    ones = [one for line in exploded(test.imports) if (one := _single(line))]
    pairs = [
        (one.path, other.path)
        for one in ones
        for other in names.held
        if one.name and one.bound == other.bound and one.path != other.path
    ]
    return list(dict.fromkeys(pairs))


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a file's module. ``held``: what it imports; ``bound``: how often it binds each name."""

    held: tuple[Imported, ...]
    bound: Counter[str]
    defined: frozenset[str]
    same: frozenset[frozenset[str]]

    @classmethod
    def of(cls, text: str, known: Known) -> _Names:
        body = parse_quietly(text)
        held = tuple(one for tree in body for one in _imported(tree, known.package))
        nodes = list(ast.walk(ast.Module(body, [])))
        defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        return cls(held, _bound(body), frozenset(defined), known.same)

    def known_as(self, one: Imported) -> str:
        """How the file calls what ``one`` imports, '' if it does not know it."""
        for other in self.held:
            same = other.path == one.path or frozenset((other.path, one.path)) in self.same
            if same and self.bound[other.bound] == 1:
                return other.spelt
        for other in self.held:
            if one.name and other.path == one.module and self.bound[other.bound] == 1:
                return f"{other.spelt}.{one.name}"
        return ""

    def is_free(self, one: Imported) -> bool:
        """Whether an import at the head of the file takes no name that is used for something else.

        A function or class inside another that has the name would not be reached, but it would confuse.
        """
        packages = {
            other.bound for other in self.held if not other.name and other.bound == _root(other.module)
        }
        if not one.name and one.bound == _root(one.module) and one.bound in packages:
            return self.bound[one.bound] == 1
        return one.bound not in self.bound and one.bound not in self.defined


def _bound(body: Sequence[ast.stmt]) -> Counter[str]:
    """How often the module binds each name, in its blocks too; all ``import a.b`` of one package count once."""
    found: Counter[str] = Counter()
    packages: set[str] = set()
    for tree in _flat(body):
        names = set(bound_names([tree])) - (packages if isinstance(tree, ast.Import) else set())
        found.update(names)
        if isinstance(tree, ast.Import):
            packages |= {_root(alias.name) for alias in tree.names if not alias.asname}
    return found


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those in its blocks in the place of these; what a block's head binds as well."""
    for tree in body:
        blocks = [
            block for block in ast.iter_child_nodes(tree) if isinstance(block, ast.stmt | ast.ExceptHandler)
        ]
        if isinstance(tree, _DEFINITIONS) or not blocks:
            yield tree
            continue
        heads = [node for node in ast.iter_child_nodes(tree) if isinstance(node, ast.expr)]
        heads += [item.optional_vars for item in getattr(tree, "items", []) if item.optional_vars]
        yield from map(ast.Expr, heads)
        for block in blocks:
            yield from _flat([block] if isinstance(block, ast.stmt) else block.body)


def _as_names(test: TestText, text: str) -> TestText:
    """``import m`` with uses ``m.name`` becomes ``from m import name`` where that is how the file has it."""
    body = parse_quietly(text)
    taken = set(_bound(body)) | set(dir(builtins)) | names_in(test)
    for line in exploded(test.imports):
        one = _single(line)
        if one is None or one.name or one.bound != one.module or one.bound in _bound(body):
            continue
        if not any(isinstance(tree, ast.ImportFrom) and tree.module == one.module for tree in body):
            continue
        used = attributes_of(test, one.bound)
        if used and not used & taken and renameable(test, one.bound):
            lines = [other for other in exploded(test.imports) if other != line]
            lines += [f"from {one.module} import {name}" for name in sorted(used)]
            test = without_prefix(replace(test, imports=tuple(dict.fromkeys(lines))), one.bound)
    return test


def _root(name: str) -> str:
    return name.partition(".")[0]


def _single(line: str) -> Imported | None:
    """The one thing that a line imports; None for a star, a relative or a future import."""
    body = parse_quietly(line)
    found = list(_imported(body[0])) if len(body) == 1 else []
    return found[0] if len(found) == 1 else None


def _imported(tree: ast.stmt, package: str = "") -> list[Imported]:
    """What a statement imports; a relative import is resolved where the package of its file is known."""
    if isinstance(tree, ast.Import):
        return [Imported(a.name, "", a.asname or _root(a.name)) for a in tree.names]
    if not isinstance(tree, ast.ImportFrom) or tree.module == "__future__":
        return []
    module = _absolute(tree, package)
    names = [alias for alias in tree.names if module and alias.name != "*"]
    return [Imported(module, alias.name, alias.asname or alias.name) for alias in names]


def _absolute(tree: ast.ImportFrom, package: str) -> str:
    """The full name of the module; '' where that is not known."""
    if not tree.level:
        return tree.module or ""
    parts = package.split(".") if package else []
    if tree.level > len(parts):
        return ""
    above = parts[: len(parts) - tree.level + 1]
    return ".".join([*above, *([tree.module] if tree.module else [])])
