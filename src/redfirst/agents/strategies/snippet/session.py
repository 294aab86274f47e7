# SPDX-License-Identifier: Apache-2.0
"""Cuts a block that shows a shell session into commands, each with the output under it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.report import Block
from redfirst.agents.strategies.snippet.shell_line import Line, Tail, read_line

_PROMPT = re.compile(r"^(?:\([\w.-]+\) ?)?(?:\[?[\w.-]+@[\w.-]+[: ]?[^$#%\s]*\]?)?\$ +(?=\S)")
_PERCENT = re.compile(r"^(?:\([\w.-]+\) ?)?(?:[\w.-]+@[\w.-]+ [^$#%\s]* )?[%$] +(?=\S)")
_SESSIONS = frozenset({"console", "shell-session", "shellsession", "sh-session", "zsh", "terminal"})
_SHELLS = frozenset({"sh", "bash", "shell", "zsh"})
_PLAIN = frozenset({"", "text", "txt", "plain", "none", "output"})
_MAX_LINES = 1_000


@dataclass(frozen=True, slots=True)
class Exchange:
    """One command. ``line`` is None if it was not understood; ``number``: its line in the report."""

    text: str
    line: Line | None
    number: int
    shown: str | None = None


def exchanges_of(block: Block, known: Callable[[Line], bool]) -> tuple[Exchange, ...] | None:
    """The commands of a block; None if it is no session. ``known``: whether a command is one of the project's."""
    lines = block.text.splitlines()
    plain = block.language in _SESSIONS | _SHELLS | _PLAIN
    if not plain or len(lines) > _MAX_LINES or re.search(r"^(?:>>> |In \[\d+\]:)", block.text, re.MULTILINE):
        return None
    prompt = _PERCENT if block.language in _SESSIONS else _PROMPT
    if any(prompt.match(line) for line in lines):
        return _joined(_prompted(lines, block.line, prompt))
    if block.language in _SHELLS:
        return _joined(_listed(lines, block.line))
    if block.language in _PLAIN and lines:
        found = _listed(lines, block.line)
        if all(exchange.line is not None and known(exchange.line) for exchange in found):
            return _joined(found)
    return None


def _prompted(lines: Sequence[str], first: int, prompt: re.Pattern[str]) -> list[Exchange]:
    """Commands behind prompts, with what stands under each."""
    found: list[Exchange] = []
    at = 0
    while at < len(lines):
        match = prompt.match(lines[at])
        if not match:
            at += 1
            continue
        number = first + at
        text, line, at = _command(lines, at, lines[at][match.end() :])
        end = at
        while end < len(lines) and not prompt.match(lines[end]) and lines[end].rstrip() not in ("$", "%"):
            end += 1
        shown = "\n".join(lines[at:end]).strip("\n")
        found.append(Exchange(text, line, number, shown if shown.strip() else None))
        at = end
    return found


def _listed(lines: Sequence[str], first: int) -> list[Exchange]:
    """Commands without prompts, one a line; a comment under the last of several belongs to it."""
    found: list[Exchange] = []
    at = 0
    while at < len(lines):
        text = lines[at].strip()
        if not text or text.startswith("#"):
            last = not "".join(lines[at + 1 : at + 2]).strip()
            if text and found and last and lines[at - 1].strip():
                found[-1] = _remarked(found[-1], text.lstrip("# "))
            at += 1
            continue
        number = first + at
        text, line, at = _command(lines, at, text)
        found.append(Exchange(text, line, number))
    return found


def _remarked(exchange: Exchange, comment: str) -> Exchange:
    line = exchange.line
    if line is None:
        return exchange
    return replace(exchange, line=replace(line, comment="\n".join(filter(None, [line.comment, comment]))))


def _command(lines: Sequence[str], at: int, text: str) -> tuple[str, Line | None, int]:
    """The whole command that begins in a line, and the index of the line behind it."""
    at += 1
    while text.endswith("\\") and at < len(lines):
        text = text[:-1].rstrip() + " " + lines[at].removeprefix("> ").strip()
        at += 1
    line = read_line(text)
    if line is not None and line.wants:
        return _with_document(lines, at, text, line)
    return text, line, at


def _with_document(lines: Sequence[str], at: int, text: str, line: Line) -> tuple[str, Line | None, int]:
    """A command with the text under it, up to the word that ends it; what the shell would replace is refused."""
    end = at
    while end < len(lines) and lines[end].removeprefix("> ").strip() != line.wants:
        end += 1
    body = "".join(f"{part.removeprefix('> ')}\n" for part in lines[at:end])
    raw = re.search(rf"<<-?[ \t]*['\"]{re.escape(line.wants)}['\"]", text)
    if end == len(lines) or (not raw and re.search(r"[$`\\]", body)):
        return text, None, min(end + 1, len(lines))
    return text, replace(line, text=body, wants=""), end + 1


def _joined(found: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """An ``echo $?`` of its own belongs to the command above it."""
    kept: list[Exchange] = []
    for exchange in found:
        words = exchange.line.words if exchange.line else ()
        before = kept[-1].line if kept else None
        if words[:1] == ("echo",) and "$?" in " ".join(words) and before is not None:
            tail = Tail(";", " ".join(words[1:]))
            shown = "\n".join(filter(None, [kept[-1].shown, exchange.shown]))
            line = replace(before, tails=(*before.tails, tail)) if exchange.shown else before
            kept[-1] = replace(kept[-1], line=line, shown=shown or None)
        else:
            kept.append(exchange)
    return tuple(kept)
