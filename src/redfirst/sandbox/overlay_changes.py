# SPDX-License-Identifier: Apache-2.0
"""Reads what changed in a workspace out of the upper folder of its overlay; the tree itself is not walked.

The kernel writes there: a file that was made or written, a character device 0/0 for what was removed, and a
mark on a folder that replaces one below ("opaque"). A file that was opened for writing is copied up even if
its content ends up the same, so it counts as modified.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from redfirst.core.errors import SandboxError
from redfirst.sandbox.beneath import DEPTH, ENTRIES, open_for_walk
from redfirst.sandbox.protocol import Change, ChangeKind

_OPAQUE = ("user.overlay.opaque", "trusted.overlay.opaque")


@dataclass(frozen=True, slots=True)
class Mark:
    """Enough of an inode's state that any write to it, even one taken back, shows."""

    inode: int
    changed_ns: int
    size: int
    mode: int

    @classmethod
    def of(cls, found: os.stat_result) -> Mark:
        return cls(found.st_ino, found.st_ctime_ns, found.st_size, found.st_mode)


@dataclass(slots=True)
class UpperWalk:
    """One reading of an upper folder.

    ``lowers``: descriptors of the trees below it, uppermost first. ``laid``: what the edits left, None where
    they removed. ``own``: paths that we made ourselves to mount something there.
    """

    lowers: Sequence[int]
    laid: Mapping[str, Mark | None]
    own: Collection[str]
    found: dict[str, ChangeKind] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    count: int = 0

    def changes(self, upper: int) -> tuple[Change, ...]:
        """Everything that differs from the trees plus the edits. Raises SandboxError if it is too much."""
        self._folder(upper, list(self.lowers), "", opaque=False, depth=0)
        for path, mark in self.laid.items():
            if mark is not None and path not in self.seen:
                self.found.setdefault(path, ChangeKind.REMOVED)
        return tuple(Change(path, kind) for path, kind in sorted(self.found.items()))

    def _folder(self, upper: int, lowers: list[int], prefix: str, *, opaque: bool, depth: int) -> int:
        names = os.listdir(upper)
        self._count(len(names))
        for name in names:
            state = os.stat(name, dir_fd=upper, follow_symlinks=False)
            path = prefix + name
            if stat.S_ISCHR(state.st_mode) and state.st_rdev == 0:
                self._gone(lowers, name, path)
            elif stat.S_ISDIR(state.st_mode):
                self._subfolder(upper, lowers, name, path, state, opaque=opaque, depth=depth)
            else:
                self._file(lowers, name, path, state)
        if opaque:
            for name in {name for lower in lowers for name in os.listdir(lower)} - set(names):
                self._gone(lowers, name, prefix + name)
        return len(names)

    def _file(self, lowers: list[int], name: str, path: str, state: os.stat_result) -> None:
        self.seen.add(path)
        if path in self.own:
            return
        laid = self.laid.get(path)
        if laid is not None:
            if Mark.of(state) != laid:
                self.found[path] = ChangeKind.MODIFIED
            return
        below = _lookup(lowers, name)
        if below is None or path in self.laid:
            self.found[path] = ChangeKind.ADDED
        elif stat.S_ISDIR(below.st_mode):
            self._gone(lowers, name, path)
            self.found[path] = ChangeKind.ADDED
        else:
            self.found[path] = ChangeKind.MODIFIED

    def _subfolder(
        self,
        upper: int,
        lowers: list[int],
        name: str,
        path: str,
        state: os.stat_result,
        *,
        opaque: bool,
        depth: int,
    ) -> None:
        below = _lookup(lowers, name)
        known = below is not None and stat.S_ISDIR(below.st_mode)
        if below is not None and not known and path not in self.laid:
            self.found[path] = ChangeKind.REMOVED
        elif below is not None and known and stat.S_IMODE(below.st_mode) != stat.S_IMODE(state.st_mode):
            self.found[path] = ChangeKind.MODIFIED
        if depth >= DEPTH:
            self.found[path] = ChangeKind.MODIFIED if known else ChangeKind.ADDED
            return
        with ExitStack() as opened:
            inner = open_for_walk(name, upper)
            opened.callback(os.close, inner)
            under = _open_all(lowers, name, opened)
            hidden = opaque or _is_opaque(inner)
            held = self._folder(inner, under, path + "/", opaque=hidden, depth=depth + 1)
        if not held and not known and path not in self.own:
            self.found.setdefault(path, ChangeKind.ADDED)

    def _gone(self, lowers: list[int], name: str, path: str, depth: int = 0) -> None:
        """Note as removed what lies at ``name`` below: itself, or each file of the folder that it is."""
        state = _lookup(lowers, name)
        if state is None:
            if self.laid.get(path) is not None:
                self.found[path] = ChangeKind.REMOVED
            return
        if not stat.S_ISDIR(state.st_mode) or depth >= DEPTH:
            if self.laid.get(path, state) is not None:
                self.found[path] = ChangeKind.REMOVED
            return
        with ExitStack() as opened:
            under = _open_all(lowers, name, opened)
            names = {inner for lower in under for inner in os.listdir(lower)}
            self._count(len(names))
            for inner in names:
                self._gone(under, inner, f"{path}/{inner}", depth + 1)
            if not names and self.laid.get(path, state) is not None:
                self.found[path] = ChangeKind.REMOVED

    def _count(self, entries: int) -> None:
        self.count += entries
        if self.count > ENTRIES:
            raise SandboxError(
                f"the run changed more than {ENTRIES:,} files",
                "lower the limit files, or have the tests write to their temporary folder",
            )


def _lookup(lowers: Sequence[int], name: str) -> os.stat_result | None:
    for lower in lowers:
        try:
            return os.stat(name, dir_fd=lower, follow_symlinks=False)
        except FileNotFoundError:
            continue
    return None


def _open_all(lowers: Sequence[int], name: str, opened: ExitStack) -> list[int]:
    """The folders called ``name`` that show through each other, uppermost first."""
    found = []
    for lower in lowers:
        try:
            state = os.stat(name, dir_fd=lower, follow_symlinks=False)
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(state.st_mode):
            break
        handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=lower)
        opened.callback(os.close, handle)
        found.append(handle)
    return found


def _is_opaque(handle: int) -> bool:
    for name in _OPAQUE:
        try:
            if os.getxattr(handle, name) == b"y":
                return True
        except OSError:
            continue
    return False
