# SPDX-License-Identifier: Apache-2.0
"""Puts tests into their file and tells the change as a unified diff, the command and the nodes."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.edits import Edit, diff_of, diff_of_new, edited
from redfirst.agents.strategies.snippet.import_lines import Owned, joined_to, sectioned
from redfirst.agents.strategies.snippet.imports import Known, fit_imports
from redfirst.agents.strategies.snippet.place import Host
from redfirst.agents.strategies.snippet.steps import parse_quietly
from redfirst.agents.strategies.snippet.write import TestText


@dataclass(frozen=True, slots=True)
class Named:
    """A test function with its name and, where the file's tests have one, its docstring's text."""

    test: TestText
    name: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """Tests in their file. ``nodes``: ids in the runner's notation; ``text``: the file as it is then.

    ``tests``: as they are written there, with the names that the file has.
    """

    patch: bytes
    command: bytes
    nodes: tuple[str, ...]
    path: str
    text: str
    tests: tuple[Named, ...]


def put(tests: Sequence[Named], host: Host, runner: str, owned: Owned, known: Known) -> Placed:
    """Add the tests to the file. ``owned``: whether a module is the project's."""
    case = host.case
    if host.text:
        fitted = [fit_imports(named.test, host.text, known) for named in tests]
        there = [replace(named, test=one.test) for named, one in zip(tests, fitted, strict=True)]
        edits = joined_to(host.text, [line for one in fitted for line in one.top], owned, host.habits.width)
        edits += _additions(there, host)
        patch, text = diff_of(host.path, host.text, edits), edited(host.text, edits)
    else:
        there = list(tests)
        case, text = _whole_file(there, host, owned)
        patch = diff_of_new(host.path, text)
    nodes = tuple(_node(host.path, case, named.name, runner) for named in tests)
    return Placed(patch, _command(nodes, runner), nodes, host.path, text, tuple(there))


def _command(nodes: Sequence[str], runner: str) -> bytes:
    if runner == "django":
        return f"cd tests && python runtests.py --parallel 1 {' '.join(nodes)}\n".encode()
    program = "pytest" if runner == "pytest" else "unittest"
    return f"python -m {program} {' '.join(nodes)}\n".encode()


def _node(path: str, case: str, name: str, runner: str) -> str:
    parts = [case, name] if case else [name]
    if runner == "pytest":
        return "::".join([path, *parts])
    inside = path.removeprefix("tests/") if runner == "django" else path
    return ".".join([inside.removesuffix(".py").replace("/", "."), *parts])


def _function(named: Named, host: Host, inside: Sequence[str], *, method: bool) -> str:
    test = named.test
    arguments = ", ".join([*(["self"] if method else []), *test.arguments])
    lines = [*_docstring(named.says, host, 8 if method else 4)]
    lines += [*inside, "", *test.body] if inside else test.body
    head = "".join(f"{line}\n" for line in test.decorators)
    return f"{head}def {named.name}({arguments}):\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def _docstring(says: str, host: Host, margin: int) -> list[str]:
    """A docstring in the form that the file's tests have."""
    text = says.replace("\\", "").replace('"""', "'")
    if not host.habits.docstring or not text:
        return []
    lines = textwrap.wrap(text, host.habits.width - margin)
    if host.habits.docstring == "line" and len(text) + 6 + margin <= host.habits.width:
        return [f'"""{text}"""' if not text.endswith('"') else f'"""{text} """']
    return ['"""', *lines, '"""']


def _whole_file(tests: Sequence[Named], host: Host, owned: Owned) -> tuple[str, str]:
    """A class name ('' for none) and the text of a new file."""
    imports = [line for named in tests for line in named.test.imports]
    imports += ["import unittest"] if host.unittest else []
    head = sectioned(imports, owned, host.habits.width)
    parts = [head] if head else []
    parts += [f"{code}\n" for code in _above(tests)]
    functions = [_function(named, host, (), method=host.unittest) for named in tests]
    if not host.unittest:
        return "", "\n\n".join([*parts, *functions])
    case = "".join(word.title() for word in tests[0].name.removeprefix("test_").split("_")[:6]) + "Tests"
    inner = textwrap.indent("\n".join(functions), "    ")
    return case, "\n\n".join([*parts, f"class {case}(unittest.TestCase):\n{inner}"])


def _above(tests: Sequence[Named]) -> list[str]:
    """What must stand at the level of the module; single statements that follow each other are one."""
    pieces: list[str] = []
    blocks: list[bool] = []
    for code in dict.fromkeys(code for named in tests for code in named.test.definitions):
        block = _is_block(code)
        if pieces and not block and not blocks[-1]:
            pieces[-1] += f"\n{code}"
        else:
            pieces.append(code)
            blocks.append(block)
    return pieces


def _is_block(code: str) -> bool:
    return any(isinstance(tree, ast.ClassDef | ast.FunctionDef) for tree in parse_quietly(code))


def _additions(tests: Sequence[Named], host: Host) -> list[Edit]:
    """The functions, and in front of them or of their class what must stand at the level of the module."""
    above = _above(tests)
    functions = [_function(named, host, named.test.imports, method=bool(host.case)) for named in tests]
    if not host.case:
        return [
            Edit.behind(
                host.line, "".join(f"\n\n{text}" for text in [*(f"{c}\n" for c in above), *functions])
            )
        ]
    methods = "".join("\n" + textwrap.indent(text, "    ") for text in functions)
    before = "".join(f"{code}\n\n\n" for code in above)
    return [*([Edit.behind(host.case_line, before)] if above else []), Edit.behind(host.line, methods)]
