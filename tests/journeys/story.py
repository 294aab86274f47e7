# SPDX-License-Identifier: Apache-2.0
"""A small repository that grows by commits, and the installed command to check them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.journeys.shop import COMMAND, Done

BASE = {
    "pyproject.toml": '[project]\nname = "coins"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n',
    "README.md": "# Coins\n",
    "coins/__init__.py": "",
    "coins/purse.py": "def change(total, coin):\n    return [coin] * (total // coin + 1)\n",
    "tests/test_purse.py": (
        "from coins.purse import change\n\n\ndef test_kind():\n    assert change(9, 3)[0] == 3\n"
    ),
}
FIXED = "def change(total, coin):\n    return [coin] * (total // coin)\n"
GOOD = "\n\ndef test_sum():\n    assert sum(change(9, 3)) == 9\n"
IDLE = "\n\ndef test_idle():\n    assert change(9, 3)\n"


@dataclass(frozen=True, slots=True)
class Story:
    """A checkout whose first commit is ``BASE``."""

    folder: Path

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Lay files; None removes one."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, files: Mapping[str, str | bytes | None], message: str = "next") -> None:
        """Write and commit."""
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def more_tests(self, added: str) -> str:
        """The text of the test file with further tests."""
        return BASE["tests/test_purse.py"] + added

    def git(self, *args: str) -> str:
        who = [
            "-c",
            "user.name=coins",
            "-c",
            "user.email=coins@localhost",
            "-c",
            "protocol.file.allow=always",
        ]
        done = subprocess.run(["git", *who, *args], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, (args, done.stderr)
        return done.stdout

    def call(self, *args: str, env: Mapping[str, str] | None = None) -> Done:
        """``redfirst check`` in the checkout."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
        done = subprocess.run(
            [COMMAND, "check", *args],
            cwd=self.folder,
            env={**clean, "NO_COLOR": "1", "COLUMNS": "120", **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def check(self, *args: str, base: str = "HEAD~1") -> tuple[Done, dict[str, Any]]:
        """Check the last commit with the interpreter of these tests; the JSON report."""
        done = self.call("--base", base, "--python", sys.executable, "--json", *args)
        assert done.out, done
        report: dict[str, Any] = json.loads(done.out)
        assert report["exit"] == done.exit
        return done, report


def labels(report: Mapping[str, Any]) -> dict[str, str]:
    """Label by the last name of each test."""
    return {test["test"].rpartition("::")[2]: test["label"] for test in report["tests"]}


def begin(folder: Path, files: Mapping[str, str | bytes | None] | None = None) -> Story:
    """A fresh repository with one commit."""
    folder.mkdir(parents=True, exist_ok=True)
    story = Story(folder)
    story.git("init", "-q", "-b", "main")
    story.commit({**BASE, **(files or {})}, "base")
    return story
