# SPDX-License-Identifier: Apache-2.0
"""What is exported from a dirty tree is all that differs on disk, whatever Git state the tree pretends."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.patches.checkout_driver import Files, base_of, checkout, commit, git, snapshot, write

from redfirst.core.errors import PatchConflict, UsageError
from redfirst.patches.apply import TreeChange, apply_patch
from redfirst.patches.base import PreparedBase
from redfirst.patches.export import export_patch, prove_export

FILES: Files = {
    ".gitignore": "*.log\nbuild/\n",
    "a.txt": "one\ntwo\n",
    "crlf.txt": b"one\r\ntwo\r\n",
    "data.bin": bytes(range(256)),
    "kept.log": "tracked though ignored\n",
    "run.sh": "echo\n",
    "sub/b.txt": "b\n",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> PreparedBase:
    return base_of(tmp_path_factory.mktemp("export"), FILES)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout of Base's files, as a user or an agent would have it."""
    return checkout(tmp_path / "work", FILES)


def changes(tree: Path, base: PreparedBase) -> dict[str, TreeChange]:
    patch = export_patch(tree, base)
    return {change.path: change for change in apply_patch(base, patch).changes} if patch else {}


def test_a_clean_tree_is_empty(tree: Path, base: PreparedBase) -> None:
    assert export_patch(tree, base) == b""


def test_times_alone_are_no_change(tree: Path, base: PreparedBase) -> None:
    (tree / "a.txt").touch()
    assert export_patch(tree, base) == b""


def _new(tree: Path) -> None:
    write(tree, {"new.txt": "new\n"})


def _staged(tree: Path) -> None:
    _new(tree)
    git(tree, "add", "new.txt")


def _intended(tree: Path) -> None:
    _new(tree)
    git(tree, "add", "-N", "new.txt")


def _committed(tree: Path) -> None:
    _new(tree)
    commit(tree)


def _staged_then_changed(tree: Path) -> None:
    write(tree, {"new.txt": "staged\n"})
    git(tree, "add", "new.txt")
    _new(tree)


def _hidden_in_the_index(tree: Path) -> None:
    _new(tree)
    git(tree, "add", "new.txt")
    git(tree, "update-index", "--assume-unchanged", "new.txt")
    (tree / ".git" / "info").mkdir(exist_ok=True)
    (tree / ".git" / "info" / "exclude").write_text("new.txt\n")


def _without_git(tree: Path) -> None:
    _new(tree)
    shutil.rmtree(tree / ".git")


def _broken_git(tree: Path) -> None:
    _new(tree)
    (tree / ".git" / "index").write_bytes(b"garbage")
    (tree / ".git" / "HEAD").write_bytes(b"garbage")


@pytest.mark.parametrize(
    "make",
    [
        _new,
        _staged,
        _intended,
        _committed,
        _staged_then_changed,
        _hidden_in_the_index,
        _without_git,
        _broken_git,
    ],
)
def test_a_new_file_in_every_state(tree: Path, base: PreparedBase, make: Callable[[Path], None]) -> None:
    make(tree)
    found = changes(tree, base)
    assert {path: (change.status, change.new) for path, change in found.items()} == {
        "new.txt": ("A", b"new\n")
    }


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.txt": None}, {"a.txt": ("D", None)}),
        ({"a.txt": None, "c.txt": "one\ntwo\n"}, {"a.txt": ("D", None), "c.txt": ("A", b"one\ntwo\n")}),
        ({"a.txt": "one\ntwo"}, {"a.txt": ("M", b"one\ntwo")}),
        ({"a.txt": b"one\r\ntwo\r\n"}, {"a.txt": ("M", b"one\r\ntwo\r\n")}),
        ({"crlf.txt": b"one\r\ntwo\r\nthree\n"}, {"crlf.txt": ("M", b"one\r\ntwo\r\nthree\n")}),
        ({"crlf.txt": b"one\ntwo\n"}, {"crlf.txt": ("M", b"one\ntwo\n")}),
        ({"data.bin": b"\0\1\2"}, {"data.bin": ("M", b"\0\1\2")}),
        ({"n.bin": b"\0" * 5000}, {"n.bin": ("A", b"\0" * 5000)}),
        ({"empty.txt": ""}, {"empty.txt": ("A", b"")}),
        ({"a.txt": ""}, {"a.txt": ("M", b"")}),
        ({"é ü/ß.txt": "x\n"}, {"é ü/ß.txt": ("A", b"x\n")}),
        ({'q"b\\t\t.txt': "x\n"}, {'q"b\\t\t.txt': ("A", b"x\n")}),
        ({"-n": "x\n", ":(top)x": "x\n"}, {"-n": ("A", b"x\n"), ":(top)x": ("A", b"x\n")}),
        ({"a b -> c": "x\n", " b/x": "y\n"}, {"a b -> c": ("A", b"x\n"), " b/x": ("A", b"y\n")}),
        ({"latin.txt": b"caf\xe9\n\x0c\x85"}, {"latin.txt": ("A", b"caf\xe9\n\x0c\x85")}),
        ({"kept.log": "changed\n"}, {"kept.log": ("M", b"changed\n")}),
        ({"other.log": "ignored\n", "build/x": "ignored\n"}, {}),
    ],
)
def test_what_lies_on_disk(
    tree: Path, base: PreparedBase, files: Files, expected: dict[str, tuple[str, bytes | None]]
) -> None:
    write(tree, files)
    found = changes(tree, base)
    assert {path: (change.status, change.new) for path, change in found.items()} == expected


def test_modes_and_links(tree: Path, base: PreparedBase) -> None:
    (tree / "run.sh").chmod(0o755)
    (tree / "link").symlink_to("/etc/passwd")
    (tree / "empty").mkdir()
    found = changes(tree, base)
    assert {path: change.new_mode for path, change in found.items()} == {"run.sh": "100755", "link": "120000"}
    assert found["link"].new == b"/etc/passwd"


def test_a_file_becomes_a_folder_and_the_reverse(tree: Path, base: PreparedBase) -> None:
    write(tree, {"a.txt": None, "sub/b.txt": None})
    (tree / "sub").rmdir()
    write(tree, {"a.txt/x": "x\n", "sub": "s\n"})
    found = changes(tree, base)
    assert {path: change.status for path, change in found.items()} == {
        "a.txt": "D", "a.txt/x": "A", "sub": "A", "sub/b.txt": "D"
    }  # fmt: skip


def test_attributes_do_not_change_bytes(tree: Path, base: PreparedBase, tmp_path: Path) -> None:
    write(tree, {
        ".gitattributes": "* text eol=crlf diff=evil\n*.f filter=evil\n*.txt -diff working-tree-encoding=UTF-16\n",
        "n.f": b"a\r\nb\n", "n.txt": b"c\r\nd\n",
    })  # fmt: skip
    for key in ("filter.evil.clean", "diff.evil.command", "diff.evil.textconv"):
        git(tree, "config", key, f"touch {tmp_path}/planted; cat")
    found = changes(tree, base)
    assert (found["n.f"].new, found["n.txt"].new) == (b"a\r\nb\n", b"c\r\nd\n")
    assert not (tmp_path / "planted").exists()


def test_hostile_git_folder_is_never_run(tree: Path, base: PreparedBase, tmp_path: Path) -> None:
    script = tmp_path / "planted.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/planted\n")
    script.chmod(0o755)
    (tree / ".git" / "hooks").mkdir(exist_ok=True)
    for hook in ("post-index-change", "pre-commit", "fsmonitor-watchman", "reference-transaction"):
        shutil.copy(script, tree / ".git" / "hooks" / hook)
    with (tree / ".git" / "config").open("a") as config:
        config.write(f"[core]\n\tfsmonitor = {script}\n\tpager = {script}\n\thooksPath = {tmp_path}\n")
        config.write(
            f"[include]\n\tpath = {tmp_path}/more\n[diff]\n\texternal = {script}\n\tnoprefix = true\n"
        )
    write(tree, {"new.txt": "new\n"})
    before = snapshot(tree)
    assert set(changes(tree, base)) == {"new.txt"}
    assert snapshot(tree) == before
    assert not (tmp_path / "planted").exists()


def test_a_repository_inside_is_not_lost(tree: Path, base: PreparedBase) -> None:
    checkout(tree / "inner", {"x.txt": "x\n"})
    try:
        found = changes(tree, base)
    except PatchConflict:
        return
    assert found


def test_no_folder(base: PreparedBase, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        export_patch(tmp_path / "gone", base)


def test_a_proof_that_fails_says_so(base: PreparedBase) -> None:
    with pytest.raises(PatchConflict, match="gives the tree"):
        prove_export(b"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+new\n", base, "0" * 40)
    prove_export(b"", base, base.tree)
