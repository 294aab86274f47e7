# SPDX-License-Identifier: Apache-2.0
"""Reads one line of a shell session without any shell; what is not plainly understood is refused.

Understood: words with quotes, settings before a command, ``<``, ``>/dev/null``, ``2>/dev/null``, ``2>&1``, text piped
in by ``echo``, ``printf`` or ``cat FILE``, and ``&& echo``, ``|| echo``, ``; echo $?`` behind the command. Globs,
substitutions, variables, other pipes, background jobs and files that output goes to are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_TOKEN = re.compile(
    r"(?P<space>[ \t]+)|(?P<comment>(?<![^ \t])#.*)|(?P<status>\$\?)"
    r"|(?P<op>&&|\|\||(?<![^ \t])[012]?>>?[ \t]*&?[ \t]*|&>[ \t]*|>[ \t]*|<<-?[ \t]*(?=['\"\w])|<[ \t]*|\||;)"
    r"|(?P<single>'[^']*')|(?P<double>\"(?:[^\"\\$`!]|\\[\"\\]|\\(?=[^$`!\"\\])|\$\?)*\")"
    r"|(?P<escape>\\[ '\"\\$#&;()*?])|(?P<word>[\w@%+=:,./^~-]+)"
)
_SETTING = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "r": "\r", "0": "\0"}


@dataclass(frozen=True, slots=True)
class Tail:
    """An ``echo`` behind a command: ``&&``, ``||`` or ``;``. ``text`` may hold ``$?``."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One command. ``words``: it and its arguments; ``settings``: variables for it alone.

    ``text``: what it reads on its standard input, ``source``: or the file it reads. ``out``, ``err``: whether what it
    writes there reaches the terminal. ``tails``: what is printed behind it. ``comment``: what stands behind ``#``.
    ``wants``: the word that ends the here-document under it.
    """

    words: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()
    text: str | None = None
    source: str = ""
    target: str = ""
    out: bool = True
    err: bool = True
    tails: tuple[Tail, ...] = ()
    comment: str = ""
    wants: str = ""


def read_line(text: str) -> Line | None:
    """The command in a line; None if any of it is not understood."""
    tokens = _tokens(text)
    if tokens is None:
        return None
    comment = tokens.pop()[1] if tokens and tokens[-1][0] == "comment" else ""
    parts, signs = _split(tokens)
    if any(sign == "|" for sign in signs[1:]):
        return None
    piped = bool(signs) and signs[0] == "|"
    line = _simple(parts[1] if piped else parts[0])
    if line is not None and piped:
        line = _fed(line, _simple(parts[0]))
    first = 1 if piped else 0
    tails = [_tail(s, _simple(p)) for s, p in zip(signs[first:], parts[first + 1 :], strict=True)]
    if line is None or not all(tails):
        return None
    return replace(line, tails=tuple(tail for tail in tails if tail), comment=comment)


_Tokens = list[tuple[str, str]]


def _tokens(text: str) -> _Tokens | None:
    """Words with their quotes gone, operators, and the comment last; None if anything else stands in it."""
    found: _Tokens = []
    at, joined = 0, False
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        kind, piece = match.lastgroup or "", match.group()
        at = match.end()
        if kind in ("op", "comment", "space"):
            joined = False
            if kind != "space":
                found.append((kind, re.sub(r"[ \t]", "", piece) if kind == "op" else piece.lstrip("# \t")))
            continue
        plain = _plain(kind, piece)
        if plain is None:
            return None
        if joined:
            plain = found.pop()[1] + plain
        found.append(("word", plain))
        joined = True
    return found


def _plain(kind: str, piece: str) -> str | None:
    """What a stretch of a word stands for; None where the shell would put something else there."""
    if kind == "single":
        return piece[1:-1]
    if kind == "double":
        return re.sub(r"\\([\"\\])", r"\1", piece[1:-1])
    if kind == "escape":
        return piece[1:]
    return None if piece.startswith("~") else piece


def _split(tokens: Sequence[tuple[str, str]]) -> tuple[list[_Tokens], list[str]]:
    parts: list[_Tokens] = [[]]
    signs: list[str] = []
    for kind, piece in tokens:
        if kind == "op" and piece in ("&&", "||", ";", "|"):
            signs.append(piece)
            parts.append([])
        else:
            parts[-1].append((kind, piece))
    if signs and signs[-1] == ";" and not parts[-1]:
        parts.pop()
        signs.pop()
    return parts, signs


def _simple(tokens: _Tokens) -> Line | None:
    """One command with its settings and redirections."""
    words: list[str] = []
    settings: list[tuple[str, str]] = []
    line = Line(())
    waiting = ""
    for kind, piece in tokens:
        setting = _SETTING.fullmatch(piece) if not words else None
        if kind == "comment" or (kind == "op" and waiting):
            return None
        if kind == "op":
            waiting = piece
        elif waiting:
            directed = _directed(line, waiting, piece)
            if directed is None:
                return None
            line, waiting = directed, ""
        elif setting and (setting.group(1).isupper() or not words):
            settings.append((setting.group(1), setting.group(2)))
        else:
            words.append(piece)
    if words[:1] == ["env"]:
        words.pop(0)
        while words and (setting := _SETTING.fullmatch(words[0])):
            settings.append((setting.group(1), setting.group(2)))
            words.pop(0)
    if waiting or not (words or settings):
        return None
    return replace(line, words=tuple(words), settings=tuple(settings))


def _directed(line: Line, sign: str, target: str) -> Line | None:
    """The command with one redirection."""
    if sign == "<":
        return replace(line, source=target)
    if sign in ("<<", "<<-"):
        return replace(line, wants=target)
    nowhere = target == "/dev/null"
    if sign in ("2>&", "1>&", ">&"):
        return _joined(line, sign, target)
    if sign == "&>" and nowhere:
        return replace(line, out=False, err=False)
    if sign in (">", "1>"):
        return replace(line, out=False, target="" if nowhere else target)
    return replace(line, err=False) if sign in ("2>", "2>>") and nowhere else None


def _joined(line: Line, sign: str, target: str) -> Line | None:
    """One stream sent where the other goes at that moment."""
    if line.target:
        return None
    if sign == "2>&" and target == "1":
        return replace(line, err=line.out)
    if sign in ("1>&", ">&") and target == "2":
        return replace(line, out=line.err)
    return None


def _fed(line: Line, feeder: Line | None) -> Line | None:
    """A command with what another one pipes into it."""
    if feeder is None or feeder.settings or line.source or line.wants or not (feeder.out and feeder.err):
        return None
    if feeder.words[0] == "cat" and len(feeder.words) == 2 and not feeder.source:
        return replace(line, source=feeder.words[1])
    text = printed_by(feeder.words)
    return None if text is None or feeder.source else replace(line, text=text)


def printed_by(words: Sequence[str]) -> str | None:
    """What ``echo`` or ``printf`` prints; None for other commands, and where shells differ."""
    name, *rest = words
    if name == "echo":
        end = "\n"
        if rest[:1] == ["-n"]:
            end, rest = "", rest[1:]
        differs = any(word.startswith("-") and word != "-" for word in rest[:1]) or "\\" in "".join(rest)
        return None if differs else " ".join(rest) + end
    if name != "printf" or not rest:
        return None
    shape, *values = (_unescaped(word) for word in rest)
    if shape is None or None in values:
        return None
    holes = re.findall(r"%(.)", shape)
    if any(hole not in "s%" for hole in holes):
        return None
    filled = iter([value or "" for value in values])
    count = max(1, -(-len(values) // max(1, holes.count("s")))) if "s" in holes else 1
    if "s" not in holes and values:
        return None
    pieces = re.sub(r"%(.)", lambda m: "%" if m.group(1) == "%" else "\1", shape * count).split("\1")
    return pieces[0] + "".join(next(filled, "") + piece for piece in pieces[1:])


def _unescaped(word: str) -> str | None:
    if re.search(r"\\(?![nt\\r0])|\\0\d", word):
        return None
    return re.sub(r"\\([nt\\r0])", lambda match: _ESCAPES[match.group(1)], word)


def _tail(sign: str, line: Line | None) -> Tail | None:
    """An ``echo`` behind a command."""
    plain = line is not None and not line.settings and not line.source and line.out and line.err
    if line is None or not plain or not line.words or sign == "|":
        return None
    text = printed_by(line.words)
    return Tail(sign, text.rstrip("\n")) if text is not None else None


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the report that a step runs. ``text``: as it is written; ``arguments``: what follows its program.

    ``modules``: the modules of the project that it starts.
    """

    text: str
    line: Line
    arguments: tuple[str, ...]
    modules: tuple[str, ...] = ()
