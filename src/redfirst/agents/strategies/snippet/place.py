# SPDX-License-Identifier: Apache-2.0
"""Chooses where a test goes: the test file that knows the code best, else a new file beside its like."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.steps import bound_names, parse_quietly
from redfirst.agents.task import Gate

_TEST_FILE = re.compile(r"^(?:test_\w+|\w+_test|tests?)\.py$")
_SAFE_PATH = re.compile(r"^[\w./+-]+$", re.ASCII)
_MAX_FILES = 1500
_MAX_BYTES = 600_000


@dataclass(frozen=True, slots=True)
class Subject:
    """What a test is about. ``modules``: dotted names it imports; ``names``: functions and classes it uses."""

    modules: frozenset[str]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Host:
    """A file that will hold the test. ``text`` is '' for a new one; ``unittest``: its tests are TestCase methods."""

    path: str
    text: str
    unittest: bool

    @property
    def taken(self) -> frozenset[str]:
        """Every function and class name in it."""
        trees = ast.walk(ast.Module(parse_quietly(self.text), []))
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return frozenset(tree.name for tree in trees if isinstance(tree, kinds))


def subject_of_code(codes: Iterable[str], owned: Callable[[str], bool]) -> Subject:
    """The modules of the project (``owned``) that code imports, and the names it takes from them or calls."""
    modules: set[str] = set()
    names: set[str] = set()
    for code in codes:
        for node in ast.walk(ast.Module(parse_quietly(code), [])):
            if isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                modules.add(node.module)
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
    own = {module for module in modules if owned(module)}
    return Subject(frozenset(own), frozenset(name for name in names if len(name) > 2))


def hosts(gate: Gate, subject: Subject, slug: str, *, fresh_only: bool) -> list[Host]:
    """Where the test may go, the best place first; the last is always a new file."""
    files = test_files(gate)
    found: list[Host] = []
    if not fresh_only:
        best = _best(gate, files, subject)
        found = [best] if best else []
    return [*found, _new(gate, files, slug, found)]


def test_files(gate: Gate) -> list[str]:
    """Python test files of Base that a patch can name plainly."""
    paths = [path for path in gate.base_files() if _SAFE_PATH.match(path)]
    named = [path for path in paths if _TEST_FILE.match(path.rpartition("/")[2])]
    return [path for path in named if gate.is_test(path)][:_MAX_FILES]


test_files.__test__ = False  # type: ignore[attr-defined]


def _best(gate: Gate, files: Sequence[str], subject: Subject) -> Host | None:
    scored: list[tuple[float, int, str, Host]] = []
    for path in files:
        data = gate.read(path)
        if data is None or len(data) > _MAX_BYTES:
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        score = _score(path, text, subject)
        if score >= 2:
            scored.append((-score, len(path), path, Host(path, text, gate.runner == "unittest")))
    scored.sort(key=lambda item: item[:3])
    if len(scored) > 1 and scored[0][0] > -3 and scored[0][0] == scored[1][0]:
        return None
    for _, _, path, host in scored[:5]:
        style = style_of(host.text)
        if style is not None and (style or gate.runner != "unittest"):
            return Host(path, host.text, style)
    return None


def _score(path: str, text: str, subject: Subject) -> float:
    """How much a test file has to do with the subject: its name, its imports, the names it mentions."""
    stem = re.sub(r"^tests?_|_tests?$", "", path.rpartition("/")[2].removesuffix(".py"))
    tails = {module.rpartition(".")[2].lstrip("_") for module in subject.modules}
    score = 4.0 if stem in tails or stem in subject.names else 0.0
    imports = [line for line in text.splitlines() if re.match(r"\s*(?:from|import)\s", line)]
    words = set(re.findall(r"[\w.]+", " ".join(imports)))
    score += 2.0 * bool(subject.modules & words)
    mentions = Counter(re.findall(r"\w+", text))
    score += sum(min(mentions[name], 8) / 4.0 for name in subject.names)
    return score


def style_of(text: str) -> bool | None:
    """True: the file's tests are TestCase methods; False: functions; None: it is no place for a test."""
    body = parse_quietly(text)
    if not body or "pytestmark" in text or "collect_ignore" in text or "importorskip(" in text:
        return None
    functions = any(isinstance(tree, ast.FunctionDef) and tree.name.startswith("test") for tree in body)
    cases = test_cases(body)
    if functions or not cases:
        plain = any(isinstance(tree, ast.ClassDef) and tree.name.startswith("Test") for tree in body)
        return False if functions or plain else None
    return True


def test_cases(body: Sequence[ast.stmt]) -> list[ast.ClassDef]:
    """Top-level classes that are TestCases themselves and that nothing in the file inherits from."""
    classes = [tree for tree in body if isinstance(tree, ast.ClassDef)]
    inherited = {ast.unparse(base).rpartition(".")[2] for tree in classes for base in tree.bases}
    return [
        tree
        for tree in classes
        if any(ast.unparse(base) in ("TestCase", "unittest.TestCase") for base in tree.bases)
        and tree.name not in inherited
        and not tree.decorator_list
        and not tree.keywords
    ]


test_cases.__test__ = False  # type: ignore[attr-defined]


def _new(gate: Gate, files: Sequence[str], slug: str, beside: Sequence[Host]) -> Host:
    """A new test file in the folder of the best host, else where most tests are, else in ``tests``."""
    folders = Counter(path.rpartition("/")[0] for path in files)
    folder = folders.most_common(1)[0][0] if folders else "tests"
    if beside:
        folder = beside[0].path.rpartition("/")[0]
    behind = sum(path.endswith("_test.py") for path in files) > len(files) / 2
    taken = {path.rpartition("/")[2] for path in gate.base_files()}
    number = 1
    while True:
        stem = slug if number == 1 else f"{slug}_{number}"
        name = f"{stem}_test.py" if behind else f"test_{stem}.py"
        path = f"{folder}/{name}" if folder else name
        if name not in taken:
            return Host(path, "", gate.runner == "unittest")
        number += 1


def has_import(text: str, line: str) -> bool:
    """Whether a file binds at its top level exactly what an import line binds."""
    wanted = {_alias(tree, alias) for tree in parse_quietly(line) for alias in getattr(tree, "names", ())}
    held = {
        _alias(tree, alias)
        for tree in parse_quietly(text)
        if isinstance(tree, ast.Import | ast.ImportFrom)
        for alias in tree.names
    }
    bound = Counter(bound_names(parse_quietly(text)))
    names = [next(bound_names([tree]), "") for tree in parse_quietly(line)]
    return wanted <= held and all(bound[name] == 1 for name in names)


def _alias(tree: ast.stmt, alias: ast.alias) -> tuple[str, str, str | None]:
    module = "." * tree.level + (tree.module or "") if isinstance(tree, ast.ImportFrom) else ""
    return module, alias.name, alias.asname
