# SPDX-License-Identifier: Apache-2.0
"""Which tests a JavaScript file plainly defines for Node's runner.

A scan, not a parser: comments, strings, templates and regular expressions are set apart first, then
calls of ``test``, ``it``, ``describe`` and ``suite`` with a plain title are followed by their brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

EXTENSIONS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
SEPARATOR = " > "

_CALL = re.compile(
    r"(?<![\w$.#])(test|it|describe|suite)(?:\s*\.\s*(?:skip|only|todo))?\s*\(\s*(?=(.))", re.DOTALL
)
_DEFINES = re.compile(r"(?:function|class|const|let|var)\s*\*?\s*$")
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r?\n)|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_BEFORE_REGEX = re.compile(
    r"(?:^|[=(,\[!&|?{};:+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|void|delete))\s*$"
)
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class _Literal:
    """A quoted part of the text; ``plain``: no expression inside a template."""

    start: int
    end: int
    plain: bool


@dataclass(frozen=True, slots=True)
class _Plain:
    """The code without literals and comments, same length, and the literals by their start."""

    code: str
    literals: dict[int, _Literal]


def declared_titles(text: str) -> tuple[str, ...] | None:
    """Full titles in order, levels joined by `` > ``; None where the brackets do not close."""
    plain = _set_apart(text)
    ends = _brackets(plain.code)
    if ends is None:
        return None
    titles: list[str] = []
    open_suites: list[tuple[int, str]] = []
    inside_test = -1
    for match in _CALL.finditer(plain.code):
        start = match.start()
        end = ends.get(plain.code.index("(", match.start()), len(text))
        if start < inside_test or _DEFINES.search(plain.code[max(0, start - 20) : start]):
            continue
        while open_suites and open_suites[-1][0] <= start:
            open_suites.pop()
        title = _title(text, plain.literals.get(match.end()))
        if title is None:
            continue
        if match[1] in ("describe", "suite"):
            open_suites.append((end, title))
        else:
            inside_test = end
            titles.append(SEPARATOR.join((*(name for _, name in open_suites), title)))
    return tuple(dict.fromkeys(titles))


def _title(text: str, literal: _Literal | None) -> str | None:
    if literal is None or not literal.plain:
        return None
    return _ESCAPE.sub(_unescape, text[literal.start + 1 : literal.end - 1])


def _unescape(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits:
        return chr(min(int(digits, 16), 0x10FFFF))
    return "" if match[4] else _SIMPLE.get(match[5], match[5])


def _set_apart(text: str) -> _Plain:
    """Blank what is not code. The first character of a literal stays, so that it can be looked up."""
    code = list(text)
    literals: dict[int, _Literal] = {}
    position = 0
    while position < len(text):
        end, literal = _next_end(text, position, code)
        if literal is not None:
            literals[position] = literal
        if end > position:
            first = position + 1 if literal is not None else position
            code[first:end] = [" " if character != "\n" else "\n" for character in text[first:end]]
            position = end
        else:
            position += 1
    return _Plain("".join(code), literals)


def _next_end(text: str, position: int, code: list[str]) -> tuple[int, _Literal | None]:
    """Where the comment or literal that begins here ends; ``position`` itself where none begins."""
    two = text[position : position + 2]
    if two == "//" or (position == 0 and two == "#!"):
        end = text.find("\n", position)
        return (end if end >= 0 else len(text)), None
    if two == "/*":
        end = text.find("*/", position + 2)
        return (end + 2 if end >= 0 else len(text)), None
    if text[position] in "\"'":
        end = _quote_end(text, position)
        return end, _Literal(position, end, True)
    if text[position] == "`":
        end, plain = _template_end(text, position)
        return end, _Literal(position, end, plain)
    if text[position] == "/" and _BEFORE_REGEX.search("".join(code[max(0, position - 40) : position])):
        return _regex_end(text, position), None
    return position, None


def _quote_end(text: str, start: int) -> int:
    quote, position = text[start], start + 1
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == quote:
            return position + 1
        position += 1
    return len(text)


def _template_end(text: str, start: int) -> tuple[int, bool]:
    """Behind the closing backtick; expressions inside may hold templates of their own."""
    position, plain, depth = start + 1, True, 0
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 1
        elif depth == 0 and character == "`":
            return position + 1, plain
        elif depth == 0 and text.startswith("${", position):
            plain, depth = False, 1
            position += 1
        elif depth and character in "{}":
            depth += 1 if character == "{" else -1
        elif depth and character == "`":
            position = _template_end(text, position)[0] - 1
        elif depth and character in "\"'":
            position = _quote_end(text, position) - 1
        position += 1
    return len(text), plain


def _regex_end(text: str, start: int) -> int:
    position, in_class = start + 1, False
    while position < len(text) and text[position] != "\n":
        character = text[position]
        if character == "\\":
            position += 1
        elif character in "[]":
            in_class = character == "["
        elif character == "/" and not in_class:
            return position + 1
        position += 1
    return start


def _brackets(code: str) -> dict[int, int] | None:
    """Where each open bracket closes; None where they do not match."""
    ends: dict[int, int] = {}
    stack: list[int] = []
    for position, character in enumerate(code):
        if character in _OPEN:
            stack.append(position)
        elif character in _CLOSE:
            if not stack or _OPEN.index(code[stack[-1]]) != _CLOSE.index(character):
                return None
            ends[stack.pop()] = position
    return None if stack else ends
