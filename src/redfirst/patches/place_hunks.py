# SPDX-License-Identifier: Apache-2.0
"""Where hunks lie in a text: at the line they say, or at the one place where their old text occurs."""

from __future__ import annotations

from collections.abc import Sequence

from redfirst.core.errors import PatchConflict
from redfirst.patches.parse import Hunk

_TODO = "make the patch against Base"


def placed(path: str, hunks: Sequence[Hunk], text: bytes) -> bytes:
    """The text after the hunks. Raises PatchConflict where one fits nowhere, or in two places and none as told."""
    lines = lines_of(text)
    out: list[bytes] = []
    at = 0
    for hunk in hunks:
        old = list(hunk.side(b"-"))
        start = _place(path, hunk, old, lines)
        if start < at:
            raise PatchConflict(f"{path}: the hunks overlap or are out of order", _TODO)
        out += lines[at:start]
        out += hunk.side(b"+")
        at = start + len(old)
    return b"".join([*out, *lines[at:]])


def lines_of(text: bytes) -> list[bytes]:
    """Lines with their ends; LF alone ends a line, as Git counts them."""
    pieces = text.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def _place(path: str, hunk: Hunk, old: list[bytes], lines: list[bytes]) -> int:
    if not old:
        if hunk.old_start > len(lines):
            raise PatchConflict(f"{path} has no line {hunk.old_start}", _TODO)
        return hunk.old_start
    told = max(hunk.old_start - 1, 0)
    if lines[told : told + len(old)] == old:
        return told
    places = [
        start
        for start in range(len(lines) - len(old) + 1)
        if lines[start] == old[0] and lines[start : start + len(old)] == old
    ]
    if len(places) != 1:
        raise PatchConflict(
            f"{path}: the hunk at line {hunk.old_start} is not there, and its text occurs {len(places)} times",
            _TODO,
        )
    return places[0]
