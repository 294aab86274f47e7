# SPDX-License-Identifier: Apache-2.0
"""Chooses where a test goes: the test file that knows the code best, else a new file beside its like."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from redfirst.agents.strategies.snippet.habits import Habits, habits_of
from redfirst.agents.strategies.snippet.project import package_of
from redfirst.agents.strategies.snippet.steps import parse_quietly
from redfirst.agents.task import Gate

_TEST_FILE = re.compile(r"^(?:test_\w+|\w+_test|tests?)\.py$")
_OTHER_ENDS = re.compile(
    r"(?:^|[/_-])(?:mypy|pyright|typing|typesafety|types?_?checks?|bench(?:marks?)?|perf(?:ormance)?|"
    r"integration|e2e|fuzz(?:ing)?|smoke|stress)(?=[/_.-])",
    re.IGNORECASE,
)
_SAFE_PATH = re.compile(r"^[\w./+-]+$", re.ASCII)
_MAX_FILES = 1500
_MAX_BYTES = 600_000
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a test is about. ``modules``: dotted names it imports; ``names``: functions and classes it uses."""

    modules: frozenset[str]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Host:
    """A file that will hold the test. ``text`` is '' for a new one; ``case``: the class for it, '' for none.

    ``unittest``: assertions are methods of ``self``; ``line``: the test goes behind that many lines.
    ``package``: the one that the file belongs to, '' for none.
    """

    path: str
    text: str
    unittest: bool
    case: str = ""
    line: int = 0
    habits: Habits = field(default_factory=Habits)
    package: str = ""

    @property
    def taken(self) -> frozenset[str]:
        """Every function and class name in it."""
        trees = ast.walk(ast.Module(parse_quietly(self.text), []))
        return frozenset(tree.name for tree in trees if isinstance(tree, (*_FUNCTIONS, ast.ClassDef)))

    @property
    def case_line(self) -> int:
        """Behind how many lines something for the module itself goes: in front of the class."""
        for tree in parse_quietly(self.text):
            if isinstance(tree, ast.ClassDef) and tree.name == self.case:
                return min([tree.lineno, *(d.lineno for d in tree.decorator_list)]) - 1
        return self.line


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
    scored: list[tuple[float, int, str, str]] = []
    for path in files:
        text = _text(gate, path)
        score = _score(path, text, subject)
        if text and score >= 2:
            scored.append((-score, len(path), path, text))
    scored.sort()
    if len(scored) > 1 and scored[0][0] > -3 and scored[0][0] == scored[1][0]:
        return None
    for _, _, path, text in scored[:5]:
        host = host_in(gate, path, text, subject)
        if host is not None:
            return host
    return None


def _text(gate: Gate, path: str) -> str:
    data = gate.read(path)
    if data is None or len(data) > _MAX_BYTES:
        return ""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return ""


def _score(path: str, text: str, subject: Subject) -> float:
    """How much a test file has to do with the subject: its name, its imports, the names it mentions."""
    stem = re.sub(r"^tests?_|_tests?$", "", path.rpartition("/")[2].removesuffix(".py"))
    tails = {module.rpartition(".")[2].lstrip("_") for module in subject.modules}
    score = 4.0 if stem in tails or stem in subject.names else 0.0
    imports = [line for line in text.splitlines() if re.match(r"\s*(?:from|import)\s", line)]
    words = set(re.findall(r"[\w.]+", " ".join(imports)))
    score += 2.0 * bool(subject.modules & words)
    score -= 4.0 * bool(_OTHER_ENDS.search(path))
    return score + _mentions(text, subject)


def _mentions(text: str, subject: Subject) -> float:
    words = Counter(re.findall(r"\w+", text))
    return sum(min(words[name], 8) / 4.0 for name in subject.names)


def host_in(gate: Gate, path: str, text: str, subject: Subject) -> Host | None:
    """The place inside one test file; None if it is no place for a test."""
    body = parse_quietly(text)
    if not body or any(map(_conditional, body)):
        return None
    plain = [t for t in body if isinstance(t, ast.FunctionDef) and t.name.startswith("test")]
    cases = test_cases(body, only_unittest=gate.runner != "pytest")
    habits, package = habits_of(gate, text), package_of(gate, path)
    ranked = sorted(cases, key=lambda case: (-_about(case, text, subject), -case.lineno))
    case = ranked[0] if ranked else None
    functions = sum(_mentions(ast.get_source_segment(text, tree) or "", subject) for tree in plain)
    if case and (not plain or _about(case, text, subject) > functions or gate.runner != "pytest"):
        methods = [t for t in case.body if isinstance(t, ast.FunctionDef) and t.name.startswith("test")]
        line = _behind(methods, text, subject) or case.end_lineno or 0
        return Host(path, text, _asserts_by_method(case, gate), case.name, line, habits, package)
    if not plain or gate.runner != "pytest":
        return None
    return Host(path, text, False, "", _behind(plain, text, subject) or _end(body, text), habits, package)


def _conditional(tree: ast.stmt) -> bool:
    """Whether a statement of the module may keep all of its tests from running, or marks all of them."""
    if isinstance(tree, (*_FUNCTIONS, ast.ClassDef)):
        return False
    words = set(re.findall(r"\w+", ast.unparse(tree)))
    return bool(words & {"pytestmark", "collect_ignore", "collect_ignore_glob", "importorskip"})


def _about(case: ast.ClassDef, text: str, subject: Subject) -> float:
    """How much a class has to do with the subject."""
    named = sum(3.0 for name in subject.names if len(name) > 3 and name.lower() in case.name.lower())
    return named + _mentions(ast.get_source_segment(text, case) or "", subject)


def _behind(tests: Sequence[ast.FunctionDef], text: str, subject: Subject) -> int:
    """The last line of the last test that mentions most of what the subject is about; 0 for none."""
    best, line = 1, 0
    for test in tests:
        words = set(re.findall(r"\w+", ast.get_source_segment(text, test) or ""))
        number = len(words & subject.names)
        if number >= best:
            best, line = number, test.end_lineno or 0
    return line


def _end(body: Sequence[ast.stmt], text: str) -> int:
    """The end of the file, in front of what runs it as a program."""
    last = body[-1]
    guarded = isinstance(last, ast.If) and "__name__" in ast.unparse(last.test)
    if guarded and len(body) > 1:
        return body[-2].end_lineno or 0
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    return max((number for number, line in enumerate(lines, 1) if line.strip()), default=0)


def _asserts_by_method(case: ast.ClassDef, gate: Gate) -> bool:
    """Whether the tests of a class call ``self.assert…`` more often than they say ``assert``."""
    if gate.runner != "pytest":
        return True
    nodes = list(ast.walk(case))
    calls = [n for n in nodes if isinstance(n, ast.Attribute) and n.attr.startswith("assert")]
    plain = [n for n in nodes if isinstance(n, ast.Assert)]
    known = any(ast.unparse(base).endswith("TestCase") for base in case.bases)
    return known and len(calls) >= len(plain)


def test_cases(body: Sequence[ast.stmt], *, only_unittest: bool) -> list[ast.ClassDef]:
    """Top-level classes that hold tests and that nothing in the file inherits from."""
    classes = [tree for tree in body if isinstance(tree, ast.ClassDef)]
    inherited = {ast.unparse(base).rpartition(".")[2] for tree in classes for base in tree.bases}
    return [
        tree
        for tree in classes
        if (_is_unittest(tree) or (not only_unittest and tree.name.startswith("Test")))
        and tree.name not in inherited
        and not tree.decorator_list
        and not tree.keywords
        and any(isinstance(item, ast.FunctionDef) and item.name.startswith("test") for item in tree.body)
    ]


test_cases.__test__ = False  # type: ignore[attr-defined]


def _is_unittest(tree: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith("TestCase") for base in tree.bases)


def _new(gate: Gate, files: Sequence[str], slug: str, beside: Sequence[Host]) -> Host:
    """A new test file in the folder of the best host, else where most tests are, else in ``tests``."""
    folders = Counter(path.rpartition("/")[0] for path in files)
    folder = folders.most_common(1)[0][0] if folders else "tests"
    if beside:
        folder = beside[0].path.rpartition("/")[0]
    behind = sum(path.endswith("_test.py") for path in files) > len(files) / 2
    taken = {path.rpartition("/")[2] for path in gate.base_files()}
    habits = beside[0].habits if beside else Habits()
    number = 1
    while True:
        stem = slug if number == 1 else f"{slug}_{number}"
        name = f"{stem}_test.py" if behind else f"test_{stem}.py"
        path = f"{folder}/{name}" if folder else name
        if name not in taken:
            return Host(path, "", gate.runner != "pytest", habits=habits)
        number += 1
