# SPDX-License-Identifier: Apache-2.0
"""Writes one test function: the statements that its findings and guards need, and what it asserts of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.claimed import (
    CannotWrite,
    Flavour,
    asserted_text,
    body_lines,
    claimed_lines,
    deeper,
    plain_lines,
)
from redfirst.agents.strategies.snippet.clean import example_lines, without_comments
from redfirst.agents.strategies.snippet.combine import Case, covered
from redfirst.agents.strategies.snippet.findings import Finding
from redfirst.agents.strategies.snippet.needed import Needed, needed, used_names
from redfirst.agents.strategies.snippet.probe import Seen
from redfirst.agents.strategies.snippet.spawn import FOLDER
from redfirst.agents.strategies.snippet.steps import Step, bound_names, parse_quietly

_BY_PLACE = re.compile(
    r"\b(?:get_type_hints|pickle|globals|locals|eval|exec|__main__|__module__|__qualname__|getsource|"
    r"copyreg|shelve|multiprocessing)\b"
)
_UNITTEST_FOLDER = (
    "folder = tempfile.TemporaryDirectory()",
    "self.addCleanup(folder.cleanup)",
    "self.addCleanup(os.chdir, os.getcwd())",
    "os.chdir(folder.name)",
)
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of a test function for one step, with the finding that they assert; ``guard``: it holds on Base.

    ``fixed``: they prepare what a command or a call finds, and cannot be missed.
    """

    step: int
    lines: tuple[str, ...]
    shows: Finding | None = None
    guard: bool = False
    fixed: bool = False

    @property
    def code(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class TestText:
    """A test function in pieces. ``definitions``: what must stand at the level of the module.

    ``decorators``: lines above the function; ``arguments``: fixtures or the columns of its table.
    ``unittest``: the body uses ``self``.
    """

    __test__ = False

    imports: tuple[str, ...]
    definitions: tuple[str, ...]
    parts: tuple[Part, ...]
    arguments: tuple[str, ...] = ()
    unittest: bool = False
    decorators: tuple[str, ...] = ()

    @property
    def body(self) -> tuple[str, ...]:
        """Unindented lines; definitions in it have blank lines around them."""
        lines: list[str] = []
        for number, part in enumerate(self.parts):
            block = _is_definition(part.code)
            before = number > 0 and (block or _is_definition(self.parts[number - 1].code))
            lines += ["", *part.lines] if before else part.lines
        return tuple(lines)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(dict.fromkeys(p.shows for p in self.parts if p.shows is not None and not p.guard))

    @property
    def code(self) -> list[str]:
        """Every piece of Python in it, for looking up names."""
        return [*self.imports, *self.definitions, "\n".join(self.body)]


def _is_definition(code: str) -> bool:
    return any(isinstance(tree, _DEFINITIONS) for tree in parse_quietly(code))


def write_test(
    case: Case, steps: Sequence[Step], seen: Sequence[Seen], extra: Sequence[str], flavour: Flavour
) -> TestText:
    """The function that asserts a case. ``extra``: import lines found to be needed. Raises CannotWrite."""
    only = case.asserted[0]
    if only.example:
        return _example(only, steps, seen, extra, flavour)
    targets = frozenset().union(*(covered(finding) for finding in case.asserted))
    read = {name for finding in case.asserted for name in _read(finding)}
    found = _layout(needed(steps, seen, targets, frozenset(read)), case, steps)
    imports = [*found.imports, *extra]
    if any("*" in line for line in imports):
        raise CannotWrite("the report's code imports with a star")
    shown = {index: finding for finding in case.asserted for index in _asserting(finding)}
    parts = []
    for index in found.body:
        finding = shown.get(index)
        if steps[index].code == FOLDER:
            parts.append(Part(index, folder_lines(flavour), fixed=True))
            continue
        if finding is None or finding.printed:
            lines = body_lines(steps[index].code) if only.printed else plain_lines(steps[index], flavour)
            parts.append(Part(index, tuple(lines), fixed=bool(steps[index].file)))
        else:
            guard = finding in case.guards
            lines = claimed_lines(steps[index], index, finding, flavour, guard=guard)
            parts.append(Part(index, tuple(lines), finding, guard))
    test = TestText((), _texts(found.definitions, steps), tuple(parts), _fixtures(parts), flavour.unittest)
    if only.printed:
        test = _printed(test, only, flavour, guard=only in case.guards)
    return replace(test, imports=_imports(imports, test))


def _imports(lines: Sequence[str], test: TestText) -> tuple[str, ...]:
    """Import lines, those of the test framework's modules that the lines use included."""
    text = "\n".join(part.code for part in test.parts)
    used = ("contextlib", "io", "pytest", *(("os", "tempfile") if _UNITTEST_FOLDER[0] in text else ()))
    wanted = [f"import {name}" for name in used if re.search(rf"\b{name}\.", text)]
    return tuple(dict.fromkeys([*lines, *wanted]))


def folder_lines(flavour: Flavour) -> tuple[str, ...]:
    """A fresh folder that is the current one as long as the test runs."""
    return _UNITTEST_FOLDER if flavour.unittest else (FOLDER,)


def _fixtures(parts: Sequence[Part]) -> tuple[str, ...]:
    return ("tmp_path", "monkeypatch") if any(part.lines == (FOLDER,) for part in parts) else ()


def _read(finding: Finding) -> set[str]:
    """Names that the checks of a finding and its exception read."""
    names = set().union(*(used_names(ast.parse(check.expression)) for check in finding.checks), ())
    return names - {"_"}


def _asserting(finding: Finding) -> set[int]:
    return {check.step for check in finding.checks} or {finding.step}


def _texts(indices: Sequence[int], steps: Sequence[Step]) -> tuple[str, ...]:
    return tuple(without_comments(steps[index].code) for index in indices)


def _example(
    finding: Finding, steps: Sequence[Step], seen: Sequence[Seen], extra: Sequence[str], flavour: Flavour
) -> TestText:
    """The report's own test function."""
    step = steps[finding.step]
    tree = step.tree
    if flavour.unittest or not isinstance(tree, ast.FunctionDef):
        raise CannotWrite("the report's test is written for pytest")
    found = needed(steps, seen, frozenset({finding.step}))
    others = sorted(index for index in (*found.definitions, *found.body) if index != finding.step)
    part = Part(finding.step, tuple(example_lines(step.code, tree)), finding)
    arguments = tuple(argument.arg for argument in tree.args.args)
    lines = tuple(dict.fromkeys([*_without(found.imports, arguments), *extra]))
    return TestText(lines, _texts(others, steps), (part,), arguments)


def _without(lines: Sequence[str], names: Sequence[str]) -> list[str]:
    """Import lines that bind none of ``names``: those are fixtures of the test."""
    return [line for line in lines if not set(bound_names(parse_quietly(line))) & set(names)]


def _layout(found: Needed, case: Case, steps: Sequence[Step]) -> Needed:
    """Definitions go into the function, unless what they do may depend on where they stand."""
    if not found.definitions:
        return found
    code = "\n".join(steps[index].code for index in (*found.definitions, *found.body))
    trees = [tree for index in found.definitions if (tree := steps[index].tree) is not None]
    if any("__future__" in line for line in found.imports) or _depends_on_place(code, trees, case):
        return found
    return Needed(found.imports, (), tuple(sorted((*found.definitions, *found.body))))


def _depends_on_place(code: str, trees: Sequence[ast.stmt], case: Case) -> bool:
    names = {tree.name for tree in trees if isinstance(tree, _DEFINITIONS)}
    nodes = [node for tree in trees for node in ast.walk(tree)]
    texts = " ".join([check.expression for finding in case.asserted for check in finding.checks])
    quoted_names = any(re.search(rf"['\"].*\b{re.escape(name)}\b", texts, re.DOTALL) for name in names)
    shared = any(isinstance(node, ast.Global | ast.Nonlocal) for node in nodes)
    return bool(_BY_PLACE.search(code)) or quoted_names or shared or any(map(_quotes_a_type, nodes))


def _quotes_a_type(node: ast.AST) -> bool:
    """Whether an annotation holds a string: the name in it is looked up in the module."""
    marks = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    inner = [child for mark in marks if isinstance(mark, ast.AST) for child in ast.walk(mark)]
    return any(isinstance(child, ast.Constant) and isinstance(child.value, str) for child in inner)


def _printed(test: TestText, finding: Finding, flavour: Flavour, *, guard: bool) -> TestText:
    """A test about standard output."""
    check = finding.checks[0].expression
    if not flavour.unittest:
        lines = ["printed = capsys.readouterr().out", *asserted_text(check, "printed.strip()", flavour)]
        last = Part(finding.step, tuple(lines), finding, guard)
        return replace(test, parts=(*test.parts, last), arguments=("capsys", *test.arguments))
    body = [line for part in test.parts for line in part.lines]
    caught = ["printed = io.StringIO()", "with contextlib.redirect_stdout(printed):", *deeper(body)]
    first = Part(finding.step, tuple(caught))
    last = Part(
        finding.step, tuple(asserted_text(check, "printed.getvalue().strip()", flavour)), finding, guard
    )
    return replace(test, parts=(first, last))
