# SPDX-License-Identifier: Apache-2.0
"""Small checkouts made by the real git, for the tests of this folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

FILES: dict[str, bytes] = {
    "src/shop/__init__.py": b"",
    "src/shop/price.py": b"def half(cents):\n    return cents // 2\n",
    "tests/test_price.py": b"from shop.price import half\n\n\ndef test_half():\n    assert half(4) == 2\n",
    "tests/data/rows.csv": b"sku,cents\na,1\n",
    "README.md": b"# Shop\n",
}


def run_git(folder: Path, *words: str, stdin: bytes = b"") -> bytes:
    """Git with an identity, and without the settings of whoever runs the tests."""
    env = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{who}_{what}": "t@localhost"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, input=stdin, env=env
    ).stdout


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder


def commit_all(folder: Path, message: str = "base") -> str:
    """Commit everything, ignored files too; the commit's hash."""
    run_git(folder, "add", "-A", "-f", ".")
    run_git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return run_git(folder, "rev-parse", "HEAD").decode().strip()


def make_repo(folder: Path, files: Mapping[str, bytes] = FILES) -> Path:
    """A checkout with one commit of ``files``."""
    folder.mkdir(parents=True, exist_ok=True)
    run_git(folder, "init", "-q", ".")
    run_git(folder, "config", "core.autocrlf", "false")
    write_files(folder, files)
    commit_all(folder)
    return folder


def add_diff(path: str, text: bytes, mode: str = "100644") -> bytes:
    """A diff that adds one file whose lines all end."""
    lines = text.splitlines(keepends=True)
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n"
    return head.encode() + b"".join(b"+" + line for line in lines)
