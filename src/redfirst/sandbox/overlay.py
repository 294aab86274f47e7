# SPDX-License-Identifier: Apache-2.0
"""What an overlay's upper layer says was changed; the layers below it are only asked, never walked whole."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from redfirst.sandbox.manifest import scan
from redfirst.sandbox.protocol import Change, ChangeKind, FileEdit

_OPAQUE = ("user.overlay.opaque", "trusted.overlay.opaque")


def upper_changes(
    upper: str, lower: Sequence[Path], edits: Mapping[str, FileEdit], points: set[str]
) -> tuple[Change, ...]:
    """Changes relative to ``lower`` plus ``edits``. A file that was copied up counts as modified even if
    its content is the same: something opened it for writing."""
    changes: dict[str, ChangeKind] = {}
    for path, gone in _walk(upper, lower):
        if path in points:
            continue
        kind = _kind(upper, path, gone, lower, edits.get(path))
        if kind is not None:
            changes[path] = kind
    for path, edit in edits.items():
        if edit.content is not None and not os.path.lexists(os.path.join(upper, path)):
            changes[path] = ChangeKind.REMOVED
    return tuple(Change(path, kind) for path, kind in sorted(changes.items()))


def _walk(upper: str, lower: Sequence[Path]) -> Iterator[tuple[str, bool]]:
    """(path, whether it is a removal) for everything in the upper layer that is not a folder."""
    for path, facts in scan(upper).items():
        yield path, stat.S_ISCHR(facts[0])
    for folder in _folders(upper):
        if _opaque(os.path.join(upper, folder)):
            for layer in lower:
                below = layer / folder
                if below.is_dir():
                    names = (f"{folder}/{name}" for name in scan(str(below)))
                    yield from (
                        (name, True) for name in names if not os.path.lexists(os.path.join(upper, name))
                    )


def _folders(upper: str) -> Iterator[str]:
    for root, folders, _ in os.walk(upper):
        for name in folders:
            yield os.path.relpath(os.path.join(root, name), upper)


def _opaque(path: str) -> bool:
    for name in _OPAQUE:
        try:
            if os.getxattr(path, name, follow_symlinks=False) == b"y":
                return True
        except OSError:
            continue
    return False


def _kind(
    upper: str, path: str, gone: bool, lower: Sequence[Path], edit: FileEdit | None
) -> ChangeKind | None:
    there = any(os.path.lexists(layer / path) for layer in lower)
    if edit is not None:
        return _edited(os.path.join(upper, path), gone, edit)
    if gone:
        return ChangeKind.REMOVED if there else None
    return ChangeKind.MODIFIED if there else ChangeKind.ADDED


def _edited(path: str, gone: bool, edit: FileEdit) -> ChangeKind | None:
    """How a file that we laid differs from what we laid."""
    if edit.content is None:
        return None if gone else ChangeKind.ADDED
    if gone:
        return ChangeKind.REMOVED
    facts = os.lstat(path)
    same_mode = stat.S_ISREG(facts.st_mode) and bool(facts.st_mode & 0o100) == edit.executable
    if not same_mode or facts.st_size != len(edit.content):
        return ChangeKind.MODIFIED
    return None if Path(path).read_bytes() == edit.content else ChangeKind.MODIFIED
