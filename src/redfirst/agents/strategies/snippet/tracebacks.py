# SPDX-License-Identifier: Apache-2.0
"""Finds the exceptions that a text shows: tracebacks, or a last line such as ``ValueError: bad``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEADER = re.compile(r"^\s*(?:Traceback \(most recent call last\)|-{20,}$)")
_FRAME = re.compile(r'^\s*File "([^"]*)", line (\d+)(?:, in (.*))?$')
_LAST = re.compile(
    r"^(?:E\s+)?([A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt|Iteration|Group)[\w]*)(?::\s?(.*))?$"
)
_ANY_LAST = re.compile(r"^([A-Za-z_][\w.]*)(?::\s?(.*))?$")
_ELIDED = re.compile(r"^\s*(?:\.\.\.|…)\s*$")


@dataclass(frozen=True, slots=True)
class ShownFrame:
    """One frame as printed. ``code`` is the source line under it, '' if none is shown."""

    file: str
    line: int
    function: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class ShownException:
    """An exception that a report shows. ``type`` as printed, with or without its module."""

    type: str
    message: str
    frames: tuple[ShownFrame, ...] = ()

    @property
    def name(self) -> str:
        """The class name without its module."""
        return self.type.rpartition(".")[2]


def find_exception(text: str) -> ShownException | None:
    """The last exception of a traceback in ``text``, or of a text that is nothing but its last line."""
    lines = text.splitlines()
    start = max((n for n, line in enumerate(lines) if _HEADER.match(line)), default=None)
    frames = _frames(lines[start or 0 :])
    if start is None and not frames:
        return _only_last_line(lines)
    for number in range(len(lines) - 1, (start or 0) - 1, -1):
        line = lines[number]
        match = _LAST.match(line) or (_ANY_LAST.match(line) if number > (start or 0) else None)
        if match and not line.startswith(" "):
            rest = [match.group(2) or "", *_until_blank(lines[number + 1 :])]
            return ShownException(match.group(1), "\n".join(rest).strip(), frames)
    return None


def _only_last_line(lines: list[str]) -> ShownException | None:
    filled = [line.strip() for line in lines if line.strip() and not _ELIDED.match(line)]
    if not filled or len(filled) > 3:
        return None
    match = _LAST.match(filled[0])
    if not match:
        return None
    return ShownException(match.group(1), "\n".join([match.group(2) or "", *filled[1:]]).strip())


def _until_blank(lines: list[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        if not line.strip():
            break
        kept.append(line)
    return kept


def _frames(lines: list[str]) -> tuple[ShownFrame, ...]:
    found: list[ShownFrame] = []
    for number, line in enumerate(lines):
        match = _FRAME.match(line)
        if match:
            under = lines[number + 1].strip() if number + 1 < len(lines) else ""
            code = "" if _FRAME.match(under) else under
            found.append(ShownFrame(match.group(1), int(match.group(2)), match.group(3) or "", code))
    return tuple(found)
