# SPDX-License-Identifier: Apache-2.0
"""The lines of a program in a language with braces: comments apart, each with the blocks around it.

A scan, not a parser: it knows comments, quotes, raw strings, templates and regular expressions well enough to
tell which brackets are code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from redfirst.patches.rust_tests import COMMENT as NESTED

SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
_SLASHES = (
    *(*SCRIPTS, ".rs", ".go", ".java", ".kt", ".scala", ".c", ".cc", ".cpp", ".h", ".hpp", ".cs", ".swift"),
    *(".php", ".groovy", ".dart"),
)
_OPEN, _CLOSE = "([{", ")]}"
_COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_REGEX = r"/(?![*/ ])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*"
_QUOTES = r'"(?:[^"\\\n]|\\.)*"?'
_RUST = re.compile(
    rf"""(?P<comment>//[^\n]*|{NESTED}|/\*.*?(?:\*/|\Z))|(?P<text>b?r(#*)".*?(?:"\3|\Z)|b?"(?:[^"\\]|\\.)*"?|b?'(?:[^'\\\n]|\\[^\n][^'\n]*)')""",
    re.DOTALL,
)
_SCRIPT = re.compile(
    rf"""(?P<comment>{_COMMENT}|\A\#![^\n]*)|(?P<text>{_QUOTES}|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*`?)"""
    rf"""|(?<![\w)\]}}"'`])(?P<space>[ \t]*)(?P<regex>{_REGEX})"""
    rf"""|(?P<word>\b(?:return|typeof|case|in|of)[ \t]+)(?P<regex2>{_REGEX})""",
    re.DOTALL,
)
_OTHER = re.compile(
    rf"""(?P<comment>{_COMMENT})|(?P<text>\"\"\".*?(?:\"\"\"|\Z)|{_QUOTES}|'(?:[^'\\\n]|\\.)*'|`[^`]*`?)""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line that holds code. ``number`` counts from 1.

    ``text``: without margins and comments, literals kept. ``code``: the same with what literals hold blanked.
    ``around``: the lines (``text``) at which the brackets around it were opened, outermost first.
    ``within``: the innermost of these brackets, or ''.
    """

    number: int
    text: str
    code: str
    around: tuple[str, ...]
    within: str = ""


def has_braces(path: str) -> bool:
    """Whether this scan understands the language of ``path``."""
    return path.endswith(_SLASHES)


def code_lines(path: str, text: str) -> list[Line]:
    """Lines with code in them; lines of comments alone and blank ones are left out."""
    pattern = _RUST if path.endswith(".rs") else _SCRIPT if path.endswith(SCRIPTS) else _OTHER
    kept = pattern.sub(lambda match: _blank(match[0]) if match["comment"] is not None else match[0], text)
    bare = pattern.sub(lambda match: _bare(match), text)
    lines: list[Line] = []
    opened: list[tuple[str, str]] = []
    for number, (words, code) in enumerate(zip(kept.split("\n"), bare.split("\n"), strict=True), 1):
        stripped = words.strip()
        leading = len(code.strip()) - len(code.strip().lstrip(_CLOSE + ";, "))
        closing = sum(character in _CLOSE for character in code.strip()[:leading])
        around = opened[: len(opened) - closing] if closing else opened
        if stripped:
            heads = tuple(head for head, _ in around)
            lines.append(Line(number, stripped, code.strip(), heads, around[-1][1] if around else ""))
        for character in code:
            if character in _OPEN:
                opened.append((stripped, character))
            elif character in _CLOSE and opened:
                opened.pop()
    return lines


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _bare(match: re.Match[str]) -> str:
    """Comments blank, literals with their first and last character only."""
    whole = match[0]
    if match["comment"] is not None or len(whole) < 2:
        return _blank(whole)
    return f"{whole[0]}{_blank(whole[1:-1])}{whole[-1]}" if match["text"] is not None else _blank(whole)
