# SPDX-License-Identifier: Apache-2.0
"""Base: one commit or one plain folder as a content-addressed checkout without any history."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.errors import SandboxError, UsageError
from redfirst.patches.base_store import build, is_sound, new_draft, place_of
from redfirst.patches.git import GitFailed, git
from redfirst.patches.plain_folder import Entry, entries_of, hash_entries


@dataclass(frozen=True, slots=True)
class PreparedBase:
    """A checkout in the store, never written again.

    ``tree``: Git's hash of its content. ``commit``: the user's commit, None for a plain folder. ``root``: top of the
    user's checkout. ``index``: Git's index of exactly this tree, outside the checkout. ``dirty``: tracked files of
    the user's checkout have changes that are not part of Base.
    """

    tree_dir: Path
    tree: str
    commit: str | None
    git_dir: Path
    root: Path
    index: Path
    dirty: bool = False


def prepare_base(repo: Path, ref: str | None, store: Path) -> PreparedBase:
    """Find or make the checkout of ``ref`` (default HEAD) of ``repo``; a folder without Git is taken whole.

    Raises UsageError (no folder, empty, unknown ref) and SandboxError (unreadable objects, no room). Nothing
    of the user's is written.
    """
    if not repo.is_dir():
        raise UsageError(f"no folder at {repo}", "name a checkout with --repo")
    root = _toplevel(repo)
    if root is None:
        if ref is not None:
            raise UsageError(f"{repo} is no Git checkout", "leave out --base, or name a checkout")
        return _from_folder(repo.resolve(), store)
    return _from_commit(root, ref or "HEAD", store)


def _toplevel(repo: Path) -> Path | None:
    """The top of the checkout that ``repo`` lies in, or a bare repository itself.

    None for a plain folder, also one inside a checkout of which that checkout tracks nothing.
    """
    try:
        told = git(["rev-parse", "--is-bare-repository", "--is-inside-work-tree"], folder=repo).split()
        if told == [b"true", b"false"]:
            return repo.resolve()
        if told[1:] != [b"true"]:
            raise UsageError(f"{repo} is Git's own folder", "name the checkout that it belongs to")
        top = git(["rev-parse", "--show-toplevel"], folder=repo)
    except GitFailed as error:
        if "not a git repository" in error.what and not os.path.lexists(repo / ".git"):
            return None
        raise SandboxError(f"git cannot read {repo} ({error.what})", "check the repository") from None
    path = Path(os.fsdecode(top.removesuffix(b"\n"))).resolve()
    if path == repo.resolve():
        return path
    return path if git(["ls-files", "--", "."], folder=repo) else None


def _from_commit(root: Path, ref: str, store: Path) -> PreparedBase:
    try:
        words = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"]
        commit = git(words, folder=root).decode().strip()
    except GitFailed:
        if ref == "HEAD":
            raise UsageError(f"{root} has no commit yet", "commit first") from None
        raise UsageError(
            f"no commit {ref!r} in {root}", "name a branch, tag or commit; fetch it if it is missing"
        ) from None
    try:
        words = ["rev-parse", f"{commit}^{{tree}}", "--show-object-format"]
        tree, algorithm = git(words, folder=root).decode().split()
        # also where the store has this tree: what the user's own repository cannot give is no Base
        names = git(["rev-list", "--objects", "--no-object-names", tree], folder=root)
        place = place_of(store, tree)
        if not is_sound(place, tree):
            pack = git(["pack-objects", "--stdout", "--quiet"], folder=root, stdin=names)
            build(store, tree, algorithm, pack)
    except GitFailed as error:
        raise SandboxError(
            f"Base {ref} of {root} cannot be read ({error.what})", "git fsck tells what is missing"
        ) from None
    return _prepared(place, tree, commit, root, _is_dirty(root))


def _is_dirty(root: Path) -> bool:
    """Whether tracked files differ from HEAD; True where Git cannot tell, False for a bare repository."""
    try:
        return bool(git(["status", "--porcelain", "-uno", "--ignore-submodules"], folder=root))
    except GitFailed as error:
        return "work tree" not in error.what


def _from_folder(folder: Path, store: Path) -> PreparedBase:
    try:
        entries = entries_of(folder)
        if not entries:
            raise UsageError(f"{folder} is no Git checkout and has no files", "name a checkout with --repo")
        tree, place = _folder_in_store(folder, entries, store)
    except (GitFailed, OSError) as error:
        raise SandboxError(
            f"the folder {folder} cannot be taken as Base ({error})", "check that it is readable"
        ) from None
    return _prepared(place, tree, None, folder, False)


def _folder_in_store(folder: Path, entries: list[Entry], store: Path) -> tuple[str, Path]:
    """Hash first, and read all a second time only where the store does not have this tree."""
    draft = new_draft(store)
    try:
        git(["init", "-q", "--bare", "repository"], folder=draft)
        repository = draft / "repository"
        tree = hash_entries(folder, entries, repository, write=False)
        place = place_of(store, tree)
        if not is_sound(place, tree):
            tree = hash_entries(folder, entries, repository, write=True)
            names = git(["rev-list", "--objects", "--no-object-names", tree], folder=repository)
            pack = git(["pack-objects", "--stdout", "--quiet"], folder=repository, stdin=names)
            place = build(store, tree, "sha1", pack)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return tree, place


def _prepared(place: Path, tree: str, commit: str | None, root: Path, dirty: bool) -> PreparedBase:
    checkout = place / "tree"
    return PreparedBase(checkout, tree, commit, checkout / ".git", root, place / "index", dirty)
