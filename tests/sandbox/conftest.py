# SPDX-License-Identifier: Apache-2.0
"""A small tree to attack, and the users as whom the sandbox is tried."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ORDINARY = 12345
SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Person:
    """A user of the machine: how commands are started as them, and what is theirs."""

    prefix: tuple[str, ...]
    python: str
    source: Path
    folder: Path


def write_tree(folder: Path) -> Path:
    """A few files, one of them in a folder of its own."""
    (folder / "folder").mkdir(parents=True)
    (folder / "top.txt").write_text("top\n")
    (folder / "folder" / "inner.txt").write_text("inner\n")
    (folder / "tool.sh").write_text("#!/bin/sh\necho tool\n")
    (folder / "tool.sh").chmod(0o755)
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree")


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """A folder that every user can read, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="redfirst-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session", params=["root", "ordinary"])
def person(request: pytest.FixtureRequest, open_folder: Path) -> Person:
    """Root where the tests run as root, and an ordinary user in any case."""
    folder = open_folder / request.param
    write_tree(folder / "tree")
    (folder / "secret").mkdir()
    (folder / "secret" / "secret").write_text("secret\n")
    shutil.copytree(SOURCE, folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(Path(__file__).parent, folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    if os.geteuid() != 0:
        if request.param == "root":
            pytest.skip("these tests do not run as root")
        return Person((), sys.executable, folder / "src", folder)
    if request.param == "root":
        return Person((), sys.executable, folder / "src", folder)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, ORDINARY, ORDINARY)
    change = ("setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups")
    return Person(change, "/usr/bin/python3", folder / "src", folder)
