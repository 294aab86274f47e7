# SPDX-License-Identifier: Apache-2.0
"""Finds values for a name that code leaves undefined: what the report says of it in so many words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from redfirst.agents.strategies.snippet.claims import is_literal, leading_literal
from redfirst.agents.strategies.snippet.report import Report
from redfirst.agents.strategies.snippet.steps import parse_quietly

_MAX = 6
_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_QUOTED = re.compile(r"(?<!\w)(?:[bru]{0,2}'(?:[^'\\\n]|\\.)*'|[bru]{0,2}\"(?:[^\"\\\n]|\\.)*\")(?!\w)")
_PLACEHOLDERS = ("'http://localhost/'", "'http://127.0.0.1:9/x?y=1'")
_PLACES = re.compile(r"(?:^|_)(?:url|uri|endpoint)$")
_IS = r"(?:was|is|=|==|:|being|set to|contains?|contained|holds?|held|has the value|had the value|looks? like|read)"


class Source(IntEnum):
    """Where a value comes from; the surest first."""

    TOLD = 1  # "the cell was `13/2019`", ``cell = "13/2019"``
    MESSAGE = 2  # the exception's message repeats it
    ANY = 3  # nothing is said of it, and nothing depends on it


@dataclass(frozen=True, slots=True)
class Binding:
    """A name and the source of a literal that may be its value."""

    name: str
    value: str
    source: Source


def bindings_for(name: str, report: Report, message: str) -> list[Binding]:
    """What ``name`` may stand for, the surest first; the last resort are two values that must do the same."""
    told = dict.fromkeys(_told(name, report))
    if told:
        return [Binding(name, value, Source.TOLD) for value in list(told)[:_MAX]]
    if _PLACES.search(name.lower()):
        return [Binding(name, value, Source.ANY) for value in _PLACEHOLDERS]
    repeated = dict.fromkeys(_repeated(message))
    return [Binding(name, value, Source.MESSAGE) for value in list(repeated)[:_MAX]]


def _told(name: str, report: Report) -> Iterator[str]:
    """Values from sentences about the name, and from assignments of literals in code and in backticks."""
    word = re.escape(name)
    spoken = re.escape(name.replace("_", " "))
    about = re.compile(
        rf"\b(?:{word}|{spoken})`?\s+(?:in question\s+|there\s+|value\s+)?{_IS}\s*(?::\s*)?"
        r"(?:a |an |the |just |simply )?",
        re.IGNORECASE,
    )
    for sentence in report.sentences:
        for match in about.finditer(sentence.text):
            yield from _value_at(sentence.text[match.end() :])
        yield from (value for span in sentence.spans for value in _assigned(name, span))
    for block in report.blocks:
        for line in block.text.splitlines():
            yield from _assigned(name, line.removeprefix(">>> ").strip())


def _value_at(text: str) -> Iterator[str]:
    """The value that a text begins with: as a literal if it is one, else as a text."""
    span = _SPAN.match(text)
    if span:
        yield from as_literals(span.group(2).strip())
        return
    literal = leading_literal(text)
    if literal:
        yield literal


def as_literals(text: str) -> list[str]:
    """The literals that bare text may stand for: itself if it is one, and the string of it if it has no quotes."""
    found = [text] if is_literal(text) else []
    return found if text[:1] in "'\"[{(" and found else [*found, repr(text)]


def _assigned(name: str, line: str) -> Iterator[str]:
    body = parse_quietly(line)
    tree = body[0] if len(body) == 1 else None
    if (
        not isinstance(tree, ast.Assign)
        or len(tree.targets) != 1
        or not isinstance(tree.targets[0], ast.Name)
    ):
        return
    value = ast.unparse(tree.value)
    if tree.targets[0].id == name and is_literal(value):
        yield value


def _repeated(message: str) -> Iterator[str]:
    """Quoted texts in a message, and the same as text where they are bytes."""
    for match in _QUOTED.finditer(message):
        if not is_literal(match.group(0)):
            continue
        value = ast.literal_eval(match.group(0))
        if isinstance(value, bytes) and value.isascii():
            yield repr(value.decode("ascii"))
        if value:
            yield repr(value)


def bound(code: str, chosen: Sequence[Binding]) -> str:
    """``code`` with literals in the place of names."""
    values = {one.name: one.value for one in chosen}
    tree = ast.parse(code)
    return ast.unparse(_Put(values).visit(tree))


class _Put(ast.NodeTransformer):
    def __init__(self, values: dict[str, str]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = isinstance(node.ctx, ast.Load) and node.id in self.values
        return ast.parse(self.values[node.id], mode="eval").body if known else node


def variables(code: str, known: Iterable[str]) -> list[str]:
    """Names that ``code`` reads as values rather than calls or takes attributes of, without those in ``known``."""
    tree = ast.parse(code)
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    roots = {_root(node) for node in ast.walk(tree) if isinstance(node, ast.Call | ast.Attribute)}
    read = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return [name for name in dict.fromkeys(read) if name not in roots | stored | set(known)]


def _root(node: ast.Call | ast.Attribute) -> str:
    inner: ast.expr = node.func if isinstance(node, ast.Call) else node.value
    while isinstance(inner, ast.Attribute | ast.Call | ast.Subscript):
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
    return inner.id if isinstance(inner, ast.Name) else ""
