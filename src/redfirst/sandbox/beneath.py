# SPDX-License-Identifier: Apache-2.0
"""Touches files of a workspace from outside without ever following a link that a command left in it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from redfirst.core.errors import SandboxError
from redfirst.sandbox.protocol import FileEdit

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

#: No folder is entered below this depth, so that a hostile tree cannot use up our descriptors.
DEPTH = 64
#: More entries than this in one walk is an error.
ENTRIES = 250_000


def parts_of(path: str) -> tuple[str, ...]:
    """The components of a path relative to the tree. Raises SandboxError if it could lead out of it."""
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise SandboxError(f"the path {path!r} leads out of the workspace", "give a path relative to it")
    return parts


@contextmanager
def folder(
    root: int, parts: Sequence[str], *, make: bool = False, made: Callable[[str], None] | None = None
) -> Iterator[int]:
    """A descriptor of the folder ``parts`` below ``root``; raises OSError if a component is a link.

    With ``make`` missing folders are created, and each relative path that was is told to ``made``.
    """
    current = os.open(".", _FOLDER, dir_fd=root)
    try:
        for depth, name in enumerate(parts, 1):
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=current)
                    if made:
                        made("/".join(parts[:depth]))
            deeper = os.open(name, _FOLDER, dir_fd=current)
            os.close(current)
            current = deeper
        yield current
    finally:
        os.close(current)


def open_for_walk(name: str, parent: int) -> int:
    """Open a folder to list it even if its mode forbids that to its owner. Raises OSError."""
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent)
        try:
            os.chmod(f"/proc/self/fd/{handle}", 0o700)
            return os.open(name, _FOLDER, dir_fd=parent)
        finally:
            os.close(handle)


def lay(root: int, edits: Sequence[FileEdit]) -> None:
    """Write and remove files below ``root``; removals first, so that a file may give way to a folder.

    Raises SandboxError naming the path that could not be laid.
    """
    for edit in sorted(edits, key=lambda edit: edit.content is not None):
        parts = parts_of(edit.path)
        if not parts:
            raise SandboxError("an edit names no file", "give a path relative to the workspace")
        try:
            if edit.content is None:
                _remove(root, parts)
            else:
                _write(root, parts, edit.content, 0o755 if edit.executable else 0o644)
        except OSError as error:
            raise SandboxError(
                f"{edit.path} cannot be laid into the workspace ({error.strerror})", _ROOM
            ) from error


_ROOM = "check that its folders are no links, and the limits disk_mb and files"


def _write(root: int, parts: Sequence[str], content: bytes, mode: int) -> None:
    with folder(root, parts[:-1], make=True) as parent:
        with suppress(FileNotFoundError):
            os.unlink(parts[-1], dir_fd=parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(parts[-1], flags, mode, dir_fd=parent)
        with open(handle, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)


def _remove(root: int, parts: Sequence[str]) -> None:
    """Remove a file, and the folders that this leaves empty, as Git does."""
    try:
        with folder(root, parts[:-1]) as parent:
            os.unlink(parts[-1], dir_fd=parent)
    except FileNotFoundError:
        return
    for depth in range(len(parts) - 1, 0, -1):
        with folder(root, parts[: depth - 1]) as parent:
            try:
                os.rmdir(parts[depth - 1], dir_fd=parent)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                    return
                raise


def read_file(root: int, path: str, limit: int) -> bytes | None:
    """At most ``limit`` bytes of a regular file; None for anything else or nothing."""
    parts = parts_of(path)
    if not parts:
        return None
    try:
        with folder(root, parts[:-1]) as parent:
            handle = os.open(
                parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent
            )
    except OSError:
        return None
    with open(handle, "rb") as file:
        return file.read(limit) if stat.S_ISREG(os.fstat(handle).st_mode) else None


def look(root: int, path: str) -> os.stat_result | None:
    """What lies at ``path`` itself; None if there is nothing or a folder on the way is a link."""
    parts = parts_of(path)
    if not parts:
        return os.stat(root)
    try:
        with folder(root, parts[:-1]) as parent:
            return os.stat(parts[-1], dir_fd=parent, follow_symlinks=False)
    except OSError:
        return None


def make_point(root: int, path: str, *, is_folder: bool, made: Callable[[str], None]) -> None:
    """Make an empty folder or file at which something can be mounted, and tell ``made`` what was new.

    Raises SandboxError if a link or something of another type is in the way.
    """
    parts = parts_of(path)
    try:
        if is_folder:
            with folder(root, parts, make=True, made=made):
                return
        with folder(root, parts[:-1], make=True, made=made) as parent:
            try:
                os.close(os.open(parts[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=parent))
                made("/".join(parts))
            except FileExistsError:
                if not stat.S_ISREG(os.stat(parts[-1], dir_fd=parent, follow_symlinks=False).st_mode):
                    raise
    except OSError as error:
        raise SandboxError(
            f"nothing can be mounted at {path} in the workspace ({error.strerror})",
            "a file or a link of the tree is in the way",
        ) from error


def holds_file_of(handle: int, size: int, depth: int = 0) -> bool:
    """Whether a regular file of exactly ``size`` bytes lies below the folder ``handle``."""
    for name in os.listdir(handle):
        state = os.stat(name, dir_fd=handle, follow_symlinks=False)
        if stat.S_ISREG(state.st_mode) and state.st_size == size:
            return True
        if stat.S_ISDIR(state.st_mode) and depth < DEPTH:
            inner = open_for_walk(name, handle)
            try:
                if holds_file_of(inner, size, depth + 1):
                    return True
            finally:
                os.close(inner)
    return False
