# SPDX-License-Identifier: Apache-2.0
"""Writes the text of a native test from a finding."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.findings import Check, Finding, Kind
from redfirst.agents.strategies.snippet.needed import needed, used_names
from redfirst.agents.strategies.snippet.probe import Seen
from redfirst.agents.strategies.snippet.steps import Step, parse_quietly

_WIDTH = 96
_ATOMS = (
    ast.Call,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.List,
    ast.Dict,
    ast.Tuple,
    ast.Set,
)


@dataclass(frozen=True, slots=True)
class TestText:
    """A test in pieces. ``body``: unindented lines of the function; ``fixture``: its argument, '' for none.

    ``unittest``: the body uses ``self``. ``uses_pytest``: it needs ``import pytest``.
    """

    __test__ = False

    imports: tuple[str, ...]
    definitions: tuple[str, ...]
    body: tuple[str, ...]
    fixture: str = ""
    unittest: bool = False


class CannotWrite(Exception):
    """The finding cannot be put into a test; the text says why."""


def write_test(
    finding: Finding, steps: Sequence[Step], seen: Sequence[Seen], extra: Sequence[str], *, unittest: bool
) -> TestText:
    """The test of one finding. ``extra``: import lines that its exception needs. Raises CannotWrite."""
    return _Writer(finding, steps, seen, unittest).write(extra)


class _Writer:
    def __init__(self, finding: Finding, steps: Sequence[Step], seen: Sequence[Seen], unittest: bool) -> None:
        self.finding = finding
        self.steps = steps
        self.seen = seen
        self.unittest = unittest

    def write(self, extra: Sequence[str]) -> TestText:
        finding = self.finding
        targets = {finding.step, *(check.step for check in finding.checks)}
        if finding.printed:
            targets |= set(range(finding.since, finding.step + 1))
        reads = set().union(*(used_names(ast.parse(check.expression)) for check in finding.checks), {""}) - {
            "_",
            "",
        }
        if finding.example:
            return self._example(frozenset(targets), extra)
        found = needed(self.steps, self.seen, frozenset(targets), frozenset(reads))
        imports = list(dict.fromkeys([*found.imports, *extra]))
        if any("*" in line for line in imports):
            raise CannotWrite("the report's code imports with a star")
        body: list[str] = []
        for index in found.body:
            body += self._statement(index)
        if finding.printed:
            return self._printed(imports, found.definitions, body)
        uses = any("pytest." in line for line in body)
        if uses:
            imports.append("import pytest")
        return TestText(tuple(imports), self._texts(found.definitions), tuple(body), "", self.unittest)

    def _example(self, targets: frozenset[int], extra: Sequence[str]) -> TestText:
        """The report's own test function."""
        step = self.steps[self.finding.step]
        tree = step.tree
        if self.unittest or not isinstance(tree, ast.FunctionDef):
            raise CannotWrite("the report's test is written for pytest")
        found = needed(self.steps, self.seen, targets)
        others = [index for index in (*found.definitions, *found.body) if index != self.finding.step]
        imports = dict.fromkeys([*found.imports, *extra])
        lines = textwrap.dedent("\n".join(step.code.splitlines()[tree.body[0].lineno - 1 :])).splitlines()
        if tree.body[0].lineno == tree.lineno:
            lines = [ast.unparse(part) for part in tree.body]
        fixtures = ", ".join(argument.arg for argument in tree.args.args)
        return TestText(tuple(imports), self._texts(sorted(others)), tuple(lines), fixtures, False)

    def _texts(self, indices: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.steps[index].code for index in indices)

    def _statement(self, index: int) -> list[str]:
        """The lines for one step, with the assertion if it is one that shows the finding."""
        finding, step = self.finding, self.steps[index]
        checks = [check for check in finding.checks if check.step == index]
        if finding.printed:
            return body_lines(step.code)
        if checks:
            return self._checked(step, checks)
        if index != finding.step or finding.kind is Kind.ASSERTS:
            return body_lines(_without_print(step) if index != finding.step else step.code)
        if finding.kind is Kind.RAISES:
            opening = f"with self.assertRaises({finding.exception}):"
            opening = opening if self.unittest else f"with pytest.raises({finding.exception}):"
            return [opening, *_deeper(body_lines(_without_print(step)))]
        return self._quiet(step)

    def _quiet(self, step: Step) -> list[str]:
        """The statement that must not raise the reported exception."""
        lines = body_lines(_without_print(step))
        if not self.finding.open_end:
            return (
                [*lines[:-1], f"{lines[-1]}  # raised {self.finding.exception}"] if len(lines) == 1 else lines
            )
        name = self.finding.exception
        check = f'self.assertNotEqual(type(error).__name__, "{name}")'
        check = check if self.unittest else f'assert type(error).__name__ != "{name}"'
        return [
            "try:",
            *_deeper(lines),
            f"except Exception as error:  # only {name} is objected to",
            f"    {check}",
        ]

    def _checked(self, step: Step, checks: Sequence[Check]) -> list[str]:
        tree = step.tree
        if isinstance(tree, ast.Assign) and isinstance(tree.targets[0], ast.Name):
            name = tree.targets[0].id
            return [
                *body_lines(step.code),
                *(line for c in checks for line in self._assert(c.expression, name, None)),
            ]
        source = shown_expression(step)
        if source is None:
            raise CannotWrite(f"line {step.line} is not an expression")
        texts = [check.expression for check in checks]
        if not any(_uses_result(text) for text in texts):
            return [line for text in texts for line in self._assert(text, "result", None)]
        value = ast.parse(source, mode="eval").body
        if len(texts) == 1 and "\n" not in source and len(re.findall(r"\b_\b", texts[0])) == 1:
            inline = self._assert(texts[0], source if isinstance(value, _ATOMS) else f"({source})", value)
            if len(inline[0]) <= _WIDTH:
                return inline
        kept = body_lines(f"result = {source}" if "\n" not in source else f"result = {ast.unparse(value)}")
        return [*kept, *(line for text in texts for line in self._assert(text, "result", None))]

    def _assert(self, expression: str, name: str, value: ast.expr | None) -> list[str]:
        """An assertion of ``expression`` with ``name`` (some code) in the place of ``_``."""
        tree = ast.parse(expression, mode="eval").body
        text = substitute(expression, name)
        if not self.unittest or not isinstance(tree, ast.Compare) or len(tree.ops) != 1:
            return [f"self.assertTrue({text})" if self.unittest else f"assert {text}"]
        methods = {ast.Eq: "Equal", ast.NotEq: "NotEqual", ast.Is: "Is", ast.IsNot: "IsNot", ast.In: "In"}
        method = methods.get(type(tree.ops[0]))
        if method is None:
            return [f"self.assertTrue({text})"]
        left, right = (
            ast.get_source_segment(expression, part) or "" for part in (tree.left, tree.comparators[0])
        )
        plain = name[1:-1] if value is not None and not isinstance(value, _ATOMS) else name
        parts = [substitute(part, plain if part == "_" else name) for part in (left, right)]
        return [f"self.assert{method}({', '.join(parts)})"]

    def _printed(self, imports: list[str], definitions: Sequence[int], body: list[str]) -> TestText:
        """A test about standard output."""
        check = self.finding.checks[0].expression
        if self.unittest:
            imports += ["import contextlib", "import io"]
            lines = ["printed = io.StringIO()", "with contextlib.redirect_stdout(printed):", *_deeper(body)]
            lines += self._assert(check, "printed.getvalue().strip()", None)
            return TestText(tuple(imports), self._texts(definitions), tuple(lines), "", True)
        lines = [*body, "printed = capsys.readouterr().out", *self._assert(check, "printed.strip()", None)]
        return TestText(tuple(imports), self._texts(definitions), tuple(lines), "capsys", False)


def _uses_result(expression: str) -> bool:
    return "_" in used_names(ast.parse(expression))


def substitute(expression: str, code: str) -> str:
    """``expression`` with ``code`` for every name ``_``; strings in it are left alone."""
    tree = ast.parse(expression, mode="eval")
    places = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "_"]
    data = expression.encode()
    for node in sorted(places, key=lambda n: n.col_offset, reverse=True):
        data = data[: node.col_offset] + code.encode() + data[node.col_offset + 1 :]
    return data.decode()


def shown_expression(step: Step) -> str | None:
    """The source of the expression whose value a step shows: a bare one, or what it prints."""
    tree = step.tree
    if not isinstance(tree, ast.Expr):
        return None
    value: ast.expr = tree.value
    printing = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print"
    if printing and isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
        value = value.args[0]
    return ast.get_source_segment(step.code, value) or ast.unparse(value)


def _without_print(step: Step) -> str:
    return shown_expression(step) or step.code


def body_lines(code: str) -> list[str]:
    """The lines of a statement, fit to be indented: where that would change a string, in canonical form."""
    original = parse_quietly(code)
    indented = f"if 1:\n{textwrap.indent(code, '    ')}"
    moved = parse_quietly(indented)
    same = moved and isinstance(moved[0], ast.If) and _dump(moved[0].body) == _dump(original)
    text = code if same else "\n".join(ast.unparse(tree) for tree in original)
    checked = parse_quietly(f"if 1:\n{textwrap.indent(text, '    ')}")
    if not checked or not isinstance(checked[0], ast.If) or _dump(checked[0].body) != _dump(original):
        raise CannotWrite("a statement cannot be moved into a function")
    return text.splitlines()


def _dump(body: Sequence[ast.stmt]) -> list[str]:
    return [ast.dump(tree) for tree in body]


def _deeper(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" if line else line for line in lines]


def name_for(title: str, taken: frozenset[str]) -> str:
    """A function name from the report's title that is not ``taken``."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = "test"
    for word in words:
        if len(name) + len(word) > 56:
            break
        name += f"_{word}"
    name = name if name != "test" else "test_reported_behaviour"
    unique = name
    number = 2
    while unique in taken:
        unique = f"{name}_{number}"
        number += 1
    return unique
