# SPDX-License-Identifier: Apache-2.0
"""Small Git checkouts made with the real git, and diffs written by hand."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from redfirst.patches.base import PreparedBase, prepare_base

_ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@localhost",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@localhost",
    "GIT_ALLOW_PROTOCOL": "file",
}
Files = Mapping[str, bytes | str | None]


def git(folder: Path, *words: str, stdin: bytes = b"") -> str:
    """One git command of an ordinary user; its output without margins."""
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *words],
        cwd=folder,
        env=_ENV,
        input=stdin,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def write(folder: Path, files: Files) -> None:
    """Write files below ``folder``; None removes one."""
    for name, content in files.items():
        path = folder / name
        if content is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def commit(folder: Path, message: str = "c") -> str:
    """Everything as one commit, ignored files as well; its name."""
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def checkout(folder: Path, files: Files) -> Path:
    """A repository with one commit of ``files``."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    write(folder, files)
    commit(folder)
    return folder


def base_of(folder: Path, files: Files) -> PreparedBase:
    """Base of a fresh repository below ``folder``, in a store beside it."""
    return prepare_base(checkout(folder / "repo", files), None, folder / "store")


def diff(path: str, *lines: str, at: tuple[int, int, int, int]) -> bytes:
    """A one-hunk diff of one file; lines without their line ends."""
    head = f"--- a/{path}\n+++ b/{path}\n@@ -{at[0]},{at[1]} +{at[2]},{at[3]} @@\n"
    return (head + "".join(f"{line}\n" for line in lines)).encode()


def snapshot(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Mode, size, time and content of all that lies below a folder, Git's own files included."""
    found = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = (state.st_mode, state.st_size, state.st_mtime_ns, content)
    return found
