# SPDX-License-Identifier: Apache-2.0
"""Which two commits are compared, and what Git says differs between them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.errors import SandboxError, UsageError
from redfirst.patches.apply import TreeChange
from redfirst.patches.git import GitFailed, git

_ABSENT = "000000"
_OBJECT = re.compile(r"[0-9a-f]{7,64}")
_LINKS = ("120000", "160000")


@dataclass(frozen=True, slots=True)
class Compared:
    """The two ends of a change.

    ``base``: the commit that head is compared with, a merge base unless ``direct``. ``tip``: the commit that the
    given ref means. ``notes``: what a reader should know about the choice.
    """

    root: Path
    base_ref: str
    head_ref: str
    tip: str
    base: str
    head: str
    direct: bool = False
    notes: tuple[str, ...] = ()


def checkout_root(repo: Path) -> Path:
    """The top of the checkout that ``repo`` lies in, or the bare repository. Raises UsageError."""
    try:
        bare = git(["rev-parse", "--is-bare-repository"], folder=repo).strip() == b"true"
        up = b"" if bare else git(["rev-parse", "--show-cdup"], folder=repo).strip()
    except GitFailed as error:
        raise UsageError(f"{repo} is no Git checkout ({error.what})", "name a checkout with --repo") from None
    return (repo.resolve() / up.decode("utf-8", "surrogateescape")).resolve()


def compare(root: Path, base_ref: str, head_ref: str, *, direct: bool) -> Compared:
    """Resolve both refs, and the merge base as ``git diff BASE...HEAD`` does.

    Raises UsageError with the command to run where a commit is missing or has no common ancestor here.
    """
    tip, head = _commit(root, base_ref), _commit(root, head_ref)
    if direct:
        return Compared(root, base_ref, head_ref, tip, tip, head, True, _dirty(root, head))
    found = _merge_bases(root, tip, head)
    if not found:
        raise _no_ancestor(root, base_ref, head_ref)
    notes = list(_dirty(root, head))
    if len(found) > 1:
        notes.append(f"{len(found)} merge bases; compared with {found[0][:12]}, as `git diff` does")
    if _shallow(root):
        notes.append("this clone is shallow: a later common ancestor may be missing from it")
    return Compared(root, base_ref, head_ref, tip, found[0], head, False, tuple(notes))


def _commit(root: Path, ref: str) -> str:
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"]
    try:
        return git(words, folder=root).decode().strip()
    except GitFailed:
        pass
    remote, name = _remote_of(root, ref)
    fetch = f"git fetch {shlex.quote(remote)} {shlex.quote(name)}"
    if ref == "HEAD":
        raise UsageError(f"{root} has no commit yet", "commit first")
    raise UsageError(f"no commit {ref!r} in {root}", f"run `{fetch}`, or name a branch, tag or commit")


def _remote_of(root: Path, ref: str) -> tuple[str, str]:
    """The remote that a missing ref would come from, and what to ask it for."""
    remotes = git(["remote"], folder=root).decode("utf-8", "replace").split()
    first, _, rest = ref.partition("/")
    if rest and first in remotes:
        return first, f"{rest}:refs/remotes/{ref}"
    remote = "origin" if "origin" in remotes or not remotes else remotes[0]
    plain = _OBJECT.fullmatch(ref) or not re.fullmatch(r"[\w./-]+", ref)
    return remote, ref if plain else f"{ref}:{ref}"


def _merge_bases(root: Path, tip: str, head: str) -> list[str]:
    try:
        return git(["merge-base", "--all", tip, head], folder=root).decode().split()
    except GitFailed:
        return []


def _shallow(root: Path) -> bool:
    return git(["rev-parse", "--is-shallow-repository"], folder=root).strip() == b"true"


def _no_ancestor(root: Path, base_ref: str, head_ref: str) -> UsageError:
    if _shallow(root):
        remote = _remote_of(root, "HEAD")[0]
        return UsageError(
            f"this clone is too shallow to hold the merge base of {base_ref} and {head_ref}",
            f"run `git fetch --unshallow {shlex.quote(remote)}` (in a GitHub workflow: fetch-depth: 0), "
            "or compare the two commits themselves with --direct",
        )
    return UsageError(
        f"{base_ref} and {head_ref} have no common ancestor",
        "compare the two commits themselves with --direct",
    )


def _dirty(root: Path, head: str) -> tuple[str, ...]:
    """A note on what is not committed, where the checked commit is the one checked out."""
    try:
        if git(["rev-parse", "HEAD^{commit}"], folder=root).decode().strip() != head:
            return ()
        words = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"]
        lines = git(words, folder=root).splitlines()
    except GitFailed:
        return ()  # a bare repository has nothing that is not committed
    count = f"{len(lines)} uncommitted change" + ("s are" if len(lines) > 1 else " is")
    return (f"{count} left out: only commits are checked",) if lines else ()


def changes_between(compared: Compared) -> tuple[TreeChange, ...]:
    """Every path that differs, with its content; a rename is a removal and an addition with ``renamed_from``.

    Raises SandboxError where an object is missing.
    """
    root = compared.root
    words = ["diff-tree", "-r", "--raw", "-z", "-M50%", "--no-ext-diff", "--full-index"]
    try:
        out = git([*words, compared.base, compared.head], folder=root)
        rows = list(_rows(out))
        names = {name for row in rows for name, mode in row.objects if mode not in (_ABSENT, "160000")}
        texts = _contents(root, sorted(names))
    except GitFailed as error:
        raise SandboxError(
            f"the change cannot be read ({error.what})", "fetch what is missing; git fsck tells what it is"
        ) from None
    return tuple(change for row in rows for change in row.changes(texts))


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of Git's raw comparison."""

    modes: tuple[str, str]
    names: tuple[str, str]
    status: str
    old_path: str
    new_path: str

    @property
    def objects(self) -> tuple[tuple[str, str], ...]:
        return tuple(zip(self.names, self.modes, strict=True))

    def changes(self, texts: dict[str, bytes]) -> list[TreeChange]:
        before = self.modes[0] if self.modes[0] != _ABSENT else None
        after = self.modes[1] if self.modes[1] != _ABSENT else None
        old, new = texts.get(self.names[0]), texts.get(self.names[1])
        if self.old_path == self.new_path:
            return [TreeChange(self.new_path, self.status, before, after, old, new)]
        return [
            TreeChange(self.old_path, "D", before, None, old, None),
            TreeChange(self.new_path, "A", None, after, None, new, renamed_from=self.old_path),
        ]


def _rows(out: bytes) -> list[_Row]:
    fields = [field.decode("utf-8", "surrogateescape") for field in out.split(b"\0")[:-1]]
    rows, at = [], 0
    while at < len(fields):
        old_mode, new_mode, old, new, status = fields[at].removeprefix(":").split()
        two = status[:1] in "RC"
        path = fields[at + 1]
        rows.append(_Row((old_mode, new_mode), (old, new), status[:1], path, fields[at + 2] if two else path))
        at += 3 if two else 2
    return rows


def _contents(root: Path, names: list[str]) -> dict[str, bytes]:
    if not names:
        return {}
    out = git(["cat-file", "--batch"], folder=root, stdin="\n".join(names).encode() + b"\n")
    found, at = {}, 0
    for name in names:
        end = out.index(b"\n", at)
        words = out[at:end].split()
        if len(words) != 3 or words[1] != b"blob":
            raise GitFailed(f"object {name} is missing")
        size, at = int(words[2]), end + 1
        found[name] = out[at : at + size]
        at += size + 1
    return found


def is_link(change: TreeChange) -> bool:
    """Whether either side is a symbolic link or a submodule, whose content is no text."""
    return change.old_mode in _LINKS or change.new_mode in _LINKS


def submodules(root: Path, commit: str) -> tuple[str, ...]:
    """Paths of the submodules of a commit; their files are in no workspace."""
    out = git(["ls-tree", "-r", "-z", "--full-tree", commit], folder=root)
    rows = (row.partition(b"\t") for row in out.split(b"\0") if row.startswith(b"160000 "))
    return tuple(path.decode("utf-8", "surrogateescape") for _, _, path in rows)


def tracked(root: Path, commit: str) -> tuple[str, ...]:
    """Every path of a commit."""
    out = git(["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit], folder=root)
    return tuple(name.decode("utf-8", "surrogateescape") for name in out.split(b"\0")[:-1])
