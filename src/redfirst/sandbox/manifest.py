# SPDX-License-Identifier: Apache-2.0
"""The state of a tree by stat alone, files laid into it, and what differs between two states."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path, PurePosixPath

from redfirst.core.errors import SandboxError
from redfirst.sandbox.protocol import Change, ChangeKind, FileEdit

_MOST = 250_000

#: path → (mode, size, mtime, ctime) of everything that is not a folder
Manifest = dict[str, tuple[int, int, int, int]]


def scan(root: str) -> Manifest:
    """Every file, link and device below ``root``; links are not followed. At most 250,000 entries."""
    found: Manifest = {}
    todo = [""]
    while todo and len(found) < _MOST:
        folder = todo.pop()
        for entry in os.scandir(os.path.join(root, folder)):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                todo.append(path)
            else:
                facts = entry.stat(follow_symlinks=False)
                found[path] = (facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
    return found


def compare(before: Manifest, after: Manifest, points: set[str]) -> tuple[Change, ...]:
    """What differs; a file that was written and restored differs by its change time."""
    changes = [Change(path, ChangeKind.REMOVED) for path in before if path not in after]
    for path, facts in after.items():
        if path in points:
            continue
        if path not in before:
            changes.append(Change(path, ChangeKind.ADDED))
        elif before[path] != facts:
            changes.append(Change(path, ChangeKind.MODIFIED))
    return tuple(sorted(changes, key=lambda change: change.path))


def write_edit(root: str, edit: FileEdit) -> None:
    """Lay or remove one file below ``root``. Raises SandboxError: leaves the tree, or no room."""
    parts = PurePosixPath(edit.path).parts
    if not parts or edit.path.startswith("/") or ".." in parts:
        raise SandboxError(f"{edit.path!r} leaves the workspace", "give a path inside it")
    path = Path(root, *parts)
    try:
        for parent in list(reversed(path.parents))[len(Path(root).parts) :]:
            if parent.is_symlink():
                raise SandboxError(f"{edit.path!r} goes through a link", "give a path inside the workspace")
        if edit.content is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(edit.content)
        path.chmod(0o755 if edit.executable else 0o644)
    except OSError as error:
        raise SandboxError(
            f"cannot lay {edit.path} into the workspace ({error.strerror})", "give more disk_mb"
        ) from None


def read_regular(root: str, path: str, limit: int) -> bytes | None:
    """At most ``limit`` bytes of a regular file; no link on the way is followed."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        return None
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        handle = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO):
            return None
        raise
    finally:
        os.close(folder)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        return file.read(limit)
