# SPDX-License-Identifier: Apache-2.0
"""Exact application of a diff: Git applies, our own reading must agree, the store is never written."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.errors import PatchConflict, PatchMalformed, SandboxError
from redfirst.patches.base import PreparedBase
from redfirst.patches.git import GitFailed, git
from redfirst.patches.parse import FileKind, Patch, PatchedFile, parse_patch, unquote
from redfirst.patches.place_hunks import placed

_ABSENT = "000000"
_UNREADABLE = re.compile(
    r"corrupt|malformed|[Nn]o valid patches|unrecognized|full index line|lacks filename|inconsistent|invalid mode"
)


@dataclass(frozen=True, slots=True)
class TreeChange:
    """One path that differs from Base. Modes as Git writes them; None where the file is absent.

    ``status``: A, M, D or T (another type). A rename is a D and an A, the latter with ``renamed_from``.
    """

    path: str
    status: str
    old_mode: str | None
    new_mode: str | None
    old: bytes | None
    new: bytes | None
    renamed_from: str | None = None


@dataclass(frozen=True, slots=True)
class AppliedTree:
    """Base with diffs applied. ``changes``: all of them against Base; ``step``: of the last diff alone.

    ``canonical`` is the last diff as Git exports it: the same change always has the same bytes.
    """

    tree: str
    changes: tuple[TreeChange, ...]
    step: tuple[TreeChange, ...]
    canonical: bytes


@dataclass(frozen=True, slots=True)
class _Raw:
    """One line of Git's comparison of two trees."""

    path: str
    status: str
    modes: tuple[str, str]
    names: tuple[str, str]


def apply_patch(base: PreparedBase, data: bytes, onto: AppliedTree | None = None) -> AppliedTree:
    """Apply ``data`` to Base, or to ``onto``. Raises PatchMalformed, PatchConflict with Git's reason.

    All of it or nothing. White space counts. A hunk may lie at another line than it says only if its old text
    occurs once in the file.
    """
    patch = parse_patch(data)
    with tempfile.TemporaryDirectory(prefix="redfirst-apply-") as folder:
        desk = _Desk(base, Path(folder))
        before = base.tree if onto is None else desk.replay(onto)
        desk.apply(data)
        tree = desk.git("write-tree").decode().strip()
        raw, canonical = desk.compare(before, tree)
        all_raw = raw if before == base.tree else desk.compare(base.tree, tree)[0]
        texts = desk.texts(before, patch, (*raw, *all_raw))
    step = _changes(raw, texts, patch)
    if not step:
        raise PatchConflict("the patch changes nothing", "write a diff against Base")
    _check_places(patch, step, texts, before)
    changes = step if before == base.tree else _changes(all_raw, texts, patch)
    return AppliedTree(tree, changes, step, canonical)


def _changes(raw: tuple[_Raw, ...], texts: dict[str, bytes], patch: Patch) -> tuple[TreeChange, ...]:
    renamed = {file.new_path: file.old_path for file in patch.files if file.kind is FileKind.RENAME}
    return tuple(
        TreeChange(
            line.path,
            line.status,
            None if line.modes[0] == _ABSENT else line.modes[0],
            None if line.modes[1] == _ABSENT else line.modes[1],
            texts.get(line.names[0]),
            texts.get(line.names[1]),
            renamed.get(line.path) if line.status == "A" else None,
        )
        for line in raw
    )


def _check_places(patch: Patch, step: tuple[TreeChange, ...], texts: dict[str, bytes], before: str) -> None:
    """Every text file must be what our own reading of its hunks, one after the other, makes of it."""
    new = {change.path: change.new for change in step}
    expected: dict[str, bytes | None] = {}
    for file in patch.files:
        if file.kind in (FileKind.DELETE, FileKind.RENAME) and file.old_path is not None:
            expected.setdefault(file.old_path, None)
        if file.new_path is None or not (file.hunks or file.kind is FileKind.ADD):
            continue
        again = file.kind is FileKind.MODIFY and file.old_path in expected
        old = expected[file.new_path] if again else texts.get(f"{before}:{file.old_path}")
        if file.kind is FileKind.ADD and expected.get(file.new_path) is not None:
            raise PatchConflict(f"{file.new_path} is added twice", "make one diff of it")
        if not file.binary:
            expected[file.new_path] = _after(file, old)
    for path, text in expected.items():
        if path in new and (new[path] or b"") != (text or b""):
            raise PatchConflict(f"{path}: a hunk fits more than one place", "make the patch against Base")


def _after(file: PatchedFile, old: bytes | None) -> bytes:
    """The text that the hunks of one file make of ``old``; None is a file that is not there."""
    if old is None:
        # without /dev/null in its header, a file that only gains lines may be new as well
        if file.kind is not FileKind.ADD and any(hunk.side(b"-") for hunk in file.hunks):
            raise PatchConflict(f"{file.old_path} is not in Base", "make the patch against Base")
        old = b""
    return placed(file.new_path or "", file.hunks, old)


class _Desk:
    """A private index and object folder over Base's objects."""

    def __init__(self, base: PreparedBase, folder: Path) -> None:
        self._folder, self._objects = folder, folder / "objects"
        self._objects.mkdir()
        self._algorithm = "sha1" if len(base.tree) == 40 else "sha256"
        try:
            shutil.copyfile(base.index, folder / "index")
        except OSError as error:
            raise SandboxError(
                f"Base {base.tree} is gone from the store ({error.strerror})", "run again"
            ) from None
        self._variables = {
            "GIT_DIR": str(base.git_dir),
            "GIT_INDEX_FILE": str(folder / "index"),
            "GIT_OBJECT_DIRECTORY": str(self._objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(base.git_dir / "objects"),
        }

    def git(self, *words: str, stdin: bytes = b"") -> bytes:
        """One git command at this desk. Raises SandboxError: what runs here works unless Base is broken."""
        try:
            return self._git(*words, stdin=stdin)
        except GitFailed as error:
            raise SandboxError(
                f"Base cannot be read ({error.what})", "clear the cache and run again"
            ) from None

    def _git(self, *words: str, stdin: bytes = b"") -> bytes:
        return git(words, folder=self._folder, stdin=stdin, variables=self._variables)

    def replay(self, applied: AppliedTree) -> str:
        """Bring the index to an applied tree, whose new objects lived in a folder that is gone."""
        lines = []
        for change in sorted(applied.changes, key=lambda change: change.new is not None):
            path = change.path.encode("utf-8", "surrogateescape") + b"\0"
            if change.new is None:
                lines.append(f"0 {'0' * len(applied.tree)}\t".encode() + path)
            else:
                lines.append(f"{change.new_mode} {self._store(change.new)}\t".encode() + path)
        self.git("update-index", "-z", "--index-info", stdin=b"".join(lines))
        tree = self.git("write-tree").decode().strip()
        if tree != applied.tree:
            raise SandboxError(f"the applied tree {applied.tree} cannot be made again", "report this")
        return tree

    def _store(self, text: bytes) -> str:
        """Write one blob as a loose object, as ``git hash-object -w`` would; its name."""
        whole = b"blob %d\0" % len(text) + text
        name = hashlib.new(self._algorithm, whole, usedforsecurity=False).hexdigest()
        folder = self._objects / name[:2]
        folder.mkdir(exist_ok=True)
        (folder / name[2:]).write_bytes(zlib.compress(whole, 1))
        return name

    def apply(self, data: bytes) -> None:
        # without --unidiff-zero a hunk that lacks context on one side would be tied to the end of the file;
        # that it lies where it says is checked afterwards
        words = ("apply", "--cached", "--unidiff-zero", "--whitespace=nowarn", "-p1", "-")
        try:
            self._git(*words, stdin=data)
        except GitFailed as error:
            reason = error.what.removeprefix("error: ")
            if _UNREADABLE.search(reason):
                raise PatchMalformed(
                    f"git cannot read the patch ({reason})", "write a unified diff"
                ) from None
            raise PatchConflict(
                f"the patch does not apply exactly ({reason})", "make it against Base"
            ) from None

    def compare(self, before: str, after: str) -> tuple[tuple[_Raw, ...], bytes]:
        """Git's list of what differs, and its diff of it."""
        words = (
            "-r",
            "--raw",
            "-p",
            "--binary",
            "--full-index",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
        )
        out = self.git("diff-tree", *words, before, after)
        head, _, canonical = out.partition(b"\n\n") if out.startswith(b":") else (b"", b"", out)
        raw = []
        for line in head.splitlines():
            facts, _, path = line.partition(b"\t")
            old_mode, new_mode, old, new, status = facts[1:].decode().split()
            raw.append(_Raw(unquote(path, "surrogateescape"), status[:1], (old_mode, new_mode), (old, new)))
        return tuple(raw), canonical

    def texts(self, before: str, patch: Patch, raw: tuple[_Raw, ...]) -> dict[str, bytes]:
        """Contents by object name, and those of patched files by ``tree:path``."""
        wanted = [
            name for line in raw for name, mode in zip(line.names, line.modes, strict=True) if _is_file(mode)
        ]
        wanted += [
            f"{before}:{file.old_path}" for file in patch.files if file.old_path and "\n" not in file.old_path
        ]
        wanted = list(dict.fromkeys(wanted))
        out = self.git("cat-file", "--batch", stdin="\n".join(wanted).encode() + b"\n")
        found, at = {}, 0
        for name in wanted:
            end = out.index(b"\n", at)
            words = out[at:end].rsplit(b" ", 2)
            at = end + 1
            if len(words) == 3 and words[1] in (b"blob", b"tree") and words[2].isdigit():
                size = int(words[2])
                found[name] = out[at : at + size]
                at += size + 1
        return found


def _is_file(mode: str) -> bool:
    return mode not in (_ABSENT, "160000")
