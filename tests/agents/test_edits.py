# SPDX-License-Identifier: Apache-2.0
"""Keeps a test file from being spoilt by the diff that adds a test: Git makes of it what was meant."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redfirst.agents.strategies.snippet.edits import Edit, diff_of, diff_of_new, edited, split_lines

FEW = "a\nb\nc\n"
MANY = "".join(f"line {number}\n" for number in range(40))


@pytest.mark.parametrize(
    ("text", "edits", "after"),
    [
        (FEW, [Edit.behind(0, "x\n")], "x\na\nb\nc\n"),
        (FEW, [Edit.behind(3, "x\n")], "a\nb\nc\nx\n"),
        (FEW, [Edit(1, 2, "x\ny\n")], "a\nx\ny\nc\n"),
        (FEW, [Edit(1, 2, "")], "a\nc\n"),
        (FEW, [Edit.behind(1, "x\n"), Edit.behind(1, "y\n")], "a\nx\ny\nb\nc\n"),
        (FEW, [Edit.behind(3, "y\n"), Edit(0, 1, "x\n")], "x\nb\nc\ny\n"),
        ("a\nb", [Edit.behind(2, "x\n")], "a\nb\nx\n"),
        ("a\nb", [Edit.behind(2, "x\n"), Edit.behind(2, "y\n")], "a\nb\nx\ny\n"),
        ("a\nb", [Edit(1, 2, "c\n"), Edit.behind(2, "x\n")], "a\nc\nx\n"),
        ("a\nb", [Edit.behind(1, "x\n")], "a\nx\nb"),
        ("a\r\nb\r\n", [Edit.behind(1, "x\ny\n")], "a\r\nx\r\ny\r\nb\r\n"),
        ("a\r\nb", [Edit.behind(2, "x\n")], "a\r\nb\r\nx\r\n"),
        ("a\fb\x1c\nc\n", [Edit.behind(1, "x\n")], "a\fb\x1c\nx\nc\n"),
        ("", [Edit.behind(0, "x\n")], "x\n"),
    ],
)
def test_an_edit_changes_its_lines_and_no_other(text: str, edits: list[Edit], after: str) -> None:
    assert edited(text, edits) == after


def applied_by_git(folder: Path, text: str | None, patch: bytes) -> str:
    """What Git makes of a file with the patch."""
    if text is not None:
        (folder / "a.txt").write_bytes(text.encode())
    words = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(words, cwd=folder, input=patch, capture_output=True)
    assert done.returncode == 0, done.stderr.decode() + patch.decode()
    return (folder / "a.txt").read_bytes().decode()


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        (FEW, [Edit.behind(0, "x\n"), Edit.behind(3, "y\n")]),
        (FEW, [Edit(0, 3, "x\n")]),
        (FEW[:-1], [Edit.behind(3, "x\n")]),
        (FEW[:-1], [Edit.behind(2, "x\n")]),
        (FEW[:-1], [Edit(2, 3, "x\n")]),
        (FEW.replace("\n", "\r\n"), [Edit.behind(1, "x\n"), Edit(2, 3, "y\n")]),
        (MANY, [Edit.behind(2, "x\n"), Edit(5, 6, "y\n"), Edit.behind(12, "z\n"), Edit.behind(40, "end\n")]),
        (MANY, [Edit(9, 12, "x\n"), Edit.behind(30, "y\nz\n")]),
        (MANY[:-1], [Edit.behind(20, "x\n"), Edit.behind(40, "y\n")]),
    ],
)
def test_git_makes_the_same_of_the_diff(tmp_path: Path, text: str, edits: list[Edit]) -> None:
    assert applied_by_git(tmp_path, text, diff_of("a.txt", text, edits)) == edited(text, edits)


@pytest.mark.parametrize("text", ["a\nb\n", "a\nb", "\n", "a\r\nb\r\n"])
def test_git_makes_a_new_file_of_its_diff(tmp_path: Path, text: str) -> None:
    assert applied_by_git(tmp_path, None, diff_of_new("a.txt", text)) == text


@given(st.text(st.sampled_from("ab\r\n"), max_size=30), st.lists(st.integers(0, 12), max_size=4))
def test_insertions_keep_every_line_in_its_order(text: str, places: list[int]) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    edits = [Edit.behind(min(place, len(lines)), f"new {n}\n") for n, place in enumerate(places)]
    after = split_lines(edited(text, edits))
    kept = [line.rstrip("\r\n") for line in after if not line.startswith("new ")]
    assert kept == [line.rstrip("\r\n") for line in lines]
    assert sum(line.startswith("new ") for line in after) == len(places)
