# SPDX-License-Identifier: Apache-2.0
"""Finds where the project defines a name that a report uses without an import: the one module that has it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from redfirst.agents.strategies.snippet.needed import used_names
from redfirst.agents.strategies.snippet.project import import_folders, packages
from redfirst.agents.strategies.snippet.steps import Step, bound_names
from redfirst.agents.task import Gate

_MAX_FILES = 3_000
_MAX_BYTES = 600_000
_KNOWN = frozenset(dir(builtins))


def undefined(steps: Iterable[Step]) -> frozenset[str]:
    """Names that statements read and none of them binds, at any depth."""
    read: set[str] = set()
    bound: set[str] = set()
    for step in steps:
        if step.tree is not None:
            read |= used_names(step.tree)
            bound |= set(bound_names([step.tree])) | _inner(step.tree)
    return frozenset(read - bound - _KNOWN)


def _inner(tree: ast.stmt) -> set[str]:
    """Names bound inside a statement: arguments, loop variables, caught errors, inner functions and classes."""
    nodes = list(ast.walk(tree))
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    caught = {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    inner = [node for node in nodes if isinstance(node, ast.stmt)]
    return arguments | stored | caught | set(bound_names(inner))


def attributes(steps: Iterable[Step]) -> dict[str, frozenset[str]]:
    """Name → what is read of it, for names that are used in no other way than as ``name.attribute``."""
    plain: set[str] = set()
    found: dict[str, set[str]] = {}
    for step in steps:
        nodes = list(ast.walk(step.tree)) if step.tree else []
        bases = [
            (n, n.value) for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
        ]
        for node, base in bases:
            found.setdefault(base.id, set()).add(node.attr)
        inside = {id(base) for _, base in bases}
        plain |= {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in inside}
    return {name: frozenset(held) for name, held in found.items() if name not in plain}


def homes_of(
    gate: Gate,
    names: Collection[str],
    read: Mapping[str, Collection[str]] = MappingProxyType({}),
    hints: Sequence[str] = (),
) -> dict[str, str]:
    """Name → import line, for the names that one module of the project alone defines as a function or a class,
    or that are its only module of that name and define all that is ``read`` of them.

    ``hints``: paths of source files that the report shows; of several modules that define a name the one
    that a hint names is taken. A name that stays unclear is left out.
    """
    if not names:
        return {}
    places: dict[str, list[tuple[str, str]]] = {}
    pattern = _definition(names)
    for path, module in project_modules(gate):
        package, _, stem = module.rpartition(".")
        if package and stem in names and _has(gate, path, read.get(stem, ())):
            places.setdefault(stem, []).append((path, f"from {package} import {stem}"))
        for name in set(pattern.findall(_text(gate, path))):
            places.setdefault(name, []).append((path, f"from {module} import {name}"))
    chosen = {name: _one(found, hints) for name, found in places.items()}
    return {name: line for name, line in chosen.items() if line}


def _has(gate: Gate, path: str, wanted: Collection[str]) -> bool:
    """Whether a module defines, or imports, all of ``wanted``, and something is wanted at all."""
    text = _text(gate, path)
    return bool(wanted) and all(
        re.search(rf"^\S.*\b{re.escape(name)}\b", text, re.MULTILINE) for name in wanted
    )


def _definition(names: Collection[str]) -> re.Pattern[str]:
    words = "|".join(re.escape(name) for name in sorted(names))
    return re.compile(rf"^(?:async def|def|class) ({words})\b", re.MULTILINE)


def _one(found: list[tuple[str, str]], hints: Sequence[str]) -> str:
    lines = dict.fromkeys(line for _, line in found)
    if len(lines) == 1:
        return next(iter(lines))
    hinted = dict.fromkeys(line for path, line in found if any(_same_file(path, hint) for hint in hints))
    return next(iter(hinted)) if len(hinted) == 1 else ""


def _same_file(path: str, hint: str) -> bool:
    """Whether a path that a report shows ends like one of Base: two parts of it, or all that it has."""
    real, shown = path.split("/"), hint.replace("\\", "/").split("/")
    return len(shown) > 1 and real[-2:] == shown[-2:]


def project_modules(gate: Gate) -> Iterator[tuple[str, str]]:
    """Path and dotted name of every module of the project's own packages."""
    own = set(packages(gate))
    folders = sorted((folder for folder in import_folders(gate)), key=len, reverse=True)
    count = 0
    for path in gate.base_files():
        if not path.endswith(".py") or count >= _MAX_FILES:
            continue
        for folder in folders:
            inside = path.removeprefix(f"{folder}/") if folder else path
            if folder and inside == path:
                continue
            module = inside.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            if module.partition(".")[0] in own and not gate.is_test(path):
                count += 1
                yield path, module
            break


def fixture_homes(gate: Gate, names: Collection[str]) -> frozenset[str]:
    """Modules of the project that define a test fixture of one of these names: a plugin's own."""
    if not names:
        return frozenset()
    words = "|".join(re.escape(name) for name in sorted(names))
    pattern = re.compile(rf"^@(?:pytest\.)?fixture\b[^\n]*\n(?:async )?def (?:{words})\b", re.MULTILINE)
    return frozenset(module for path, module in project_modules(gate) if pattern.search(_text(gate, path)))


def _text(gate: Gate, path: str) -> str:
    data = gate.read(path) or b""
    return data.decode("utf-8", "replace") if len(data) <= _MAX_BYTES else ""
