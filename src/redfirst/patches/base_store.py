# SPDX-License-Identifier: Apache-2.0
"""The store of checkouts by tree hash: built aside, moved into place whole, checked before use."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

from redfirst.core.errors import SandboxError
from redfirst.patches.git import GitFailed, git

_SCHEMA = "2"
_ABANDONED_S = 24 * 3600
#: Attributes of the tree must not rewrite what is checked out: the bytes are those of the commit.
_ATTRIBUTES = "* -text -eol -filter -ident -working-tree-encoding\n"
_seen_sound: set[str] = set()


def place_of(store: Path, tree: str) -> Path:
    """Where the checkout of ``tree`` is or would be: a folder with ``tree/`` and ``index``."""
    return store / f"{tree}-{_SCHEMA}"


def new_draft(store: Path) -> Path:
    """A fresh folder in the store. Raises SandboxError where there is no room or no right."""
    try:
        store.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=".draft-", dir=store))
    except OSError as error:
        raise _no_room(store, error) from None


def is_sound(place: Path, tree: str) -> bool:
    """Whether the stored checkout is whole and holds nothing else, by stat against a copy of its index.

    Asked once a process and place: nothing writes there afterwards.
    """
    checkout = place / "tree"
    if not (place / "index").is_file() or not checkout.is_dir():
        return False
    if str(place) in _seen_sound:
        return True
    with tempfile.TemporaryDirectory(prefix="redfirst-index-") as folder:
        copy = Path(folder) / "index"
        try:
            shutil.copy2(place / "index", copy)
            words = ["status", "--porcelain", "--ignored", "--untracked-files=normal", "--ignore-submodules"]
            said = git(words, folder=checkout, variables={"GIT_INDEX_FILE": str(copy)})
            same = git(["rev-parse", "HEAD^{tree}"], folder=checkout).decode().strip() == tree
        except (GitFailed, OSError):
            return False
    if said or not same:
        return False
    _seen_sound.add(str(place))
    return True


def build(store: Path, tree: str, algorithm: str, pack: bytes) -> Path:
    """Unpack the objects of ``tree`` into a repository with one commit, check it out, move it into place.

    Another process may do the same meanwhile: the first one wins, and what it made is never replaced while it
    is sound. Raises SandboxError (no room) and GitFailed (objects that cannot be used).
    """
    draft = new_draft(store)
    place = place_of(store, tree)
    try:
        checkout = draft / "tree"
        checkout.mkdir()
        _fill(checkout, tree, algorithm, pack)
        shutil.copy2(checkout / ".git" / "index", draft / "index")
        # Git reads again what is as young as its index; nothing here is written after it
        later = time.time() + 2
        os.utime(draft / "index", (later, later))
        _settle(draft, place, tree)
        _drop_abandoned(store)
    except OSError as error:
        raise _no_room(store, error) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return place


def _fill(checkout: Path, tree: str, algorithm: str, pack: bytes) -> None:
    git(["init", "-q", f"--object-format={algorithm}", "."], folder=checkout)
    unpack = ["unpack-objects", "-q"] if len(pack) < 1 << 16 else ["index-pack", "--stdin"]
    git(unpack, folder=checkout, stdin=pack)
    commit = git(["commit-tree", tree, "-m", "base"], folder=checkout).decode().strip()
    git(["update-ref", "--no-deref", "refs/heads/base", commit], folder=checkout)
    git(["symbolic-ref", "HEAD", "refs/heads/base"], folder=checkout)
    info = checkout / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text(_ATTRIBUTES)
    git(["read-tree", "HEAD"], folder=checkout)
    git(["checkout-index", "-a", "-f", "-q"], folder=checkout)
    git(["update-index", "-q", "--refresh"], folder=checkout)
    for name in ("hooks", "logs", "branches"):
        shutil.rmtree(checkout / ".git" / name, ignore_errors=True)


def _settle(draft: Path, place: Path, tree: str) -> None:
    """Move ``draft`` to ``place``; what is there and sound stays, what is damaged goes."""
    with (place.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_sound(place, tree):
            return
        if os.path.lexists(place):
            aside = Path(tempfile.mkdtemp(prefix=".draft-", dir=place.parent))
            place.rename(aside / "damaged")
            shutil.rmtree(aside, ignore_errors=True)
        draft.rename(place)
    _seen_sound.add(str(place))


def _drop_abandoned(store: Path) -> None:
    """Drafts of processes that were killed long ago."""
    for path in store.glob(".draft-*"):
        try:
            old = time.time() - path.lstat().st_mtime > _ABANDONED_S
        except OSError:
            continue
        if old:
            shutil.rmtree(path, ignore_errors=True)


def _no_room(store: Path, error: OSError) -> SandboxError:
    return SandboxError(f"no room for Base in {store} ({error.strerror})", "free some, or set XDG_CACHE_HOME")
