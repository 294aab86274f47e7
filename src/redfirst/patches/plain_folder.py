# SPDX-License-Identifier: Apache-2.0
"""A folder without Git as a Git tree, byte for byte, without writing in it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from redfirst.patches.git import git

_CACHES = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache"}
    | {".pytest_cache", ".ruff_cache", ".hypothesis", ".eggs"}
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file or link. ``path`` is relative; ``mode`` as Git writes it."""

    path: str
    mode: str


def entries_of(folder: Path) -> list[Entry]:
    """Every regular file and link but those of caches and environments, sorted. Raises OSError."""
    found: list[Entry] = []
    open_folders = [""]
    while open_folders:
        below = open_folders.pop()
        with os.scandir(folder / below) as scan:
            entries = list(scan)
        names = {entry.name for entry in entries}
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                if not _is_cache(entry, names):
                    open_folders.append(path)
            elif stat.S_ISLNK(mode):
                found.append(Entry(path, "120000"))
            elif stat.S_ISREG(mode) and entry.name != ".git":
                found.append(Entry(path, "100755" if mode & stat.S_IXUSR else "100644"))
    return sorted(found, key=lambda entry: entry.path)


def _is_cache(entry: os.DirEntry[str], beside: set[str]) -> bool:
    if entry.name in _CACHES or (entry.name == "target" and "Cargo.toml" in beside):
        return True
    return os.path.isfile(os.path.join(entry.path, "pyvenv.cfg"))


def hash_entries(folder: Path, entries: list[Entry], repository: Path, *, write: bool) -> str:
    """The tree hash of these files; with ``write`` their objects are left in ``repository``.

    Raises OSError and GitFailed where a file cannot be read.
    """
    links = repository / "links"
    links.mkdir(exist_ok=True)
    lines = []
    for number, entry in enumerate(entries):
        source = folder / entry.path
        if entry.mode == "120000":
            # the content of a link is its target, which git only hashes from a file
            target = links / str(number)
            target.write_bytes(os.fsencode(os.readlink(source)))
            source = target
        lines.append(quoted(os.fsencode(source)))
    words = ["hash-object", "--stdin-paths", "--no-filters", *(["-w"] if write else [])]
    names = git(words, folder=repository, stdin=b"\n".join(lines) + b"\n").decode().split()
    index = repository / "folder-index"
    index.unlink(missing_ok=True)
    staged = [
        f"{entry.mode} {name}\t".encode() + os.fsencode(entry.path) + b"\0"
        for entry, name in zip(entries, names, strict=True)
    ]
    variables = {"GIT_INDEX_FILE": str(index)}
    git(
        ["update-index", "-z", "--index-info"], folder=repository, stdin=b"".join(staged), variables=variables
    )
    missing = [] if write else ["--missing-ok"]
    return git(["write-tree", *missing], folder=repository, variables=variables).decode().strip()


def quoted(path: bytes) -> bytes:
    """A path in C quotes, every odd byte as three octal digits."""
    plain = (chr(byte) if 32 <= byte < 127 and byte not in (34, 92) else f"\\{byte:03o}" for byte in path)
    return f'"{"".join(plain)}"'.encode()
