# SPDX-License-Identifier: Apache-2.0
"""Makes private folders on the host, and removes those whose owner was killed before it could do so."""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.errors import SandboxError

_PREFIX = "redfirst-box-"
_ROOM = 64 << 10
#: A folder younger than this may not have been locked by its owner yet.
_YOUNG_S = 60.0
_TODO = "name another folder with --scratch"


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """A folder that only we can enter. ``lock``: held as long as we live, so that no one sweeps it."""

    path: Path
    lock: int

    def discard(self) -> None:
        """Remove it with all it holds; mounts of other namespaces in it are out of reach and unharmed."""
        remove_tree(self.path)
        with suppress(OSError):
            os.close(self.lock)


def make(base: str) -> PrivateFolder:
    """A new private folder in ``base``, where there is room for 64 KiB. Raises SandboxError."""
    try:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base)).resolve()
    except OSError as error:
        raise SandboxError(f"no folder can be made in {base} ({error.strerror})", _TODO) from error
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
        with open(path / "room", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, _ROOM)
        os.unlink(path / "room")
    except OSError as error:
        PrivateFolder(path, lock).discard()
        raise SandboxError(f"there is no room in {base} ({error.strerror})", _TODO) from error
    _sweep(base)
    return PrivateFolder(path, lock)


@functools.cache
def _sweep(base: str) -> None:
    """Remove, once for each process, the folders in ``base`` whose owners are gone."""
    with os.scandir(base) as entries:
        names = [entry.path for entry in entries if entry.name.startswith(_PREFIX)]
    for path in names:
        with suppress(OSError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                state = os.fstat(lock)
                if state.st_uid == os.geteuid() and time.time() - state.st_mtime > _YOUNG_S:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_tree(Path(path))
            finally:
                os.close(lock)


def remove_tree(path: Path) -> None:
    """Remove a folder, even one whose content was made unreadable to us; what will not go is left."""
    for parent, folders, _ in os.walk(path):
        for name in folders:
            inner = os.path.join(parent, name)
            if not os.path.islink(inner) and not os.access(inner, os.R_OK | os.W_OK | os.X_OK):
                with suppress(OSError):
                    os.chmod(inner, 0o700)
    shutil.rmtree(path, ignore_errors=True)
