# SPDX-License-Identifier: Apache-2.0
"""Lays out one statement in the width and the quotes of the file that it goes into."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Sequence

from redfirst.agents.strategies.snippet.steps import parse_quietly

_STEP = "    "


def quotes_of(text: str) -> str:
    """The quote that four of five plain strings of a file have, '' where there is no such habit."""
    count = Counter(string[0] for _, _, string in _strings(text) if not string.startswith(('"""', "'''")))
    if count.total() < 5:
        return '"' if not count else ""
    quote, number = count.most_common(1)[0]
    return quote if number >= 0.8 * count.total() else ""


def quoted(code: str, quote: str) -> str:
    """``code`` with its plain strings in ``quote``; strings that would need a backslash more are left alone."""
    if quote not in ("'", '"'):
        return code
    other = "'" if quote == '"' else '"'
    lines = code.splitlines(keepends=True)
    for row, column, string in reversed(_strings(code)):
        inner = string[1:-1]
        plain = string.startswith(other) and not string.startswith(other * 3)
        if plain and quote not in inner and not re.search(r"\\['\"]", inner):
            line = lines[row - 1]
            lines[row - 1] = line[:column] + quote + inner + quote + line[column + len(string) :]
    turned = "".join(lines)
    return turned if _same(turned, code) else code


def _strings(code: str) -> list[tuple[int, int, str]]:
    """Strings without a prefix on one line: row, column, text."""
    found: list[tuple[int, int, str]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.STRING and token.string[0] in "'\"" and token.start[0] == token.end[0]:
                found.append((token.start[0], token.start[1], token.string))
    except (tokenize.TokenError, SyntaxError):
        return []
    return found


def fitted(code: str, width: int, quote: str = '"') -> list[str]:
    """The lines of a simple statement, broken inside its brackets where it is wider than ``width``."""
    lines = code.splitlines()
    body = parse_quietly(code)
    if len(lines) != 1 or len(code) <= width or len(body) != 1:
        return lines
    broken = _broken(body[0], code, width, quote or '"')
    return broken if broken and _same("\n".join(broken), code) else lines


def _broken(tree: ast.stmt, code: str, width: int, quote: str) -> list[str]:
    spread = _Spread(code, width, quote)
    if isinstance(tree, ast.Assert) and tree.msg is None and isinstance(tree.test, ast.Compare):
        if len(tree.test.comparators) != 1:
            return []
        right = tree.test.comparators[0]
        head = code.encode()[: right.col_offset].decode()
        return _joined(head, spread.lines(right, 0))
    if isinstance(tree, ast.Assign | ast.Expr | ast.Return) and tree.value is not None:
        head = code.encode()[: tree.value.col_offset].decode()
        return _joined(head, spread.lines(tree.value, 0))
    return []


def _joined(head: str, lines: Sequence[str]) -> list[str]:
    return [head + lines[0], *lines[1:]]


class _Spread:
    """Breaks an expression of ``code`` over several lines."""

    def __init__(self, code: str, width: int, quote: str) -> None:
        self.code = code
        self.width = width
        self.quote = quote

    def lines(self, node: ast.expr, depth: int, *, alone: bool = False) -> list[str]:
        """The first line without its margin, the others with the margin of ``depth``."""
        text = self._text(node)
        margin = _STEP * depth
        if not alone and len(margin) + len(text) < self.width:
            return [text]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self._string(node.value, text, depth)
        brackets = _brackets(node)
        if brackets is None:
            return [text]
        opening = self._text(node.func) + "(" if isinstance(node, ast.Call) else brackets[0]
        inner: list[str] = []
        for head, child in self._children(node):
            lines = self.lines(child, depth + 1)
            inner += [f"{margin}{_STEP}{head}{lines[0]}", *lines[1:]]
            inner[-1] += ","
        return [opening, *inner, margin + brackets[1]] if inner else [text]

    def _children(self, node: ast.expr) -> list[tuple[str, ast.expr]]:
        if isinstance(node, ast.Call):
            named = [(f"{k.arg}=" if k.arg else "**", k.value) for k in node.keywords]
            return [*(("", argument) for argument in node.args), *named]
        if isinstance(node, ast.Dict):
            return [
                (f"{self._text(key)}: " if key else "**", value)
                for key, value in zip(node.keys, node.values, strict=True)
            ]
        return [("", child) for child in getattr(node, "elts", ())]

    def _string(self, value: str, text: str, depth: int) -> list[str]:
        """Pieces that end at line feeds, else at spaces, in brackets."""
        room = self.width - len(_STEP * (depth + 1)) - 2
        pieces = [piece for line in value.splitlines(keepends=True) for piece in _cut(line, room)]
        if len(pieces) < 2:
            return [text]
        margin = _STEP * (depth + 1)
        return ["(", *(margin + _literal(piece, self.quote) for piece in pieces), _STEP * depth + ")"]

    def _text(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.code, node) or ast.unparse(node)


def _brackets(node: ast.expr) -> tuple[str, str] | None:
    if isinstance(node, ast.Call):
        return "(", ")"
    if isinstance(node, ast.List):
        return "[", "]"
    if isinstance(node, ast.Tuple):
        return "(", ")"
    return ("{", "}") if isinstance(node, ast.Dict | ast.Set) else None


def _cut(line: str, room: int) -> list[str]:
    """Cut one line of text behind spaces so that each piece, written as a literal, has room."""
    pieces: list[str] = []
    rest = line
    while len(repr(rest)) > room:
        ends = [match.end() for match in re.finditer(r" +(?=\S)", rest)]
        fitting = [end for end in ends if len(repr(rest[:end])) <= room]
        if not fitting:
            break
        pieces.append(rest[: fitting[-1]])
        rest = rest[fitting[-1] :]
    return [*pieces, rest]


def _literal(text: str, quote: str) -> str:
    written = repr(text)
    inner = written[1:-1]
    return quote + inner + quote if quote not in inner and "\\'" not in inner else written


def _same(one: str, other: str) -> bool:
    left, right = parse_quietly(one), parse_quietly(other)
    return bool(left) and [ast.dump(tree) for tree in left] == [ast.dump(tree) for tree in right]
