# SPDX-License-Identifier: Apache-2.0
"""Puts tests into their file and tells the change as a unified diff, the command and the nodes."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.imports import fit_imports, place_for, regrouped
from redfirst.agents.strategies.snippet.place import Host
from redfirst.agents.strategies.snippet.steps import parse_quietly
from redfirst.agents.strategies.snippet.write import TestText

_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Named:
    """A test function with its name and, where the file's tests have one, its docstring's text."""

    test: TestText
    name: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """Tests in their file. ``nodes``: ids in the runner's notation; ``text``: the file as it is then."""

    patch: bytes
    command: bytes
    nodes: tuple[str, ...]
    path: str
    text: str


def put(tests: Sequence[Named], host: Host, runner: str) -> Placed:
    """Add the tests to the file."""
    case = host.case
    if not host.text:
        case, text = _whole_file(tests, host)
        patch = new_file(host.path, text)
    else:
        pieces = _additions(tests, host)
        patch = insertions(host.path, host.text, pieces)
        text = _with(host.text, pieces)
    nodes = tuple(_node(host.path, case, named.name, runner) for named in tests)
    return Placed(patch, _command(nodes, runner), nodes, host.path, text)


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


def _whole_file(tests: Sequence[Named], host: Host) -> tuple[str, str]:
    """A class name ('' for none) and the text of a new file."""
    imports = [line for named in tests for line in named.test.imports]
    if host.unittest and "import unittest" not in imports:
        imports.append("import unittest")
    lines = regrouped(list(dict.fromkeys(imports)))
    head = "\n".join(lines) + "\n\n\n" if lines else ""
    definitions = dict.fromkeys(code for named in tests for code in named.test.definitions)
    above = "".join(f"{code}\n\n\n" if _is_block(code) else f"{code}\n\n" for code in definitions)
    functions = [_function(named, host, (), method=host.unittest) for named in tests]
    if not host.unittest:
        return "", head + above + "\n\n".join(functions)
    case = "".join(word.title() for word in tests[0].name.removeprefix("test_").split("_")[:6]) + "Tests"
    inner = textwrap.indent("\n".join(functions), "    ")
    return case, f"{head}{above}class {case}(unittest.TestCase):\n{inner}"


def _is_block(code: str) -> bool:
    return any(isinstance(tree, ast.ClassDef | ast.FunctionDef) for tree in parse_quietly(code))


def _additions(tests: Sequence[Named], host: Host) -> list[tuple[int, str]]:
    """What comes behind which line of the file: imports, definitions, the functions."""
    pieces: list[tuple[int, str]] = []
    functions = ""
    above: dict[str, None] = {}
    tops: dict[str, None] = {}
    for named in tests:
        fitted = fit_imports(named.test, host.text)
        tops |= dict.fromkeys(fitted.top)
        above |= dict.fromkeys(fitted.test.definitions)
        renamed = Named(fitted.test, named.name, named.says)
        text = _function(renamed, host, fitted.test.imports, method=bool(host.case))
        functions += "\n" + textwrap.indent(text, "    ") if host.case else "\n\n" + text
    for line in regrouped(list(tops)):
        pieces.append((place_for(host.text, line), f"{line}\n"))
    if above:
        text = "".join(f"{code}\n\n\n" if _is_block(code) else f"{code}\n" for code in above)
        if host.case:
            pieces.append((host.case_line, text))
        else:
            functions = "\n\n" + text.rstrip("\n") + "\n" + functions
    return [*pieces, (host.line, functions)]


def _with(text: str, pieces: Sequence[tuple[int, str]]) -> str:
    lines = split_lines(text)
    for line, added in sorted(pieces, key=lambda piece: piece[0], reverse=True):
        lines[line:line] = split_lines(added)
    return "".join(lines)


def split_lines(text: str) -> list[str]:
    """Lines with their ends, cut at line feeds alone, as Git does."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def new_file(path: str, text: str) -> bytes:
    """The diff that adds a file."""
    lines = split_lines(text)
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return (head + f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}" for line in lines)).encode()


def insertions(path: str, old: str, pieces: Sequence[tuple[int, str]]) -> bytes:
    """The diff that puts each text behind its number of lines, in the file's own line ends."""
    lines = split_lines(old)
    crlf = old.count("\r\n") * 2 > old.count("\n")
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    hunks: list[str] = []
    shift = 0
    for group in _near(pieces):
        start = max(group[0][0] - _CONTEXT, 0)
        end = min(group[-1][0] + _CONTEXT, len(lines))
        body = _hunk(lines, start, end, group, crlf=crlf)
        added = sum(len(split_lines(text)) for _, text in group)
        old_count, new_count = end - start, end - start + added
        first = start + (1 if old_count else 0)
        hunks.append(f"@@ -{first},{old_count} +{start + 1 + shift},{new_count} @@\n" + body)
        shift += added
    return (head + "".join(hunks)).encode()


def _near(pieces: Sequence[tuple[int, str]]) -> list[list[tuple[int, str]]]:
    """Additions whose contexts touch go into one hunk; those behind the same line keep their order."""
    groups: list[list[tuple[int, str]]] = []
    for piece in sorted(pieces, key=lambda item: item[0]):
        if groups and piece[0] - groups[-1][-1][0] <= 2 * _CONTEXT:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _hunk(lines: Sequence[str], start: int, end: int, group: Sequence[tuple[int, str]], *, crlf: bool) -> str:
    changed: list[str] = []
    for number in range(start, end + 1):
        for place, text in group:
            if place == number:
                if changed and number == len(lines) and not lines[-1].endswith("\n"):
                    whole = lines[-1] + ("\r\n" if crlf else "\n")
                    changed[-1] = f"-{lines[-1]}\n\\ No newline at end of file\n+{whole}"
                parts = (part.replace("\n", "\r\n") if crlf else part for part in split_lines(text))
                changed += [f"+{part}" for part in parts]
        if number < end:
            line = lines[number]
            changed.append(f" {line}" if line.endswith("\n") else f" {line}\n\\ No newline at end of file\n")
    return "".join(changed)
