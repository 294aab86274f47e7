# SPDX-License-Identifier: Apache-2.0
"""Changes of a text by lines, and the same as a unified diff."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_CONTEXT = 3
_NO_END = "\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class Edit:
    """Puts ``text`` in the place of the lines ``start`` to ``end`` (counted from 0, ``end`` not among them)."""

    start: int
    end: int
    text: str

    @classmethod
    def behind(cls, line: int, text: str) -> Edit:
        """An insertion behind that many lines."""
        return cls(line, line, text)


def split_lines(text: str) -> list[str]:
    """Lines with their ends, cut at line feeds alone, as Git does."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made, in the text's own line ends; those at one place keep their order."""
    lines = split_lines(text)
    for edit in reversed(_settled(text, edits)):
        lines[edit.start : edit.end] = split_lines(edit.text)
    return "".join(lines)


def diff_of(path: str, text: str, edits: Sequence[Edit]) -> bytes:
    """The unified diff of the edits; no two of them may change the same line."""
    lines = split_lines(text)
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    hunks: list[str] = []
    shift = 0
    for group in _near(_settled(text, edits)):
        start = max(group[0].start - _CONTEXT, 0)
        end = min(group[-1].end + _CONTEXT, len(lines))
        old = end - start
        new = old + sum(len(split_lines(edit.text)) - (edit.end - edit.start) for edit in group)
        first, then = start + (1 if old else 0), start + shift + (1 if new else 0)
        hunks.append(f"@@ -{first},{old} +{then},{new} @@\n" + _hunk(lines, start, end, group))
        shift += new - old
    return (head + "".join(hunks)).encode()


def diff_of_new(path: str, text: str) -> bytes:
    """The diff that adds a file."""
    lines = split_lines(text)
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return (head + f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(_line("+", line) for line in lines)).encode()


def _settled(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """The edits by place, in the text's line ends; a last line without an end gets one before more follows it."""
    lines = split_lines(text)
    crlf = text.count("\r\n") * 2 > text.count("\n")
    ended: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        added = re.sub(r"(?<!\r)\n", "\r\n", edit.text) if crlf else edit.text
        start = edit.start
        if start == edit.end == len(lines) and lines and not lines[-1].endswith("\n"):
            if ended and ended[-1].end == start:
                ended[-1] = Edit(ended[-1].start, start, ended[-1].text + added)
                continue
            start, added = start - 1, lines[-1] + ("\r\n" if crlf else "\n") + added
        ended.append(Edit(start, edit.end, added))
    return ended


def _near(edits: Sequence[Edit]) -> list[list[Edit]]:
    """Edits whose contexts touch go into one hunk."""
    groups: list[list[Edit]] = []
    for edit in edits:
        if groups and edit.start - groups[-1][-1].end <= 2 * _CONTEXT:
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return groups


def _hunk(lines: Sequence[str], start: int, end: int, group: Sequence[Edit]) -> str:
    changed: list[str] = []
    at = start
    for edit in group:
        changed += [_line(" ", line) for line in lines[at : edit.start]]
        changed += [_line("-", line) for line in lines[edit.start : edit.end]]
        changed += [_line("+", line) for line in split_lines(edit.text)]
        at = edit.end
    return "".join([*changed, *(_line(" ", line) for line in lines[at:end])])


def _line(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n{_NO_END}"
