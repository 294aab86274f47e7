# SPDX-License-Identifier: Apache-2.0
"""Notes the state of every file of a copied tree, so that a later look shows each one that was touched."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Mapping

from redfirst.core.errors import SandboxError
from redfirst.sandbox.beneath import DEPTH, ENTRIES, look, open_for_walk, parts_of
from redfirst.sandbox.overlay_changes import Mark
from redfirst.sandbox.protocol import Change, ChangeKind


def take(root: int) -> dict[str, Mark]:
    """The mark of everything below ``root``; of a folder only its mode and whether it is empty count."""
    found: dict[str, Mark] = {}
    _folder(root, "", found, 0)
    return found


def _folder(handle: int, prefix: str, found: dict[str, Mark], depth: int) -> None:
    names = os.listdir(handle)
    if len(found) + len(names) > ENTRIES:
        raise SandboxError(
            f"the workspace holds more than {ENTRIES:,} files", "a copied tree must be smaller than that"
        )
    for name in names:
        state = os.stat(name, dir_fd=handle, follow_symlinks=False)
        path = prefix + name
        if not stat.S_ISDIR(state.st_mode):
            found[path] = Mark.of(state)
            continue
        found[path] = Mark(0, 0, 0, state.st_mode)
        if depth < DEPTH:
            inner = open_for_walk(name, handle)
            try:
                _folder(inner, path + "/", found, depth + 1)
            finally:
                os.close(inner)


def renew(marks: dict[str, Mark], root: int, paths: Iterable[str]) -> None:
    """Bring ``marks`` up to date where ``paths`` were just laid or removed."""
    for path in paths:
        parts = parts_of(path)
        for depth in range(1, len(parts) + 1):
            name = "/".join(parts[:depth])
            state = look(root, name)
            if state is None:
                marks.pop(name, None)
            elif stat.S_ISDIR(state.st_mode):
                marks[name] = Mark(0, 0, 0, state.st_mode)
            else:
                marks[name] = Mark.of(state)


def compare(
    before: Mapping[str, Mark], after: Mapping[str, Mark], own: Collection[str]
) -> tuple[Change, ...]:
    """The changes from ``before`` to ``after``; new folders count only while they are empty."""
    filled = {path.rpartition("/")[0] for path in after} | {path.rpartition("/")[0] for path in before}
    changes = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new or path in own:
            continue
        one_sided = old is None or new is None
        mark = new or old
        if one_sided and mark is not None and stat.S_ISDIR(mark.mode) and path in filled:
            continue
        kind = ChangeKind.ADDED if old is None else ChangeKind.REMOVED if new is None else ChangeKind.MODIFIED
        changes.append(Change(path, kind))
    return tuple(changes)
