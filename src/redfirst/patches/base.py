# SPDX-License-Identifier: Apache-2.0
"""Base: one commit or one plain folder as a content-addressed checkout without any history."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.errors import SandboxError, UsageError
from redfirst.patches.base_store import build, is_sound, new_draft, place_of
from redfirst.patches.git import GitFailed, git
from redfirst.patches.plain_folder import Entry, entries_of, hash_entries

#: Commits whose objects this process has read in full: they cannot change, so they are not walked again.
_seen_readable: dict[tuple[Path, str], str] = {}


@dataclass(frozen=True, slots=True)
class PreparedBase:
    """A checkout in the store, never written again.

    ``tree``: Git's hash of its content. ``commit``: the user's commit, None for a plain folder. ``root``: top of the
    user's checkout. ``index``: Git's index of exactly this tree, outside the checkout.
    """

    tree_dir: Path
    tree: str
    commit: str | None
    git_dir: Path
    root: Path
    index: Path


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
        words = ["rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--show-cdup"]
        bare, inside, upwards, *_ = [*git(words, folder=repo).split(b"\n"), b""]
    except GitFailed as error:
        if "not a git repository" in error.what and not os.path.lexists(repo / ".git"):
            return None
        raise SandboxError(f"git cannot read {repo} ({error.what})", "check the repository") from None
    if inside != b"true":
        if bare == b"true":
            return repo.resolve()
        raise UsageError(f"{repo} is Git's own folder", "name the checkout that it belongs to")
    path = (repo.resolve() / os.fsdecode(upwards)).resolve()
    return path if not upwards or git(["ls-files", "--", "."], folder=repo) else None


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
        tree = _seen_readable.get((root, commit), "")
        if not tree or not is_sound(place_of(store, tree), tree):
            tree = _made(root, commit, store)
    except GitFailed as error:
        raise SandboxError(
            f"Base {ref} of {root} cannot be read ({error.what})", "git fsck tells what is missing"
        ) from None
    _seen_readable[root, commit] = tree
    return _prepared(place_of(store, tree), tree, commit, root)


def _made(root: Path, commit: str, store: Path) -> str:
    """See to it that the store has the checkout of ``commit``; its tree hash. Raises GitFailed."""
    words = ["rev-parse", f"{commit}^{{tree}}", "--show-object-format"]
    tree, algorithm = git(words, folder=root).decode().split()
    with ThreadPoolExecutor(1) as pool:
        sound = pool.submit(is_sound, place_of(store, tree), tree)
        # also where the store has this tree: what the user's own repository cannot give is no Base
        names = git(["rev-list", "--objects", "--no-object-names", tree], folder=root)
    if not sound.result():
        pack = git(["pack-objects", "--stdout", "--quiet", "--window=0"], folder=root, stdin=names)
        build(store, tree, algorithm, pack)
    return tree


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
    return _prepared(place, tree, None, folder)


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
            pack = git(["pack-objects", "--stdout", "--quiet", "--window=0"], folder=repository, stdin=names)
            place = build(store, tree, "sha1", pack)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return tree, place


def _prepared(place: Path, tree: str, commit: str | None, root: Path) -> PreparedBase:
    checkout = place / "tree"
    return PreparedBase(checkout, tree, commit, checkout / ".git", root, place / "index")
