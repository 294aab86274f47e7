# SPDX-License-Identifier: Apache-2.0
"""Unpacks a source archive without letting it write elsewhere, set owners or make special files.

``tarfile`` has filters for this only from Python 3.11.4 on, so what is allowed is decided here.
"""

from __future__ import annotations

import posixpath
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import IO

from redfirst.core.errors import EnvironmentFailed

_MOST_BYTES = 2 << 30
_MOST_FILES = 200_000


def unpack(archive: Path, folder: Path) -> None:
    """Write folders, regular files and inner links of a tar or zip archive into a new folder.

    Raises EnvironmentFailed for anything else in it, for paths that leave it, and for one that is too big.
    """
    folder.mkdir(parents=True)
    try:
        if archive.name.endswith(".zip"):
            with zipfile.ZipFile(archive) as bundle:
                _unpack_zip(bundle, folder, archive.name)
        else:
            with tarfile.open(archive) as tar:
                _unpack_tar(tar, folder, archive.name)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
        raise EnvironmentFailed(f"{archive.name} cannot be unpacked ({error})", "fetch it again") from None


def _unpack_tar(tar: tarfile.TarFile, folder: Path, name: str) -> None:
    room = _Room(name)
    links: list[tuple[Path, str]] = []
    for member in tar:
        path = _inside(member.name, name)
        if path is None or member.isdir():
            continue
        target = folder / path
        if member.issym() or member.islnk():
            # last of all, so that no file is written through a link
            links.append((target, _aim(member, path, name)))
            continue
        source = tar.extractfile(member) if member.isreg() else None
        if source is None:
            raise EnvironmentFailed(f"{name}: {path} is no file, folder or link", "take another release")
        room.take(member.size)
        _write(source, target, executable=bool(member.mode & 0o100))
    for target, aim in links:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(aim)


def _unpack_zip(bundle: zipfile.ZipFile, folder: Path, name: str) -> None:
    room = _Room(name)
    for info in bundle.infolist():
        path = _inside(info.filename, name)
        if path is None or info.is_dir():
            continue
        room.take(info.file_size)
        with bundle.open(info) as source:
            _write(source, folder / path, executable=bool(info.external_attr >> 16 & 0o100))


class _Room:
    """How much an archive may still unpack."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bytes = _MOST_BYTES
        self._files = _MOST_FILES

    def take(self, size: int) -> None:
        self._bytes -= size
        self._files -= 1
        if self._bytes < 0 or self._files < 0:
            raise EnvironmentFailed(f"{self._name} unpacks to more than is allowed", "take another release")


def _inside(path: str, name: str) -> str | None:
    """The normalised path, None for the archive's own top. Raises EnvironmentFailed if it leads out."""
    whole = posixpath.normpath(path)
    if whole == ".":
        return None
    if posixpath.isabs(whole) or whole.split("/")[0] == ".." or "\\" in whole:
        raise EnvironmentFailed(f"{name}: {path!r} leads out of the archive", "take another release")
    return whole


def _aim(member: tarfile.TarInfo, path: str, name: str) -> str:
    """What a link points to, relative to its own folder; hard links become symbolic ones."""
    here = posixpath.dirname(path)
    if member.issym():
        aim = posixpath.normpath(posixpath.join(here, member.linkname))
    else:
        aim = posixpath.normpath(member.linkname)
    if posixpath.isabs(member.linkname) or _inside(aim, name) is None:
        raise EnvironmentFailed(f"{name}: link {path} leads out of the archive", "take another release")
    return posixpath.relpath(aim, here or ".")


def _write(source: IO[bytes], target: Path, *, executable: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
    target.chmod(0o755 if executable else 0o644)
