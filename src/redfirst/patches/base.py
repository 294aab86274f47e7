# SPDX-License-Identifier: Apache-2.0
"""Base: one commit or one plain folder as a content-addressed checkout without any history."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.errors import SandboxError, UsageError
from redfirst.patches.git import GitFailed, git

_CACHES = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache"}
    | {".pytest_cache", ".ruff_cache", ".hypothesis", ".eggs"}
)
_SCHEMA = "1"


@dataclass(frozen=True, slots=True)
class PreparedBase:
    """A checkout in the store, never written again.

    ``tree``: Git's hash of its content. ``commit``: the user's commit, None for a plain folder. ``root``: top of the
    user's checkout. ``index``: Git's index of exactly this tree, outside the checkout. ``dirty``: the user's checkout
    has changes that are not part of Base.
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
    """The top of the checkout that ``repo`` lies in; None for a plain folder, also one that a checkout ignores."""
    try:
        top = git(["rev-parse", "--show-toplevel"], folder=repo)
    except GitFailed as error:
        if "not a git repository" in error.what or "work tree" in error.what:
            return None
        raise SandboxError(f"git cannot read {repo} ({error.what})", "check the repository") from None
    path = Path(os.fsdecode(top.rstrip(b"\n"))).resolve()
    if path != repo.resolve():
        tracked = git(["ls-files", "--", "."], folder=repo)
        return path if tracked else None
    return path


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
        tree = git(["rev-parse", f"{commit}^{{tree}}"], folder=root).decode().strip()
        dirty = bool(
            git(["status", "--porcelain", "--untracked-files=no", "--ignore-submodules"], folder=root)
        )
        place = store / f"{tree}-{_SCHEMA}"
        if not _sound(place, tree):
            names = git(["rev-list", "--objects", "--no-object-names", f"{commit}^{{tree}}"], folder=root)
            pack = git(["pack-objects", "--stdout", "--quiet"], folder=root, stdin=names)
            _build(store, place, tree, pack)
    except GitFailed as error:
        raise SandboxError(
            f"Base {ref} of {root} cannot be read ({error.what})", "git fsck tells what is missing"
        ) from None
    return _prepared(place, tree, commit, root, dirty)


def _from_folder(folder: Path, store: Path) -> PreparedBase:
    store.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".folder-", dir=store))
    try:
        copy = draft / "tree"
        _copy(folder, copy)
        if not any(copy.iterdir()):
            raise UsageError(f"{folder} is no Git checkout and has no files", "name a checkout with --repo")
        git(["init", "-q", "."], folder=copy)
        git(["add", "-A", "-f", "."], folder=copy)
        tree = git(["write-tree"], folder=copy).decode().strip()
        place = store / f"{tree}-{_SCHEMA}"
        if not _sound(place, tree):
            names = git(["rev-list", "--objects", "--no-object-names", tree], folder=copy)
            _build(store, place, tree, git(["pack-objects", "--stdout", "--quiet"], folder=copy, stdin=names))
    except (GitFailed, OSError, shutil.Error) as error:
        raise SandboxError(
            f"the folder {folder} cannot be taken as Base ({error})", "check that it is readable"
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return _prepared(place, tree, None, folder, False)


def _copy(source: Path, target: Path) -> None:
    """Every file but caches and version control; links stay links, other kinds of files are left out."""

    def ignore(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if name in _CACHES or _odd(os.path.join(folder, name))]

    shutil.copytree(source, target, symlinks=True, ignore=ignore)
    for path in _folders(target):
        path.chmod(0o755)


def _odd(path: str) -> bool:
    return not (os.path.islink(path) or os.path.isfile(path) or os.path.isdir(path))


def _folders(root: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(root):
        yield Path(folder)


def _build(store: Path, place: Path, tree: str, pack: bytes) -> None:
    """Unpack into a fresh repository with one commit, check it out, move it into place."""
    store.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".base-", dir=store))
    try:
        checkout = draft / "tree"
        checkout.mkdir()
        git(["init", "-q", "."], folder=checkout)
        git(
            ["unpack-objects", "-q"] if len(pack) < 1 << 16 else ["index-pack", "--stdin"],
            folder=checkout,
            stdin=pack,
        )
        commit = git(["commit-tree", tree, "-m", "base"], folder=checkout).decode().strip()
        git(["update-ref", "--no-deref", "refs/heads/base", commit], folder=checkout)
        git(["symbolic-ref", "HEAD", "refs/heads/base"], folder=checkout)
        (checkout / ".git" / "info").mkdir(exist_ok=True)
        # attributes of the tree must not rewrite what is checked out: the bytes are those of the commit
        (checkout / ".git" / "info" / "attributes").write_text(
            "* -text -eol -filter -ident -working-tree-encoding\n"
        )
        git(["read-tree", "HEAD"], folder=checkout)
        git(["checkout-index", "-a", "-f", "-q"], folder=checkout)
        git(["update-index", "-q", "--refresh"], folder=checkout)
        for name in ("hooks", "logs"):
            shutil.rmtree(checkout / ".git" / name, ignore_errors=True)
        shutil.copy2(checkout / ".git" / "index", draft / "index")
        _settle(draft, place)
    except OSError as error:
        raise SandboxError(
            f"no room for Base in {store} ({error.strerror})", "free some, or set XDG_CACHE_HOME"
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _settle(draft: Path, place: Path) -> None:
    """Move into place; another process may have been faster, a damaged one is set aside."""
    aside = draft / "damaged"
    if place.exists():
        place.rename(aside)
    try:
        draft.joinpath("tree").parent.rename(place) if not aside.exists() else _replace(draft, place)
    except OSError:
        if not (place / "tree").is_dir():
            raise


def _replace(draft: Path, place: Path) -> None:
    place.mkdir()
    for name in ("tree", "index"):
        (draft / name).rename(place / name)


_seen_sound: set[str] = set()


def _sound(place: Path, tree: str) -> bool:
    """Whether the stored checkout is whole and unchanged, by stat against a private copy of its index.

    Asked once a process and place: nothing writes there afterwards.
    """
    if not (place / "index").is_file() or not (place / "tree").is_dir():
        return False
    if str(place) in _seen_sound:
        return True
    with tempfile.TemporaryDirectory(prefix="redfirst-index-") as folder:
        copy = Path(folder) / "index"
        shutil.copy2(place / "index", copy)
        try:
            variables = {"GIT_INDEX_FILE": str(copy)}
            said = git(
                ["status", "--porcelain", "--untracked-files=no"], folder=place / "tree", variables=variables
            )
            same = git(["rev-parse", "HEAD^{tree}"], folder=place / "tree").decode().strip() == tree
        except GitFailed:
            return False
    if said or not same:
        return False
    _seen_sound.add(str(place))
    return True


def _prepared(place: Path, tree: str, commit: str | None, root: Path, dirty: bool) -> PreparedBase:
    checkout = place / "tree"
    _seen_sound.add(str(place))
    return PreparedBase(checkout, tree, commit, checkout / ".git", root, place / "index", dirty)
