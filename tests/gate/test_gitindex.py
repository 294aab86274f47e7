# SPDX-License-Identifier: Apache-2.0
"""A refreshed index is the same; a staged change is not; garbage is no index."""

from __future__ import annotations

import subprocess

import pytest

from redfirst.gate.gitindex import staged_entries


@pytest.fixture
def checkout(tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)

    git("init", "-q")
    for name in ("a.txt", "b/ü.txt", "c" * 200 + ".txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    git("add", ".")
    return tmp_path, git


def test_refreshing_changes_nothing_and_staging_does(checkout):
    folder, git = checkout
    index = folder / ".git/index"
    before = staged_entries(index.read_bytes())
    assert before is not None
    assert [path.decode() for path, *_ in before] == ["a.txt", "b/ü.txt", "c" * 200 + ".txt"]
    (folder / "a.txt").touch()
    git("update-index", "--refresh")
    assert staged_entries(index.read_bytes()) == before
    (folder / "a.txt").write_text("other")
    git("add", "a.txt")
    assert staged_entries(index.read_bytes()) != before


def test_intent_to_add_is_a_change(checkout):
    folder, git = checkout
    before = staged_entries((folder / ".git/index").read_bytes())
    (folder / "new").write_text("x")
    git("add", "-N", "new")
    after = staged_entries((folder / ".git/index").read_bytes())
    assert after is not None
    assert after != before


@pytest.mark.parametrize("data", [b"", b"DIRC", b"DIRC" + b"\xff" * 40, b"x" * 100])
def test_garbage_is_no_index(data):
    assert staged_entries(data) is None
