# SPDX-License-Identifier: Apache-2.0
"""Puts a test into its file and tells the change as a unified diff, the command and the node."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.place import Host, has_import, test_cases
from redfirst.agents.strategies.snippet.steps import parse_quietly
from redfirst.agents.strategies.snippet.write import TestText

_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Placed:
    """A test in its file. ``node``: its id in the runner's notation."""

    patch: bytes
    command: bytes
    node: str
    source: str


def put(test: TestText, host: Host, name: str, runner: str) -> Placed:
    """Add ``test`` under ``name`` to ``host``."""
    if not host.text:
        case, source = _whole_file(test, name)
        patch = new_file(host.path, source)
    else:
        case, line, source = _addition(test, host, name)
        patch = insertion(host.path, host.text, line, source)
    node = _node(host.path, case, name, runner)
    program = "pytest" if runner == "pytest" else "unittest"
    return Placed(patch, f"python -m {program} {node}\n".encode(), node, source)


def _node(path: str, case: str, name: str, runner: str) -> str:
    parts = [case, name] if case else [name]
    if runner == "pytest":
        return "::".join([path, *parts])
    return ".".join([path.removesuffix(".py").replace("/", "."), *parts])


def _function(test: TestText, name: str, inside: Sequence[str]) -> str:
    arguments = ", ".join(filter(None, ("self" if test.unittest else "", test.fixture)))
    lines = [*inside, "", *test.body] if inside else list(test.body)
    return f"def {name}({arguments}):\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def _whole_file(test: TestText, name: str) -> tuple[str, str]:
    """A class name ('' for none) and the text of a new file."""
    imports = list(test.imports)
    if test.unittest and "import unittest" not in imports:
        imports.append("import unittest")
    future = sorted(line for line in imports if "__future__" in line)
    lines = [*future, *(line for line in imports if line not in future)]
    head = "\n".join(lines) + "\n\n\n" if lines else ""
    definitions = "".join(f"{code}\n\n\n" if _is_block(code) else f"{code}\n\n" for code in test.definitions)
    function = _function(test, name, ())
    if not test.unittest:
        return "", head + definitions + function
    case = "Test" + "".join(word.title() for word in name.removeprefix("test_").split("_")[:6])
    return case, f"{head}{definitions}class {case}(unittest.TestCase):\n{textwrap.indent(function, '    ')}"


def _is_block(code: str) -> bool:
    return any(isinstance(tree, ast.ClassDef | ast.FunctionDef) for tree in parse_quietly(code))


def _addition(test: TestText, host: Host, name: str) -> tuple[str, int, str]:
    """A class name, the number of lines before the addition, and its text with the blank lines around it."""
    inside = [line for line in test.imports if not has_import(host.text, line)]
    function = _function(test, name, inside)
    body = parse_quietly(host.text)
    lines = split_lines(host.text)
    if test.unittest:
        case = test_cases(body)[-1]
        indent = " " * case.body[0].col_offset
        return case.name, case.end_lineno or len(lines), "\n" + textwrap.indent(function, indent)
    last = body[-1]
    guarded = isinstance(last, ast.If) and "__name__" in ast.unparse(last.test)
    end = (body[-2].end_lineno or 0) if guarded and len(body) > 1 else _filled(lines)
    return "", end, "\n\n" + function


def _filled(lines: Sequence[str]) -> int:
    """The number of lines up to the last that is not blank."""
    return max((number for number, line in enumerate(lines, 1) if line.strip()), default=0)


def split_lines(text: str) -> list[str]:
    """Lines with their ends, cut at line feeds alone, as Git does."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def new_file(path: str, text: str) -> bytes:
    """The diff that adds a file."""
    lines = split_lines(text)
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return (head + f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}" for line in lines)).encode()


def insertion(path: str, old: str, line: int, added: str) -> bytes:
    """The diff that puts ``added`` behind the first ``line`` lines of a file, in the file's own line ends."""
    lines = split_lines(old)
    crlf = old.count("\r\n") * 2 > old.count("\n")
    new = [part.replace("\n", "\r\n") if crlf else part for part in split_lines(added)]
    before = lines[max(line - _CONTEXT, 0) : line]
    after = lines[line : line + _CONTEXT]
    start = line - len(before)
    changed: list[str] = [f" {part}" for part in before]
    if before and not before[-1].endswith("\n"):
        whole = before[-1] + ("\r\n" if crlf else "\n")
        changed[-1:] = [f"-{before[-1]}\n\\ No newline at end of file\n", f"+{whole}"]
    changed += [f"+{part}" for part in new]
    for part in after:
        changed.append(f" {part}" if part.endswith("\n") else f" {part}\n\\ No newline at end of file\n")
    old_count, new_count = len(before) + len(after), len(before) + len(after) + len(new)
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    place = f"@@ -{start + 1},{old_count} +{start + 1},{new_count} @@\n"
    return (head + place + "".join(changed)).encode()
