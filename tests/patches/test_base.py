# SPDX-License-Identifier: Apache-2.0
"""Base is the commit byte for byte, without its history, and the user's checkout is only read."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.patches.checkout_driver import Files, checkout, commit, git, snapshot, write

from redfirst.core.errors import SandboxError, UsageError
from redfirst.patches import base as base_module
from redfirst.patches import base_store
from redfirst.patches.base import PreparedBase, prepare_base

FILES: Files = {"src/a.py": "a = 1\n", "tests/test_a.py": "def test_a(): pass\n", "README": "r\n"}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return checkout(tmp_path / "repo", FILES)


def contents(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def plain(files: Files) -> dict[str, bytes]:
    return {name: text.encode() if isinstance(text, str) else text or b"" for name, text in files.items()}


def objects(base: PreparedBase) -> list[str]:
    told = git(base.tree_dir, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
    return told.splitlines()


def test_a_commit(repo: Path, store: Path) -> None:
    base = prepare_base(repo, None, store)
    assert contents(base.tree_dir) == plain(FILES)
    assert (base.commit, base.tree) == tuple(git(repo, "rev-parse", "HEAD", "HEAD^{tree}").split())
    assert base.root == repo
    assert base.index.parent == base.tree_dir.parent


def test_no_history_no_refs_no_logs(repo: Path, store: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    write(repo, {"src/a.py": "fixed = 1\n"})
    commit(repo)
    git(repo, "tag", "fix")
    git(repo, "remote", "add", "origin", "https://example.invalid/r.git")
    git(repo, "stash", "store", "-m", "s", "HEAD")
    base = prepare_base(repo, first, store)
    kinds = [line.split()[0] for line in objects(base)]
    assert (kinds.count("commit"), kinds.count("tag")) == (1, 0)
    reachable = git(base.tree_dir, "rev-list", "--objects", "HEAD").splitlines()
    assert len(reachable) == len(kinds)
    assert git(base.tree_dir, "for-each-ref", "--format=%(refname)") == "refs/heads/base"
    assert git(base.tree_dir, "remote") == ""
    assert git(base.tree_dir, "rev-list", "--count", "--all") == "1"
    assert not (base.git_dir / "logs").exists()
    assert not (base.git_dir / "hooks").exists()
    assert git(base.tree_dir, "status", "--porcelain") == ""
    assert b"fixed" not in b"".join(contents(base.tree_dir).values())


def test_the_users_checkout_is_only_read(repo: Path, store: Path) -> None:
    write(repo, {"src/a.py": "dirty\n", "new.txt": "untracked\n"})
    before = snapshot(repo)
    base = prepare_base(repo, None, store)
    assert snapshot(repo) == before
    assert contents(base.tree_dir) == plain(FILES)


@pytest.mark.parametrize("ref", ["main", "v1", "HEAD~1"])
def test_refs(repo: Path, store: Path, ref: str) -> None:
    git(repo, "tag", "-a", "v1", "-m", "t")
    commit(repo, "second")
    assert prepare_base(repo, ref, store).commit == git(repo, "rev-parse", f"{ref}^{{commit}}")


@pytest.mark.parametrize("ref", ["nowhere", "0" * 40, "--all", "-x", "a b", "HEAD:src", "main..main"])
def test_unknown_refs_are_usage_errors(repo: Path, store: Path, ref: str) -> None:
    with pytest.raises(UsageError):
        prepare_base(repo, ref, store)


def test_a_folder_below_the_top(repo: Path, store: Path, tmp_path: Path) -> None:
    assert prepare_base(repo / "src", None, store).root == repo
    (tmp_path / "link").symlink_to(repo / "src")
    assert prepare_base(tmp_path / "link", None, store).root == repo


def test_detached_dirty_worktree_shallow_bare_and_packed(repo: Path, store: Path, tmp_path: Path) -> None:
    commit(repo, "second")
    tree = git(repo, "rev-parse", "HEAD^{tree}")
    git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "beside"))
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", "shallow")
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    git(tmp_path, "clone", "-q", str(repo), "packed")
    git(tmp_path / "packed", "repack", "-adq")
    git(tmp_path / "packed", "pack-refs", "--all")
    git(repo, "checkout", "-q", "--detach")
    for folder in (
        repo,
        tmp_path / "beside",
        tmp_path / "shallow",
        tmp_path / "bare.git",
        tmp_path / "packed",
    ):
        assert prepare_base(folder, None, store).tree == tree
    assert prepare_base(tmp_path / "packed", "main", store).tree == tree


def test_a_submodule_is_an_empty_folder(repo: Path, store: Path) -> None:
    name = git(repo, "rev-parse", "HEAD")
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{name},vendor")
    git(repo, "commit", "-q", "-m", "m")
    base = prepare_base(repo, None, store)
    assert list((base.tree_dir / "vendor").iterdir()) == []


def test_attributes_and_line_ends_do_not_change_bytes(tmp_path: Path, store: Path) -> None:
    files: Files = {
        ".gitattributes": "* text=auto eol=crlf\n*.f filter=evil\n*.u working-tree-encoding=UTF-16 ident\n",
        "lf.txt": "a\nb\n",
        "x.f": "x\n",
        "y.u": "$Id$\n",
    }
    repo = tmp_path / "repo"
    checkout(repo, {**files, ".gitattributes": ""})
    write(repo, {"crlf.txt": b"a\r\nb\r\n"})
    commit(repo)
    write(repo, {".gitattributes": files[".gitattributes"]})
    git(repo, "-c", "core.attributesFile=/dev/null", "add", ".gitattributes")
    git(repo, "commit", "-q", "-m", "attributes")
    git(repo, "config", "filter.evil.smudge", f"touch {tmp_path}/planted")
    git(repo, "config", "core.autocrlf", "true")
    base = prepare_base(repo, None, store)
    assert contents(base.tree_dir) == {**plain(files), "crlf.txt": b"a\r\nb\r\n"}
    assert not (tmp_path / "planted").exists()


def test_nothing_of_the_users_repository_is_run(repo: Path, store: Path, tmp_path: Path) -> None:
    script = tmp_path / "planted.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/planted\n")
    script.chmod(0o755)
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(script, repo / ".git" / "hooks" / hook)
    for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "diff.external", "core.editor"):
        git(repo, "config", key, str(script))
    prepare_base(repo, None, store)
    assert not (tmp_path / "planted").exists()


def test_a_missing_object_is_our_side(repo: Path, store: Path) -> None:
    blob = git(repo, "rev-parse", "HEAD:src/a.py")
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(SandboxError, match="cannot be read"):
        prepare_base(repo, None, store)


def test_a_missing_object_counts_though_the_store_has_it(repo: Path, store: Path) -> None:
    prepare_base(repo, None, store)
    blob = git(repo, "rev-parse", "HEAD:src/a.py")
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    base_module._seen_readable.clear()
    with pytest.raises(SandboxError):
        prepare_base(repo, None, store)


def test_a_broken_git_folder_is_our_side(tmp_path: Path, store: Path) -> None:
    write(tmp_path / "odd", {"a.py": "a\n", ".git": "gitdir: /nonexistent/place\n"})
    with pytest.raises(SandboxError):
        prepare_base(tmp_path / "odd", None, store)


def test_usage(tmp_path: Path, store: Path) -> None:
    (tmp_path / "empty").mkdir()
    git(tmp_path, "init", "-q", "unborn")
    write(tmp_path / "folder", {"a.py": "a\n"})
    for repo, ref in (
        ("gone", None),
        ("empty", None),
        ("unborn", None),
        ("folder", "main"),
        ("unborn/.git", None),
    ):
        with pytest.raises(UsageError):
            prepare_base(tmp_path / repo, ref, store)
    assert not list(store.glob("*-*")) if store.exists() else True


def test_a_plain_folder(tmp_path: Path, store: Path) -> None:
    files: Files = {
        ".gitignore": "*.log\n",
        "kept.log": "ignored by Git, not by us\n",
        ".gitattributes": "* eol=crlf\n",
        "a.txt": b"a\r\nb\n",
        "dé/é.txt": "x\n",
        "odd\tname.txt": "y\n",
    }
    folder = tmp_path / "folder"
    write(
        folder,
        {**files, "__pycache__/a.pyc": b"\0", ".venv/lib/x.py": "x", "env/pyvenv.cfg": "", "env/y.py": "y"},
    )
    (folder / "link").symlink_to("a.txt")
    (folder / "a.txt").chmod(0o777)
    before = snapshot(folder)
    base = prepare_base(folder, None, store)
    assert snapshot(folder) == before
    found = contents(base.tree_dir)
    assert {name: found[name] for name in files} == plain(files)
    assert set(found) == {*files, "link"}
    assert (base.tree_dir / "link").readlink() == Path("a.txt")
    assert base.commit is None
    assert prepare_base(folder, None, store) == base


def test_modes_are_those_of_git_and_writable(tmp_path: Path, store: Path) -> None:
    folder = tmp_path / "folder"
    write(folder, {"read.txt": "r\n", "run.sh": "x\n", "sub/a": "a\n"})
    for name, mode in (("read.txt", 0o444), ("run.sh", 0o555), ("sub/a", 0o600), ("sub", 0o555)):
        (folder / name).chmod(mode)
    base = prepare_base(folder, None, store)
    (folder / "sub").chmod(0o755)
    modes = {
        name: (base.tree_dir / name).stat().st_mode & 0o777 for name in ("read.txt", "run.sh", "sub/a", "sub")
    }
    assert modes == {"read.txt": 0o644, "run.sh": 0o755, "sub/a": 0o644, "sub": 0o755}


def test_a_folder_inside_a_checkout_that_tracks_none_of_it(repo: Path, store: Path) -> None:
    write(repo, {"build/x/a.py": "a\n"})
    base = prepare_base(repo / "build" / "x", None, store)
    assert (base.commit, contents(base.tree_dir)) == (None, {"a.py": b"a\n"})


@pytest.mark.parametrize("damage", ["changed", "gone", "added", "index", "git"])
def test_a_damaged_entry_is_made_again(
    repo: Path, store: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base_store, "_seen_sound", set())
    base = prepare_base(repo, None, store)
    match damage:
        case "changed":
            (base.tree_dir / "src/a.py").write_text("evil = 1\n")
        case "gone":
            (base.tree_dir / "src/a.py").unlink()
        case "added":
            (base.tree_dir / "sitecustomize.py").write_text("")
        case "index":
            base.index.unlink()
        case _:
            shutil.rmtree(base.git_dir)
    base_store._seen_sound.clear()
    assert contents(prepare_base(repo, None, store).tree_dir) == plain(FILES)
    assert base.index.is_file()
    assert base.git_dir.is_dir()
    assert not list(store.glob(".draft-*"))


def test_two_processes_at_once(repo: Path, store: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from redfirst.patches.base import prepare_base;"
        "print(prepare_base(Path(sys.argv[1]), None, Path(sys.argv[2])).tree_dir)"
    )
    words = [sys.executable, "-c", code, str(repo), str(store)]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(4)]
    told = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0] * 4
    (folder,) = told
    assert contents(Path(folder.decode().strip())) == plain(FILES)
    assert not list(store.glob(".draft-*"))


def test_a_store_that_cannot_be_made_is_our_side(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SandboxError, match="no room"):
        prepare_base(repo, None, tmp_path / "file" / "store")


def test_git_missing_says_what_to_install(
    repo: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="apt install git"):
        prepare_base(repo, None, store)
