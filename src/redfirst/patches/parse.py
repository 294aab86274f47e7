# SPDX-License-Identifier: Apache-2.0
"""Unified diffs read byte by byte: which files, which modes, which hunks, or why it is none.

Read here and not by a library: content may be in any encoding and hold any line separator but LF.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum

from redfirst.core.errors import PatchMalformed

_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?:[ \t\r].*)?$", re.DOTALL)
_EXTENDED = (
    b"index ",
    b"old mode ",
    b"new mode ",
    b"new file mode ",
    b"deleted file mode ",
    b"similarity index ",
    b"dissimilarity index ",
    b"rename from ",
    b"rename to ",
    b"copy from ",
    b"copy to ",
)
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, '"': 34, "\\": 92}
_TODO = "write one complete unified diff against Base"


class FileKind(StrEnum):
    """What a diff does to one file."""

    ADD = "add"
    DELETE = "delete"
    MODIFY = "modify"
    RENAME = "rename"
    COPY = "copy"


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk. ``lines`` keep their first byte (space, minus, plus) and their line end."""

    old_start: int
    new_start: int
    lines: tuple[bytes, ...]

    def side(self, sign: bytes) -> tuple[bytes, ...]:
        """Lines of the old (``-``) or new (``+``) text."""
        return tuple(line[1:] for line in self.lines if line[:1] in (b" ", sign))


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """One file of a diff; paths relative, without their leading ``a/`` or ``b/``."""

    old_path: str | None
    new_path: str | None
    kind: FileKind
    old_mode: str | None = None
    new_mode: str | None = None
    binary: bool = False
    hunks: tuple[Hunk, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path it names, the old one first."""
        return tuple(dict.fromkeys(path for path in (self.old_path, self.new_path) if path is not None))


@dataclass(frozen=True, slots=True)
class Patch:
    """A whole diff."""

    files: tuple[PatchedFile, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that a header names."""
        return tuple(dict.fromkeys(path for file in self.files for path in file.paths))


@dataclass(slots=True)
class _Header:
    """What was read of one file so far."""

    git: tuple[str, str] | None = None
    old: str | None = None
    new: str | None = None
    seen: set[str] = field(default_factory=set)
    modes: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    binary: bool = False
    hunks: list[Hunk] = field(default_factory=list)


def parse_patch(data: bytes) -> Patch:
    """Read a diff. Raises PatchMalformed naming the line that is wrong."""
    if not data.strip():
        raise PatchMalformed("the patch is empty", _TODO)
    if not data.endswith(b"\n"):
        raise PatchMalformed("the last line of the patch has no line end", "end it with a newline")
    reader = _Reader(data.split(b"\n")[:-1])
    files = []
    while reader.more():
        files.append(reader.file())
    if not files:
        raise PatchMalformed("the patch names no file", _TODO)
    return Patch(tuple(files))


class _Reader:
    """Walks over the lines of a diff, one file after the other."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at >= len(self._lines)

    def more(self) -> bool:
        """Whether another file follows; blank lines between files mean nothing."""
        while not self.done and not self._peek().strip():
            self._at += 1
        return not self.done

    def _peek(self) -> bytes:
        return self._lines[self._at] if not self.done else b""

    def _wrong(self, what: str) -> PatchMalformed:
        shown = self._peek()[:60].decode("utf-8", "replace")
        return PatchMalformed(f"line {self._at + 1} of the patch: {what}: {shown!r}", _TODO)

    def file(self) -> PatchedFile:
        """One file: headers, then hunks or binary data."""
        header = _Header()
        if self._peek().startswith(b"diff --git "):
            header.git = self._git_paths()
            self._extended(header)
        elif not self._peek().startswith(b"--- "):
            raise self._wrong("this is no part of a unified diff")
        if self._peek().startswith(b"--- "):
            self._names(header)
            self._hunks(header)
        elif self._peek() == b"GIT binary patch":
            self._binary(header)
        elif self._peek().startswith(b"Binary files "):
            raise self._wrong("a binary change without its data")
        return self._finish(header)

    def _git_paths(self) -> tuple[str, str]:
        rest = self._peek()[len(b"diff --git ") :]
        pair = _split_pair(rest)
        if pair is None:
            raise self._wrong("paths need the prefixes a/ and b/")
        self._at += 1
        return pair

    def _extended(self, header: _Header) -> None:
        while self._peek().startswith(_EXTENDED):
            line = self._peek()
            for name in ("old mode", "new mode", "new file mode", "deleted file mode"):
                if line.startswith(name.encode() + b" "):
                    header.modes[name] = self._mode(line[len(name) + 1 :])
            for name in ("rename from", "rename to", "copy from", "copy to"):
                if line.startswith(name.encode() + b" "):
                    header.moved[name] = self._unquoted(line[len(name) + 1 :])
            if (match := re.fullmatch(rb"index \S+ (\d{6})\s*", line)) is not None:
                header.modes.setdefault("same mode", self._mode(match[1]))
            self._at += 1

    def _mode(self, text: bytes) -> str:
        """A mode as Git keeps it: of a regular file only whether its owner may execute it."""
        mode = text.strip()
        if mode in (b"120000", b"160000"):
            return mode.decode()
        if re.fullmatch(rb"10[0-7]{4}", mode) is None:
            raise self._wrong("a mode that no file can have")
        return "100755" if int(mode, 8) & 0o100 else "100644"

    def _names(self, header: _Header) -> None:
        header.old = self._name(b"--- ", "a/")
        if not self._peek().startswith(b"+++ "):
            raise self._wrong("a line +++ is missing")
        header.new = self._name(b"+++ ", "b/")
        header.seen.add("names")
        if header.old is None and header.new is None:
            raise self._wrong("both sides are /dev/null")
        # the line of a rename cannot always be split; Git compares the names that its own lines give
        told = None if header.moved else header.git
        if told and not (header.old in (None, told[0]) and header.new in (None, told[1])):
            raise self._wrong("the lines before have other paths than their diff --git line")

    def _name(self, sign: bytes, prefix: str) -> str | None:
        text = self._peek()[len(sign) :].rstrip(b"\r")
        # a tab ends the name; Git writes one after a name with a space, other tools before a date
        text = text.split(b"\t")[0]
        if text == b"/dev/null":
            self._at += 1
            return None
        path = self._unquoted(text)
        if path.startswith("/") or path.startswith("../"):
            self._at += 1
            return path
        if not path.startswith(("a/", "b/")) or len(path) == len(prefix):
            raise self._wrong("paths need the prefixes a/ and b/")
        self._at += 1
        return path[2:]

    def _unquoted(self, text: bytes) -> str:
        try:
            path = unquote(text)
        except ValueError:
            raise self._wrong("this path cannot be read") from None
        if not path:
            raise self._wrong("an empty path")
        return path

    def _hunks(self, header: _Header) -> None:
        if not self._peek().startswith(b"@@"):
            raise self._wrong("a hunk is missing")
        while self._peek().startswith(b"@@"):
            header.hunks.append(self._hunk())

    def _hunk(self) -> Hunk:
        match = _HUNK.match(self._peek())
        if match is None:
            raise self._wrong("a corrupt hunk header")
        old_start, old, new_start, new = (1 if group is None else int(group) for group in match.groups())
        self._at += 1
        lines = self._hunk_lines(old, new)
        if self._peek()[:1] in (b" ", b"+") or (
            self._peek()[:1] == b"-" and not self._peek().startswith(b"--- ")
        ):
            raise self._wrong("the hunk has other counts than its header")
        if not any(line[:1] in (b"-", b"+") for line in lines):
            raise self._wrong("the hunk before changes nothing")
        return Hunk(old_start, new_start, tuple(lines))

    def _hunk_lines(self, old: int, new: int) -> list[bytes]:
        """As many lines as the header promises of the old and the new text."""
        lines: list[bytes] = []
        while old > 0 or new > 0:
            if self.done:
                raise self._wrong("the hunk is cut")
            line = self._peek()
            if line.startswith(b"\\") and lines:
                self._unended(lines)
                continue
            # some tools write an empty context line without its space, and Git reads it so
            line = line or b" "
            if line[:1] not in (b" ", b"-", b"+"):
                raise self._wrong("a corrupt hunk")
            old -= line[:1] in (b" ", b"-")
            new -= line[:1] in (b" ", b"+")
            if old < 0 or new < 0:
                raise self._wrong("the hunk has other counts than its header")
            lines.append(line + b"\n")
            self._at += 1
        if self._peek().startswith(b"\\") and lines:
            self._unended(lines)
        return lines

    def _unended(self, lines: list[bytes]) -> None:
        """``\\ No newline at end of file`` belongs to the line before it."""
        lines[-1] = lines[-1].removesuffix(b"\n")
        self._at += 1

    def _binary(self, header: _Header) -> None:
        header.binary = True
        self._at += 1
        blocks = 0
        while self._peek().startswith((b"literal ", b"delta ")):
            blocks += 1
            self._at += 1
            while self._peek():
                self._at += 1
            if self.done:
                raise self._wrong("the binary data is cut")
            self._at += 1
        if not blocks:
            raise self._wrong("binary data is missing")

    def _finish(self, header: _Header) -> PatchedFile:
        old, new = (header.old, header.new) if "names" in header.seen else header.git or (None, None)
        modes = header.modes
        if "new file mode" in modes:
            old = None
        if "deleted file mode" in modes:
            new = None
        moved = header.moved
        kind = _kind(old, new)
        if "rename from" in moved or "copy from" in moved:
            word = "rename" if "rename from" in moved else "copy"
            old, new = moved.get(f"{word} from"), moved.get(f"{word} to")
            kind = FileKind(word)
        if header.git and not header.hunks and not header.binary and not _says_something(modes, moved):
            raise self._wrong("the file before has no change")
        same = modes.get("same mode")
        file = PatchedFile(
            old,
            new,
            kind,
            modes.get("old mode", modes.get("deleted file mode", same)),
            modes.get("new mode", modes.get("new file mode", same)),
            header.binary,
            tuple(header.hunks),
        )
        return replace(file, old_mode=None) if old is None else file


def _says_something(modes: dict[str, str], moved: dict[str, str]) -> bool:
    return bool(moved) or any(name != "same mode" for name in modes)


def _kind(old: str | None, new: str | None) -> FileKind:
    if old is None:
        return FileKind.ADD
    return FileKind.DELETE if new is None else FileKind.MODIFY


def _split_pair(rest: bytes) -> tuple[str, str] | None:
    """The two paths of a ``diff --git`` line, where they can be told."""
    rest = rest.rstrip(b"\r")
    try:
        if b'"' in rest:
            match = re.fullmatch(rb'("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)', rest)
            pair = (unquote(match[1]), unquote(match[2])) if match else None
        else:
            half = len(rest) // 2
            even = rest[half : half + 1] == b" " and rest[2:half] == rest[half + 3 :]
            words = (rest[:half], rest[half + 1 :]) if even else _words(rest)
            pair = (words[0].decode(), words[1].decode()) if words else None
    except ValueError:
        return None
    if pair is None or not pair[0].startswith(("a/", "b/")) or not pair[1].startswith(("a/", "b/")):
        return None
    return pair[0][2:], pair[1][2:]


def _words(rest: bytes) -> tuple[bytes, bytes] | None:
    """Two different paths: the break is before the second prefix."""
    at = rest.find(b" b/", 2)
    return (rest[:at], rest[at + 1 :]) if at > 0 else None


def unquote(text: bytes, errors: str = "strict") -> str:
    """A path as Git writes it, in C quotes or bare.

    Raises ValueError if it holds a NUL, or is not UTF-8 and ``errors`` does not allow that.
    """
    raw = text
    if text.startswith(b'"'):
        if len(text) < 2 or not text.endswith(b'"'):
            raise ValueError("unbalanced quote")
        raw = _unescaped(text[1:-1])
    if b"\0" in raw:
        raise ValueError("NUL in a path")
    return raw.decode("utf-8", errors)


def _unescaped(text: bytes) -> bytes:
    out, at = bytearray(), 0
    while at < len(text):
        if text[at] != 92:
            out.append(text[at])
            at += 1
            continue
        letter = chr(text[at + 1]) if at + 1 < len(text) else ""
        if letter in _ESCAPES:
            out.append(_ESCAPES[letter])
            at += 2
        else:
            out.append(int(text[at + 1 : at + 4], 8) & 0xFF)
            at += 4
    return bytes(out)
