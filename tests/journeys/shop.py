# SPDX-License-Identifier: Apache-2.0
"""A small project under Git with a bundle beside it, and the installed command to judge it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

COMMAND = str(Path(sys.executable).parent / "redfirst")
PROJECT = Path(__file__).resolve().parents[1] / "projects" / "till"

TEST_FILE, SOURCE_FILE = "tests/test_money.py", "src/till/money.py"
ADDED = """

def test_split_loses_nothing():
    assert sum(split(100, 3)) == 100
"""
BUGGY = "    return [total // people] * people\n"
FIXED = """    share, rest = divmod(total, people)
    return [share + (place < rest) for place in range(people)]
"""
NODE = f"{TEST_FILE}::test_split_loses_nothing"
CONTRACT = {
    "entrypoint": "till.split",
    "trigger": "a sum that cannot be shared evenly",
    "expected_output": "shares that add up to the sum",
    "issue_evidence": ["the README says that nothing is lost"],
    "alternative_hypotheses": ["the rest could be meant to stay in the till"],
    "non_assertions": ["who gets the rest"],
    "test_nodes": [NODE],
}


def diff(path: str, old: str, new: str) -> str:
    """The unified diff of one file."""
    lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    return "".join(unified_diff(*lines, f"a/{path}", f"b/{path}"))


@dataclass(frozen=True, slots=True)
class Done:
    """How one call of the command ended."""

    exit: int
    out: str
    err: str

    @property
    def verdict(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.out)
        return answer


@dataclass(frozen=True, slots=True)
class Shop:
    """The small project in a Git checkout, with a bundle and patches beside it."""

    folder: Path
    checkout: Path
    bundle: Path

    def call(self, *args: str, env: Mapping[str, str] | None = None) -> Done:
        """Run redfirst in the checkout with the folder's own user folders."""
        done = subprocess.run(
            [COMMAND, *args],
            cwd=self.checkout,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120", **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def gate(self, *args: str, env: Mapping[str, str] | None = None) -> Done:
        """Judge the bundle with the interpreter of these tests."""
        return self.call("gate", str(self.bundle), "--python", sys.executable, *args, env=env)

    def test_patch(self, added: str = ADDED) -> str:
        """A diff that adds text at the end of the project's test file."""
        old = (PROJECT / TEST_FILE).read_text("utf-8")
        return diff(TEST_FILE, old, old + added)

    def fix(self, instead: str = FIXED) -> str:
        """A file with a diff that puts other lines in the place of the bug; its path."""
        old = (PROJECT / SOURCE_FILE).read_text("utf-8")
        return self.file("fix.patch", diff(SOURCE_FILE, old, old.replace(BUGGY, instead)))

    def file(self, name: str, text: str) -> str:
        """Write a file beside the checkout; its path."""
        (self.folder / name).write_text(text, "utf-8")
        return str(self.folder / name)

    def git(self, *args: str) -> str:
        who = ["-c", "user.name=shop", "-c", "user.email=shop@localhost"]
        return subprocess.run(
            ["git", *who, *args], cwd=self.checkout, check=True, capture_output=True, text=True
        ).stdout


def make_shop(folder: Path) -> Shop:
    """A fresh checkout with one commit below ``folder``, and the bundle of a test that shows the bug."""
    made = Shop(folder, folder / "till", folder / "bundle")
    shutil.copytree(PROJECT, made.checkout, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    made.git("init", "-q", "-b", "main")
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "base")
    made.bundle.mkdir()
    (made.bundle / "test.patch").write_text(made.test_patch(), "utf-8")
    (made.bundle / "test_command").write_text(f"python -m pytest {NODE}\n", "utf-8")
    (made.bundle / "test_contract.json").write_text(json.dumps(CONTRACT), "utf-8")
    return made
