# SPDX-License-Identifier: Apache-2.0
"""What the text of a Python test rests on: its own lines, and the helpers and fixtures that it names.

By names alone: what is reached through ``getattr``, star imports or plugins is not seen. Comments, layout
and docstrings do not count.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from redfirst.runners.python_declared import class_bodies, parsed, statements

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SET_UP = frozenset(
    {"setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown", "setUpTestData"}
    | {"setup", "teardown", "setup_method", "teardown_method", "setup_class", "teardown_class", "fixtures"}
)
_MODULE_SET_UP = frozenset(
    {"setUpModule", "tearDownModule", "setup_module", "teardown_module", "setup_function", "pytestmark"}
    | {"teardown_function"}
)
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Uses:
    """Identifiers of some nodes: bare names, attributes, and what may name a fixture."""

    names: frozenset[str]
    attributes: frozenset[str]
    fixtures: frozenset[str]


def uses_of(nodes: Iterable[ast.AST]) -> Uses:
    """What the given syntax names."""
    names, attributes, fixtures = set(), set(), set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.Attribute):
                attributes.add(node.attr)
            elif isinstance(node, ast.arg):
                fixtures.add(node.arg)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                fixtures |= {word.strip() for word in node.value.split(",") if word.strip().isidentifier()}
    return Uses(frozenset(names), frozenset(attributes), frozenset(fixtures))


def shown(node: ast.AST, *, decorators: bool = True) -> str:
    """Syntax as text without places and docstrings; ``decorators``: with those of a function or class."""
    copy = ast.parse(ast.unparse(node)).body[0] if isinstance(node, ast.stmt) else node
    for inner in ast.walk(copy):
        if isinstance(inner, Function | ast.ClassDef) and ast.get_docstring(inner, clean=False) is not None:
            inner.body = inner.body[1:] or [ast.Pass()]
    if isinstance(copy, Function | ast.ClassDef) and not decorators:
        copy.decorator_list = []
    return ast.dump(copy)


def is_fixture(node: ast.AST) -> bool:
    """Whether a function is one of pytest's fixtures."""
    return isinstance(node, Function) and any(_last(item) == "fixture" for item in node.decorator_list)


def _last(node: ast.expr) -> str:
    target = node.func if isinstance(node, ast.Call) else node
    if isinstance(target, ast.Attribute):
        return target.attr.removeprefix("yield_")
    return target.id.removeprefix("yield_") if isinstance(target, ast.Name) else ""


def _is_automatic(node: ast.AST) -> bool:
    return (
        is_fixture(node)
        and isinstance(node, Function)
        and any(
            isinstance(item, ast.Call) and any(word.arg == "autouse" for word in item.keywords)
            for item in node.decorator_list
        )
    )


def _fixture_name(node: ast.AST) -> str:
    """The name under which a fixture is asked for."""
    assert isinstance(node, Function)
    for item in node.decorator_list:
        for word in item.keywords if isinstance(item, ast.Call) else ():
            if word.arg == "name" and isinstance(word.value, ast.Constant):
                return str(word.value.value)
    return node.name


@dataclass(frozen=True)
class PythonText:
    """One parsed module."""

    path: str
    tree: ast.Module

    @cached_property
    def definitions(self) -> Mapping[str, list[ast.stmt]]:
        """What the module binds at its top, imports included."""
        found: dict[str, list[ast.stmt]] = {}
        for node in statements(self.tree.body):
            for name in _bound(node):
                found.setdefault(name, []).append(node)
        return found

    @cached_property
    def fixtures(self) -> Mapping[str, Function]:
        """Fixtures at the top of the module, by the name they are asked for."""
        functions = [node for node in statements(self.tree.body) if isinstance(node, Function)]
        return {_fixture_name(node): node for node in functions if is_fixture(node)}

    @cached_property
    def classes(self) -> Mapping[str, ast.ClassDef]:
        return class_bodies(self.tree.body)

    @cached_property
    def implicit(self) -> tuple[ast.stmt, ...]:
        """What every test of the module rests on without naming it."""
        return tuple(
            node
            for name, nodes in self.definitions.items()
            for node in nodes
            if name in _MODULE_SET_UP or _is_automatic(node)
        )

    def test(self, names: tuple[str, ...]) -> Function | None:
        """The function of a test by its chain of names, in a class of this module or its bases here."""
        if len(names) == 1:
            return next((n for n in self.definitions.get(names[0], ()) if isinstance(n, Function)), None)
        for owner in self.lineage(names[:-1]):
            for node in statements(owner.body):
                if isinstance(node, Function) and node.name == names[-1]:
                    return node
        return None

    def lineage(self, names: tuple[str, ...]) -> list[ast.ClassDef]:
        """The class that a chain of names leads to, and its bases in this module, nearest first."""
        classes: Mapping[str, ast.ClassDef] = self.classes
        for name in names[:-1]:
            if name not in classes:
                return []
            classes = class_bodies(classes[name].body)
        found, waiting = [], [names[-1]]
        while waiting:
            name = waiting.pop(0)
            node = classes.get(name) or self.classes.get(name)
            if node is not None and node not in found:
                found.append(node)
                waiting += [_last(base) for base in node.bases]
        return found


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, Function | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    elif isinstance(node, ast.For):
        return sorted(
            {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        )
    return [inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)]


@dataclass
class Texts:
    """The Python modules of one side that matter: test files, and the helpers and conftest files that changed."""

    read: Callable[[str], bytes | None]
    helpers: tuple[str, ...] = ()
    _parsed: dict[str, PythonText | None] = field(default_factory=dict)

    def module(self, path: str) -> PythonText | None:
        """The parsed file, or None where there is none or it does not parse."""
        if path not in self._parsed:
            data = self.read(path)
            tree = parsed(data) if data is not None else None
            self._parsed[path] = None if tree is None else PythonText(path, tree)
        return self._parsed[path]

    def own(self, path: str, names: tuple[str, ...], *, decorators: bool = True) -> str | None:
        """The test's own text; None where its file does not plainly hold it."""
        module = self.module(path)
        found = module.test(names) if module is not None else None
        return shown(found, decorators=decorators) if found is not None else None

    def line(self, path: str, names: tuple[str, ...]) -> int:
        """Where the test begins, 0 where that is not plain."""
        module = self.module(path)
        found = module.test(names) if module is not None else None
        return found.lineno if found is not None else 0

    def rests_on(self, path: str, names: tuple[str, ...]) -> dict[Key, str]:
        """Everything that the test reaches by name, itself left out, as (file, name) → text."""
        module = self.module(path)
        found = module.test(names) if module is not None else None
        if module is None or found is None:
            return {}
        walk = _Walk(self)
        walk.follow(module, uses_of([found]), lineage=module.lineage(names[:-1]) if names[1:] else [])
        for node in module.implicit:
            walk.take(module, node, f"{getattr(node, 'name', 'pytestmark')}")
        for owner in self._conftests(path):
            for node in owner.implicit:
                walk.take(owner, node, getattr(node, "name", ""))
        return walk.found

    def _conftests(self, path: str) -> list[PythonText]:
        """Changed conftest files above a test file."""
        above = [h for h in self.helpers if posixpath.basename(h) == "conftest.py"]
        found = [h for h in above if path.startswith(posixpath.dirname(h) + "/") or "/" not in h]
        return [module for h in found if (module := self.module(h)) is not None]

    def fixture(self, path: str, name: str) -> tuple[PythonText, ast.stmt] | None:
        """The fixture of this name in the nearest changed conftest file."""
        for owner in sorted(self._conftests(path), key=lambda text: -len(text.path)):
            if name in owner.fixtures:
                return owner, owner.fixtures[name]
        return None

    def imported(self, path: str, node: ast.stmt, name: str) -> list[tuple[PythonText, str]]:
        """Changed helper modules that an import binds to ``name``; with the name inside, '' for the module."""
        found = []
        for module, inner in _import_targets(path, node, name):
            for helper in self.helpers:
                if _is_module(helper, module) and (text := self.module(helper)) is not None:
                    found.append((text, inner))
        return found


def _import_targets(path: str, node: ast.stmt, name: str) -> list[tuple[str, str]]:
    """(file path without suffix, name inside) pairs that an import may mean."""
    if isinstance(node, ast.Import):
        return [
            (alias.name.replace(".", "/"), "")
            for alias in node.names
            if name in (alias.asname, alias.name.partition(".")[0])
        ]
    if not isinstance(node, ast.ImportFrom):
        return []
    folder = path.split("/")[:-1]
    prefix = "/".join(folder[: len(folder) - node.level + 1]) if node.level else ""
    module = "/".join(part for part in (prefix, (node.module or "").replace(".", "/")) if part)
    found = []
    for alias in node.names:
        if name == (alias.asname or alias.name):
            found += [(module, alias.name), (f"{module}/{alias.name}".strip("/"), "")]
    return found


def _is_module(path: str, module: str) -> bool:
    bare = path.removesuffix(".py").removesuffix("/__init__")
    return bool(module) and (bare == module or bare.endswith("/" + module))


@dataclass
class _Walk:
    """The names reached so far."""

    texts: Texts
    found: dict[Key, str] = field(default_factory=dict)

    def follow(self, module: PythonText, uses: Uses, lineage: list[ast.ClassDef]) -> None:
        """Take every definition that some syntax of a module names."""
        own = frozenset(owner.name for owner in lineage)
        for owner in lineage:
            self._header(module, owner, own)
        for owner in lineage:
            self._members(module, owner, uses, lineage)
        for name in uses.names:
            for node in module.definitions.get(name, ()):
                self.take(module, node, name, uses)
        for name in uses.fixtures:
            if name in module.fixtures:
                self.take(module, module.fixtures[name], name)
            elif (known := self.texts.fixture(module.path, name)) is not None:
                self.take(known[0], known[1], name)

    def take(self, module: PythonText, node: ast.stmt, name: str, uses: Uses | None = None) -> None:
        """One definition, and what it names in turn."""
        key = (module.path, name)
        text = shown(node) if not isinstance(node, ast.Import | ast.ImportFrom) else _alias(node, name)
        if text in self.found.get(key, ""):
            return
        self.found[key] = self.found.get(key, "") + text
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._through(module, node, name, uses)
            return
        self.follow(module, uses_of([node]), [])

    def _through(self, module: PythonText, node: ast.stmt, name: str, uses: Uses | None) -> None:
        for helper, inner in self.texts.imported(module.path, node, name):
            wanted = [inner] if inner else sorted(uses.attributes if uses else ())
            for word in wanted:
                for found in helper.definitions.get(word, ()):
                    self.take(helper, found, word)

    def _header(self, module: PythonText, owner: ast.ClassDef, lineage: frozenset[str]) -> None:
        """Bases, keywords and decorators; bases of this module are looked at member by member."""
        parts = (*owner.bases, *owner.keywords, *owner.decorator_list)
        key = (module.path, f"class {owner.name}")
        if key not in self.found:
            self.found[key] = " ".join(ast.dump(part) for part in parts)
            found = uses_of(parts)
            self.follow(module, Uses(found.names - lineage, found.attributes, found.fixtures), [])

    def _members(
        self, module: PythonText, owner: ast.ClassDef, uses: Uses, lineage: list[ast.ClassDef]
    ) -> None:
        for node in statements(owner.body):
            for name in _bound(node):
                wanted = name in uses.attributes or name in uses.fixtures or name in _SET_UP
                if not (wanted or name == "pytestmark" or _is_automatic(node)):
                    continue
                key, text = (module.path, f"{owner.name}.{name}"), shown(node)
                if self.found.get(key) != text:
                    self.found[key] = text
                    self.follow(module, uses_of([node]), lineage)


def _alias(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """The one import among several that binds a name."""
    source = f"{'.' * node.level}{node.module or ''} " if isinstance(node, ast.ImportFrom) else ""
    names = [a.name for a in node.names if name == (a.asname or a.name.partition(".")[0])]
    return f"import {source}{' '.join(names)}"
