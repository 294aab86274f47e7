# SPDX-License-Identifier: Apache-2.0
"""Makes statements of what a report only hints at; each counts only if it does on Base just what the report shows."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from redfirst.agents.strategies.snippet.bindings import Binding, Source, bindings_for, bound, variables
from redfirst.agents.strategies.snippet.report import Report
from redfirst.agents.strategies.snippet.steps import parse_quietly
from redfirst.agents.strategies.snippet.tracebacks import ShownException, ShownFrame, find_exception

_MAX = 24
_MAX_EACH = 8
_LIBRARY = re.compile(
    r"(?:^|[\\/])(?:site-packages|dist-packages|python\d[\d.]*|lib|Lib)[\\/]|^<frozen|^<attrs"
)
_COMPOUND = re.compile(r"^(for|with|if|elif|while|async)\b")


@dataclass(frozen=True, slots=True)
class Guess:
    """A statement that may be what the report speaks of. ``exception`` or ``shown``: what it must do to count.

    ``twins``: the same with other values for what the report leaves open; they must do the same.
    ``number`` and ``line``: the part of the report, and the line, that shows it.
    """

    code: str
    number: int
    line: int
    evidence: str
    exception: ShownException | None = None
    shown: str = ""
    twins: tuple[str, ...] = ()


def traced(report: Report, packages: Collection[str], known: Collection[str]) -> list[Guess]:
    """The calls in the user's own frames of each traceback. ``known``: code that the report has as statements."""
    found: list[Guess] = []
    for number, part in enumerate(report.parts):
        shown = find_exception(part.text) if part in report.blocks else None
        if shown is None or not shown.frames:
            continue
        for frame in users_frames(shown.frames, packages):
            code = statement_of(frame.code)
            if code is None or _squeezed(frame.code) in map(_squeezed, known):
                continue
            evidence = part.text.strip().splitlines()[-1].strip()
            found += islice(_filled(code, shown, report, number, part.line, evidence), _MAX_EACH)
    return found[:_MAX]


def users_frames(frames: Sequence[ShownFrame], packages: Collection[str]) -> list[ShownFrame]:
    """The frames of the reporter's own code, the one that calls the project first; none behind a library's frame."""
    own: list[ShownFrame] = []
    for frame in frames:
        parts = re.split(r"[\\/]", frame.file)
        if _LIBRARY.search(frame.file) or set(parts[:-1]) & set(packages):
            break
        own.append(frame)
    return own[::-1]


def statement_of(line: str) -> str | None:
    """A line of source as a statement that can stand alone: ``return f(x)`` is ``f(x)``; None where it is cut."""
    text = line.strip()
    if _COMPOUND.match(text) and text.endswith(":"):
        text = re.sub(r"^el(?=if\b)", "", f"{text} pass")
    if text.startswith("return "):
        text = text.removeprefix("return ").strip()
    body = parse_quietly(text)
    if len(body) != 1 or any(isinstance(node, ast.Await | ast.Yield) for node in ast.walk(body[0])):
        return None
    tree = body[0]
    if isinstance(tree, ast.If | ast.While):
        tree = ast.Expr(tree.test)
    calls = any(isinstance(node, ast.Call | ast.Subscript | ast.BinOp) for node in ast.walk(tree))
    return ast.unparse(tree) if calls and not isinstance(tree, ast.Raise) else None


def _filled(
    code: str, shown: ShownException, report: Report, number: int, line: int, evidence: str
) -> Iterator[Guess]:
    """The statement with every choice of values for what it leaves undefined."""
    choices = [bindings_for(name, report, shown.message) for name in variables(code, dir(builtins))]
    for chosen in product(*(_apart(choice) for choice in choices)):
        fixed = [one for one in chosen if one.source is not Source.ANY]
        free = [choice[1] for choice in choices if choice and choice[0].source is Source.ANY]
        twins = (bound(code, [*fixed, *free]),) if free else ()
        yield Guess(bound(code, chosen), number, line, evidence, shown, twins=twins)


def _apart(choice: list[Binding]) -> list[Binding]:
    """The values to try in turn: of those that must all do the same only the first."""
    return choice[:1] if choice and choice[0].source is Source.ANY else choice


def _squeezed(code: str) -> str:
    return re.sub(r"\s+", "", code)
