# SPDX-License-Identifier: Apache-2.0
"""The one line of ``test_command``, read without a shell.

Accepted: ``[cd DIR &&] [NAME=value ...] argv``, where quotes and backslashes of one argument mean
what they mean to a POSIX shell. All that a shell would do beyond that is rejected by name.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from dataclasses import dataclass

from redfirst.core.errors import CommandRejected
from redfirst.runners.protocol import Command

ALLOWED_VARIABLES = (
    "TZ",
    "LANG",
    "CI",
    "NO_COLOR",
    "PYTHONWARNINGS",
    "PYTHONUTF8",
    "DJANGO_SETTINGS_MODULE",
    "RUST_BACKTRACE",
    "NODE_ENV",
)
_LOCALE = re.compile(r"LC_[A-Z]+")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_SYNTAX = {
    ";": "a command separator",
    "&": "`&`",
    "|": "a pipe",
    "<": "a redirection",
    ">": "a redirection",
    "(": "a subshell",
    ")": "a subshell",
    "`": "a command substitution",
    "*": "a wildcard",
    "?": "a wildcard",
}
_EXPANDS = re.compile(r"[A-Za-z0-9_@*#?$!({\[-]")
_BRACES = re.compile(r"\{[^}]*(?:,|\.\.)[^}]*\}")
_MOST = 32_768
_WRITE_PLAIN = "write one plain command; quote an argument that holds such a character"


@dataclass(frozen=True, slots=True)
class _Word:
    """One argument. ``bare``: its unquoted characters in place, each quoted one as NUL."""

    text: str
    bare: str
    column: int


def parse_command(data: bytes) -> Command:
    """The command in these bytes. Raises CommandRejected: what is not allowed, and at which column."""
    if len(data) > _MOST:
        raise CommandRejected(f"the command is longer than {_MOST} bytes", "name fewer tests")
    words, joined = _split(_one_line(data))
    cd = "."
    if words and words[0].bare == "cd":
        cd, words = _folder(words, joined), words[2:]
    elif joined:
        raise _rejected("`&&`", joined[0], "only `cd DIR &&` may stand before the command")
    assignments: list[tuple[str, str]] = []
    while words and (pair := _assignment(words[0])):
        assignments.append(pair)
        words = words[1:]
    if not words:
        raise CommandRejected("test_command names no program", _WRITE_PLAIN)
    return Command(cd, tuple(assignments), tuple(word.text for word in words))


def _one_line(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CommandRejected(f"test_command is not UTF-8 (byte {error.start})", "save it as UTF-8") from None
    if text.startswith("\ufeff"):
        raise CommandRejected("test_command begins with a byte-order mark", "save it without one")
    text = text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text
    for column, character in enumerate(text, start=1):
        if unicodedata.category(character) in ("Cc", "Zl", "Zp"):
            raise _rejected(f"control character {character!r}", column, "write it on one line, with spaces")
    if not text.strip():
        raise CommandRejected("test_command is empty", "write the exact invocation on one line")
    return text


def _split(line: str) -> tuple[list[_Word], list[int]]:
    """The words of a line, and where ``&&`` stands after the second of them (empty: nowhere)."""
    words: list[_Word] = []
    joined: list[int] = []
    position = 0
    while position < len(line):
        if line[position] == " ":
            position += 1
        elif line.startswith("&&", position):
            if joined or len(words) != 2:
                raise _rejected("`&&`", position + 1, "only `cd DIR &&` may stand before the command")
            joined.append(position + 1)
            position += 2
        else:
            word, position = _word(line, position)
            words.append(word)
    return words, joined


def _word(line: str, start: int) -> tuple[_Word, int]:
    if line[start] == "#":
        raise _rejected("a comment", start + 1)
    if line[start] == "~":
        raise _rejected("`~`, a home folder", start + 1)
    text: list[str] = []
    bare: list[str] = []
    position = start
    while position < len(line) and line[position] != " " and not line.startswith("&&", position):
        piece, quoted, position = _piece(line, position)
        text.append(piece)
        bare.append("\0" * len(piece) if quoted else piece)
    word = _Word("".join(text), "".join(bare), start + 1)
    if _BRACES.search(word.bare):
        raise _rejected("a brace expansion", word.column)
    return word, position


def _piece(line: str, position: int) -> tuple[str, bool, int]:
    """The next character or quoted part: its text, whether it was quoted, and where the rest begins."""
    character = line[position]
    if character == "'":
        end = line.find("'", position + 1)
        if end < 0:
            raise _rejected("a quote that is not closed", position + 1, "close it")
        return line[position + 1 : end], True, end + 1
    if character == '"':
        return _double_quoted(line, position)
    if character == "\\":
        if position + 1 == len(line):
            raise _rejected("a backslash with nothing after it", position + 1)
        return line[position + 1], True, position + 2
    if character == "$":
        _refuse_expansion(line, position, quotes="'\"")
    elif character in _SYNTAX:
        raise _rejected(_SYNTAX[character], position + 1)
    return character, False, position + 1


def _double_quoted(line: str, start: int) -> tuple[str, bool, int]:
    text: list[str] = []
    position = start + 1
    while position < len(line):
        character = line[position]
        if character == '"':
            return "".join(text), True, position + 1
        if character == "\\" and line[position + 1 : position + 2] in ("$", "`", '"', "\\"):
            position += 1
            character = line[position]
        elif character == "$":
            _refuse_expansion(line, position, quotes="")
        elif character == "`":
            raise _rejected(_SYNTAX["`"], position + 1)
        text.append(character)
        position += 1
    raise _rejected("a quote that is not closed", start + 1, "close it")


def _refuse_expansion(line: str, position: int, *, quotes: str) -> None:
    """A ``$`` that begins nothing stands for itself, as in ``"^title$"``; every other one expands."""
    following = line[position + 1 : position + 2]
    if following and (_EXPANDS.match(following) or following in quotes):
        raise _rejected("an expansion with `$`", position + 1)


def _folder(words: list[_Word], joined: list[int]) -> str:
    if len(words) < 2 or not joined:
        raise CommandRejected("`cd` is not followed by one folder and `&&`", "write `cd DIR && command`")
    folder = words[1].text
    if not folder or folder.startswith("-"):
        raise _rejected(f"`cd` to {folder!r}", words[1].column, "name a folder of the checkout")
    if folder.startswith("/"):
        raise _rejected(f"`cd` to the absolute path {folder}", words[1].column, "write it relative")
    whole = posixpath.normpath(folder)
    if whole.split("/")[0] == "..":
        raise _rejected(f"`cd` to {folder}, outside the checkout", words[1].column, "stay inside it")
    return whole


def _assignment(word: _Word) -> tuple[str, str] | None:
    match = _ASSIGNMENT.fullmatch(word.bare)
    if match is None:
        return None
    name = match[1]
    if name not in ALLOWED_VARIABLES and not _LOCALE.fullmatch(name):
        names = ", ".join((*ALLOWED_VARIABLES, "LC_*"))
        raise _rejected(f"the assignment of {name}", word.column, f"only these may be set: {names}")
    return name, word.text[len(name) + 1 :]


def _rejected(what: str, column: int, todo: str = _WRITE_PLAIN) -> CommandRejected:
    return CommandRejected(f"test_command has {what} (column {column})", todo)
