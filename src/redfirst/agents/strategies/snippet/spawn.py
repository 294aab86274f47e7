# SPDX-License-Identifier: Apache-2.0
"""Writes a command of the project as a Python statement that starts it, and a quoted file as one that writes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from redfirst.agents.strategies.snippet.fit import quoted
from redfirst.agents.strategies.snippet.quoted import Quoted
from redfirst.agents.strategies.snippet.session import Exchange
from redfirst.agents.strategies.snippet.shell_line import Command, Line
from redfirst.agents.strategies.snippet.steps import Step, parse_quietly
from redfirst.agents.strategies.snippet.tools import Tools

FOLDER = "monkeypatch.chdir(tmp_path)"  # the statement that the probe and the writer of tests know
_PYTHON = re.compile(r"(?:\S*/bin/)?python(?:3(?:\.\d+)?)?|py")
_RUNNERS = (("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"))
_ALONE = frozenset({"-u", "-B", "-O", "-OO", "-s", "-E", "-q", "-v", "-b", "-bb", "-d"})
_WITH_VALUE = frozenset({"-W", "-X"})
_LEADING = "PYTHONPATH"


@dataclass(frozen=True, slots=True)
class Own:
    """A command of the project. ``words``: behind the interpreter; ``arguments``: behind the program.

    ``led``: it finds the project only if it is told where that is, even from the tree's root.
    """

    words: tuple[str, ...]
    arguments: tuple[str, ...]
    modules: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    led: bool = False


def own(line: Line, tools: Tools, files: Mapping[str, Quoted], told: str = "") -> Own | None:
    """How to start what a line runs, if that is of the project or a quoted script.

    ``told``: what is shown of it; where that has the program's name in it, it must run under this name.
    """
    words = line.words
    if tuple(words[:2]) in _RUNNERS:
        words = words[2:]
    if not words:
        return None
    entry = tools.scripts.get(words[0])
    if entry is not None:
        module = tools.module_of(entry)
        if module and words[0] not in told:
            return Own(("-m", module, *words[1:]), words[1:], (entry.module,))
        call = f"import sys; from {entry.module} import {entry.function.partition('.')[0]}; "
        call += f"sys.argv[0] = {words[0]!r}; sys.exit({entry.function}())"
        return Own(("-c", call, *words[1:]), words[1:], (entry.module,))
    return _interpreted(words, tools, files) if _PYTHON.fullmatch(words[0]) else None


def _interpreted(words: tuple[str, ...], tools: Tools, files: Mapping[str, Quoted]) -> Own | None:
    """What an interpreter is given: options, then a module, code or a script."""
    at = 1
    while at < len(words) and (words[at] in _ALONE or words[at][:2] in _WITH_VALUE):
        at += 2 if words[at] in _WITH_VALUE else 1
    options, rest = words[1:at], words[at:]
    if len(rest) > 1 and rest[0] == "-m" and rest[1] in tools.modules:
        modules = tools.behind.get(rest[1]) or (rest[1],)
        return Own((*options, *rest), rest[2:], modules)
    if len(rest) > 1 and rest[0] == "-c":
        return Own((*options, *rest), rest[1:], _imported(rest[1]))
    name = rest[0].removeprefix("./") if rest else ""
    if name in files:
        return Own((*options, name, *rest[1:]), (name, *rest[1:]), _imported(files[name].text), led=True)
    return None


def _imported(code: str) -> tuple[str, ...]:
    """Modules that code imports."""
    found: list[str] = []
    for node in ast.walk(ast.Module(parse_quietly(code), [])):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return tuple(dict.fromkeys(found))


def command_step(exchange: Exchange, found: Own, block: int, tools: Tools, in_folder: bool) -> Step:
    """The statement that runs a command and keeps its status and output."""
    line = exchange.line
    parts = [f"[sys.executable, {', '.join(map(repr, found.words))}]"]
    if line is not None and line.text is not None:
        parts.append(f"input={line.text!r}")
    elif line is not None and line.source:
        parts.append(f"input=pathlib.Path({line.source.removeprefix('./')!r}).read_text()")
    parts += ["capture_output=True", "text=True"]
    held = [f"{name!r}: {value!r}" for name, value in found.settings.items() if name != _LEADING]
    if tools.must_lead(away=in_folder or found.led):
        held.insert(0, f"{_LEADING!r}: os.pathsep.join(sys.path)")
    if held:
        parts.append(f"env={{**os.environ, {', '.join(held)}}}")
    command = Command(_without_comment(exchange), line or Line(()), found.arguments, found.modules)
    comment = line.comment if line else ""
    code = quoted(f"result = subprocess.run({', '.join(parts)})", '"')
    return Step(code, exchange.number, block, exchange.shown, comment, command)


def _without_comment(exchange: Exchange) -> str:
    comment = exchange.line.comment.split("\n")[0] if exchange.line else ""
    kept, sign, behind = exchange.text.partition("#")
    while sign and behind.lstrip("# \t") != comment:
        more, sign, behind = behind.partition("#")
        kept = f"{kept}#{more}"
    return kept.rstrip() if comment else exchange.text


def chdir_step() -> Step:
    """The statement that makes a fresh folder the current one."""
    return Step(FOLDER, 0, -1)


def write_step(one: Quoted) -> Iterator[Step]:
    """The statements that write a quoted file."""
    folder = one.name.rpartition("/")[0]
    if folder:
        yield Step(
            f"pathlib.Path({folder!r}).mkdir(parents=True, exist_ok=True)", one.line, -1, file=one.name
        )
    lines = one.text.splitlines(keepends=True)
    coding = "" if one.text.isascii() else ", encoding='utf-8'"
    text = "\n".join(f"    {line!r}" for line in lines)
    head = f"pathlib.Path({one.name!r}).write_text("
    code = f"{head}{one.text!r}{coding})" if len(lines) < 2 else f"{head}\n{text}{coding}\n)"
    if coding and len(lines) > 1:
        code = f"{head}\n{text},\n    encoding='utf-8',\n)"
    yield Step(quoted(code, '"'), one.line, -1, file=one.name)
