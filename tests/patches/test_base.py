# SPDX-License-Identifier: Apache-2.0
"""Keeps Base exact, without history, and the user's checkout as it was."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from redfirst.core.errors import SandboxError, UsageError
from redfirst.patches import base_store
from redfirst.patches.base import PreparedBase, prepare_base
from tests.patches.checkouts import FILES, commit_all, make_repo, run_git, write_files


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def contents(base: PreparedBase) -> dict[str, bytes]:
    root = base.tree_dir
    files = (
        path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts
    )
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file of a checkout, Git's own included, with its stat data."""
    found = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(facts.st_mode) else b""
        found[str(path)] = (facts.st_mode, facts.st_mtime_ns, content)
    return found


def test_a_base_is_one_commit_and_nothing_else(tmp_path: Path, store: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    write_files(repo, {"src/shop/price.py": b"fixed\n", "secret.txt": b"the fix\n"})
    fixed = commit_all(repo)
    run_git(repo, "tag", "v9")
    run_git(repo, "branch", "future")
    base = prepare_base(repo, "HEAD~1", store)
    assert base.tree == run_git(repo, "rev-parse", "HEAD~1^{tree}").decode().strip()
    assert base.commit == run_git(repo, "rev-parse", "HEAD~1").decode().strip()
    assert contents(base) == FILES
    inside = base.tree_dir
    assert run_git(inside, "rev-parse", "HEAD^{tree}").decode().strip() == base.tree
    assert run_git(inside, "for-each-ref").count(b"\n") == 1
    assert run_git(inside, "rev-list", "--all", "--reflog").count(b"\n") == 1
    assert run_git(inside, "status", "--porcelain", "--ignored") == b""
    assert run_git(inside, "remote") == b""
    objects = run_git(inside, "cat-file", "--batch-all-objects", "--batch-check").split(b"\n")
    wanted = run_git(inside, "rev-list", "--objects", "--all").split(b"\n")
    assert sorted(line.split()[0] for line in objects if line) == sorted(
        line.split()[0] for line in wanted if line
    )
    assert not (inside / ".git" / "logs").exists()
    assert not (inside / ".git" / "hooks").exists()
    assert subprocess.run(["git", "cat-file", "-e", fixed], cwd=inside, capture_output=True).returncode != 0


def test_nothing_of_the_users_is_written(tmp_path: Path, store: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    os.utime(repo / "README.md")  # a stale index is what git status would like to refresh
    (repo / "README.md").write_bytes(b"dirty\n")
    before = snapshot(repo)
    base = prepare_base(repo, None, store)
    assert snapshot(repo) == before
    assert base.dirty
    assert contents(base)["README.md"] == b"# Shop\n"


def test_attributes_and_settings_do_not_rewrite_bytes(tmp_path: Path, store: Path) -> None:
    files = {
        ".gitattributes": b"* text=auto eol=crlf\n*.dat filter=upper ident\n",
        "lf.txt": b"a\nb\n",
        "crlf.txt": b"a\r\nb\r\n",
        "x.dat": b"$Id$\n",
    }
    plain = write_files(tmp_path / "plain", files)
    repo = tmp_path / "repo"
    repo.mkdir()
    run_git(repo, "init", "-q", ".")
    write_files(repo, files)
    for name, content in files.items():
        blob = run_git(repo, "hash-object", "-w", "--stdin", "--no-filters", stdin=content).decode().strip()
        run_git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")
    run_git(repo, "commit", "-q", "-m", "base")
    run_git(repo, "config", "filter.upper.clean", "tr a-z A-Z")
    run_git(repo, "config", "filter.upper.smudge", "tr a-z A-Z")
    run_git(repo, "config", "core.autocrlf", "true")
    first, second = prepare_base(repo, None, store), prepare_base(plain, None, store)
    assert contents(first) == files
    assert first.tree == second.tree
    assert run_git(first.tree_dir, "status", "--porcelain") == b""


def test_odd_checkouts_are_read(tmp_path: Path, store: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    (repo / "link").symlink_to("README.md")
    (repo / "run.sh").write_bytes(b"#!/bin/sh\n")
    (repo / "run.sh").chmod(0o755)
    run_git(repo, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
    commit_all(repo)
    run_git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "second"))
    run_git(tmp_path, "clone", "-q", "--bare", str(repo), str(tmp_path / "bare.git"))
    run_git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", str(tmp_path / "shallow"))
    wanted = prepare_base(repo, None, store)
    assert os.readlink(wanted.tree_dir / "link") == "README.md"
    assert os.access(wanted.tree_dir / "run.sh", os.X_OK)
    assert (wanted.tree_dir / "vendor").is_dir()
    assert run_git(wanted.tree_dir, "status", "--porcelain") == b""
    for place in ("second", "bare.git", "shallow", "repo/src/shop", "repo/tests"):
        base = prepare_base(tmp_path / place, None, store)
        assert (base.tree, base.tree_dir) == (wanted.tree, wanted.tree_dir)
    assert prepare_base(repo / "src", None, store).root == repo.resolve()


def test_a_plain_folder_is_taken_whole_but_for_caches(tmp_path: Path, store: Path) -> None:
    odd = {"with space.txt": b"1", 'quo"te\\back.txt': b"2", "ümlaut/日本.txt": b"3", "new\nline.txt": b"4"}
    kept = {
        **FILES,
        **odd,
        ".gitignore": b"*.log\nbuild/\n",
        "build/out.log": b"kept\n",
        "target/notes.md": b"kept\n",
    }
    dropped = {
        ".git/config": b"x",
        "node_modules/a/index.js": b"x",
        "src/shop/__pycache__/a.pyc": b"x",
        ".tox/py/x": b"x",
        "env/pyvenv.cfg": b"home = /usr\n",
        "crate/target/debug/x": b"x",
    }
    folder = write_files(tmp_path / "folder", {**kept, **dropped, "crate/Cargo.toml": b"[package]\n"})
    shutil.rmtree(folder / ".git")
    (folder / "dead").symlink_to("nowhere")
    before = snapshot(folder)
    base = prepare_base(folder, None, store)
    assert contents(base) == {**kept, "crate/Cargo.toml": b"[package]\n"}
    assert os.readlink(base.tree_dir / "dead") == "nowhere"
    assert (base.commit, base.dirty, base.root) == (None, False, folder.resolve())
    assert snapshot(folder) == before
    assert prepare_base(folder, None, store).tree_dir == base.tree_dir


def test_wrong_uses_say_what_to_do(tmp_path: Path, store: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    empty, plain, unborn = tmp_path / "empty", tmp_path / "plain", tmp_path / "unborn"
    empty.mkdir()
    unborn.mkdir()
    run_git(unborn, "init", "-q", ".")
    write_files(plain, {"a.py": b"\n"})
    for folder, ref in [
        (tmp_path / "none", None),
        (empty, None),
        (plain, "main"),
        (repo, "nosuch"),
        (unborn, None),
    ]:
        with pytest.raises(UsageError) as caught:
            prepare_base(folder, ref, store)
        assert caught.value.todo
    for ref in ("--help", "-q", "HEAD:README.md"):
        with pytest.raises(UsageError):
            prepare_base(repo, ref, store)
    with pytest.raises(UsageError):
        prepare_base(repo / ".git", None, store)


@pytest.mark.parametrize("known", [False, True])
def test_a_missing_object_is_our_own_failure_even_where_the_store_has_the_tree(
    tmp_path: Path, store: Path, known: bool
) -> None:
    repo = make_repo(tmp_path / "repo")
    if known:
        prepare_base(repo, None, store)
    blob = run_git(repo, "rev-parse", "HEAD:src/shop/price.py").decode().strip()
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(SandboxError):
        prepare_base(repo, None, store)


@pytest.mark.parametrize("damage", ["changed", "removed", "added", "ignored", "index", "head"])
def test_a_damaged_entry_is_built_again(tmp_path: Path, store: Path, damage: str) -> None:
    repo = make_repo(tmp_path / "repo", {**FILES, ".gitignore": b"*.log\n"})
    base = prepare_base(repo, None, store)
    file = base.tree_dir / "src" / "shop" / "price.py"
    if damage == "changed":
        file.write_bytes(b"other\n")
    elif damage == "removed":
        file.unlink()
    elif damage in ("added", "ignored"):
        (base.tree_dir / ("conftest.py" if damage == "added" else "x.log")).write_bytes(b"x\n")
    elif damage == "index":
        base.index.write_bytes(b"DIRC")
    else:
        (base.git_dir / "HEAD").write_bytes(b"ref: refs/heads/none\n")
    base_store._seen_sound.clear()
    again = prepare_base(repo, None, store)
    assert again == base
    assert contents(again) == {**FILES, ".gitignore": b"*.log\n"}
    assert [path.name for path in store.glob(".draft-*")] == []


def test_many_processes_prepare_at_once(tmp_path: Path, store: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    code = (
        "import sys; from pathlib import Path; from redfirst.patches.base import prepare_base\n"
        "base = prepare_base(Path(sys.argv[1]), None, Path(sys.argv[2]))\n"
        "print(base.tree, (base.tree_dir / 'README.md').read_text().strip())\n"
    )
    argv = [sys.executable, "-c", code, str(repo), str(store)]
    running = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(5)]
    said = {process.communicate()[0] for process in running}
    assert len(said) == 1
    assert said.pop().endswith("# Shop\n")
    assert sorted(path.name for path in store.iterdir()) == sorted(
        [".lock", base_store.place_of(store, prepare_base(repo, None, store).tree).name]
    )


def test_a_store_without_room_or_right_is_our_own_failure(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SandboxError):
        prepare_base(repo, None, tmp_path / "file" / "store")


def test_git_missing_is_said_with_what_to_install(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo(tmp_path / "repo")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="install git"):
        prepare_base(repo, None, store)
