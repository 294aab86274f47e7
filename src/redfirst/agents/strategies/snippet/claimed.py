# SPDX-License-Identifier: Apache-2.0
"""Writes one statement of the report as lines of a test, with the assertion that it shows."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.findings import Finding, Kind
from redfirst.agents.strategies.snippet.fit import fitted, quoted
from redfirst.agents.strategies.snippet.needed import used_names
from redfirst.agents.strategies.snippet.steps import Step, parse_quietly

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
_METHODS = {ast.Eq: "Equal", ast.NotEq: "NotEqual", ast.Is: "Is", ast.IsNot: "IsNot", ast.In: "In"}


@dataclass(frozen=True, slots=True)
class Flavour:
    """How assertions are written. ``unittest``: methods of ``self``; ``width``: room for a line; ``quote``: or ''."""

    unittest: bool = False
    width: int = 88
    quote: str = ""


class CannotWrite(Exception):
    """The finding cannot be put into a test; the text says why."""


def plain_lines(step: Step, flavour: Flavour) -> list[str]:
    """The lines of a statement that only leads to what is asserted."""
    return _laid_out(without_print(step), flavour)


def claimed_lines(step: Step, index: int, finding: Finding, flavour: Flavour, *, guard: bool) -> list[str]:
    """The lines of a statement that shows a finding, assertion included. Raises CannotWrite."""
    checks = [check.expression for check in finding.checks if check.step == index]
    if checks:
        return _checked(step, checks, flavour)
    if finding.kind is Kind.ASSERTS:
        return _laid_out(step.code, flavour)
    if finding.kind is Kind.RAISES:
        opening = f"with self.assertRaises({finding.exception}):"
        opening = opening if flavour.unittest else f"with pytest.raises({finding.exception}):"
        return [opening, *deeper(_laid_out(without_print(step), flavour))]
    lines = _laid_out(without_print(step), flavour)
    return lines if guard else _quiet(lines, finding, flavour)


def _quiet(lines: list[str], finding: Finding, flavour: Flavour) -> list[str]:
    """The statement that must not raise the reported exception."""
    name = finding.exception
    if not finding.open_end:
        return [f"{lines[0]}  # raised {name}"] if len(lines) == 1 else lines
    check = f'assert type(error).__name__ != "{name}"'
    if flavour.unittest:
        check = f'self.assertNotEqual(type(error).__name__, "{name}")'
    closing = f"except Exception as error:  # only {name} is objected to"
    return ["try:", *deeper(lines), closing, f"    {quoted(check, flavour.quote)}"]


def _checked(step: Step, checks: Sequence[str], flavour: Flavour) -> list[str]:
    """A statement and what must hold of its value."""
    tree = step.tree
    if isinstance(tree, ast.Assign) and isinstance(tree.targets[0], ast.Name):
        name = tree.targets[0].id
        return [*_laid_out(step.code, flavour), *_asserted(checks, name, flavour)]
    if not any(uses_result(text) for text in checks):  # they hold the code themselves: what a loop goes over
        return _asserted(checks, "result", flavour)
    source = shown_expression(step)
    if source is None:
        raise CannotWrite(f"line {step.line} is not an expression")
    value = ast.parse(source, mode="eval").body
    if len(checks) == 1 and "\n" not in source and len(re.findall(r"\b_\b", checks[0])) == 1:
        inline = _assert(checks[0], source if isinstance(value, _ATOMS) else f"({source})", value, flavour)
        lines = fitted(inline, flavour.width, flavour.quote)
        if len(lines[0]) <= flavour.width:
            return lines
    named = f"result = {source}" if "\n" not in source else f"result = {ast.unparse(value)}"
    return [*_laid_out(named, flavour), *_asserted(checks, "result", flavour)]


def _asserted(checks: Sequence[str], name: str, flavour: Flavour) -> list[str]:
    lines = [_assert(text, name, None, flavour) for text in checks]
    return [line for text in lines for line in fitted(text, flavour.width, flavour.quote)]


def asserted_text(expression: str, name: str, flavour: Flavour) -> list[str]:
    """The assertion that ``expression`` holds with ``name`` (some code) in the place of ``_``."""
    return _asserted([expression], name, flavour)


def _assert(expression: str, name: str, value: ast.expr | None, flavour: Flavour) -> str:
    return quoted(_assertion(expression, name, value, flavour), flavour.quote)


def _assertion(expression: str, name: str, value: ast.expr | None, flavour: Flavour) -> str:
    tree = ast.parse(expression, mode="eval").body
    text = substitute(expression, name)
    if not flavour.unittest or not isinstance(tree, ast.Compare) or len(tree.ops) != 1:
        return f"self.assertTrue({text})" if flavour.unittest else f"assert {text}"
    method = _METHODS.get(type(tree.ops[0]))
    if method is None:
        return f"self.assertTrue({text})"
    left, right = (
        ast.get_source_segment(expression, part) or "" for part in (tree.left, tree.comparators[0])
    )
    plain = name[1:-1] if value is not None and not isinstance(value, _ATOMS) else name
    parts = [substitute(part, plain if part == "_" else name) for part in (left, right)]
    if method in ("Is", "IsNot") and parts[1] in ("True", "False") and method == "Is":
        return f"self.assertIs({parts[0]}, {parts[1]})"
    if method == "Is" and parts[1] == "None":
        return f"self.assertIsNone({parts[0]})"
    if method == "IsNot" and parts[1] == "None":
        return f"self.assertIsNotNone({parts[0]})"
    return f"self.assert{method}({', '.join(parts)})"


def uses_result(expression: str) -> bool:
    """Whether a check reads the value of its step."""
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


def without_print(step: Step) -> str:
    """The statement without the ``print`` around its expression."""
    return shown_expression(step) or step.code


def _laid_out(code: str, flavour: Flavour) -> list[str]:
    lines = body_lines(quoted(code, flavour.quote))
    return fitted(lines[0], flavour.width, flavour.quote) if len(lines) == 1 else lines


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


def deeper(lines: Sequence[str]) -> list[str]:
    """The lines one level further in."""
    return [f"    {line}" if line else line for line in lines]
