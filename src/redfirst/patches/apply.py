# SPDX-License-Identifier: Apache-2.0
"""Exact application of a diff: Git decides, nothing is guessed, the store is never written."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.errors import PatchConflict, PatchMalformed
from redfirst.patches.base import PreparedBase
from redfirst.patches.git import GitFailed, git
from redfirst.patches.parse import Hunk, Patch, parse_patch

_ABSENT = "000000"


@dataclass(frozen=True, slots=True)
class TreeChange:
    """One path that differs from Base. Modes as Git writes them; None where the file is absent."""

    path: str
    status: str
    old_mode: str | None
    new_mode: str | None
    old: bytes | None
    new: bytes | None


@dataclass(frozen=True, slots=True)
class AppliedTree:
    """Base with diffs applied. ``changes``: all of them against Base; ``step``: of the last diff alone.

    ``canonical`` is the last diff as Git exports it: the same change always has the same bytes.
    """

    tree: str
    changes: tuple[TreeChange, ...]
    step: tuple[TreeChange, ...]
    canonical: bytes


def apply_patch(base: PreparedBase, data: bytes, onto: AppliedTree | None = None) -> AppliedTree:
    """Apply ``data`` to Base, or to ``onto``. Raises PatchMalformed, PatchConflict with Git's reason.

    A hunk may lie at another line than it says only if its old text occurs once in the file.
    """
    patch = parse_patch(data)
    with tempfile.TemporaryDirectory(prefix="redfirst-apply-") as folder:
        desk = _Desk(base, Path(folder))
        before = base.tree
        if onto is not None:
            desk.git("read-tree", onto.tree) if onto.tree == base.tree else desk.replay(onto)
            before = desk.git("write-tree").decode().strip()
        desk.apply(data)
        tree = desk.git("write-tree").decode().strip()
        desk.check_offsets(patch, before)
        step = desk.changes(before, tree)
        changes = step if before == base.tree else desk.changes(base.tree, tree)
        canonical = desk.git(
            "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", before, tree
        )
    if not step:
        raise PatchConflict("the patch changes nothing", "write a diff against Base")
    return AppliedTree(tree, changes, step, canonical)


class _Desk:
    """A private index and object folder over Base's objects."""

    def __init__(self, base: PreparedBase, folder: Path) -> None:
        self._base = base
        objects = folder / "objects"
        objects.mkdir()
        shutil.copyfile(base.index, folder / "index")
        self._variables = {
            "GIT_DIR": str(base.git_dir),
            "GIT_INDEX_FILE": str(folder / "index"),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(base.git_dir / "objects"),
        }
        self._folder = folder

    def git(self, *words: str, stdin: bytes = b"") -> bytes:
        return git(words, folder=self._folder, stdin=stdin, variables=self._variables)

    def replay(self, applied: AppliedTree) -> None:
        """Bring the index to an applied tree, whose new objects lived in a folder that is gone."""
        lines = []
        for change in applied.changes:
            if change.new is None:
                lines.append(f"0 {'0' * 40}\t{change.path}\0".encode())
            else:
                name = (
                    self.git("hash-object", "-w", "--stdin", "--no-filters", stdin=change.new)
                    .decode()
                    .strip()
                )
                lines.append(f"{change.new_mode} {name}\t{change.path}\0".encode())
        self.git("update-index", "-z", "--index-info", stdin=b"".join(lines))

    def apply(self, data: bytes) -> None:
        try:
            self.git("apply", "--cached", "--whitespace=nowarn", "-p1", "-", stdin=data)
        except GitFailed as error:
            reason = error.what.removeprefix("error: ")
            if "corrupt" in reason or "malformed" in reason or "No valid patches" in reason:
                raise PatchMalformed(
                    f"git cannot read the patch ({reason})", "write a unified diff"
                ) from None
            raise PatchConflict(
                f"the patch does not apply exactly ({reason})", "make it against Base"
            ) from None

    def check_offsets(self, patch: Patch, before: str) -> None:
        for file in patch.files:
            if file.old_path is None or not file.hunks:
                continue
            text = self.git("cat-file", "blob", f"{before}:{file.old_path}")
            lines = _lines(text)
            for hunk in file.hunks:
                _check_offset(file.old_path, hunk, lines)

    def changes(self, before: str, after: str) -> tuple[TreeChange, ...]:
        words = self.git("diff-tree", "-r", "-z", "--no-renames", before, after).split(b"\0")
        facts = []
        for head, path in zip(words[::2], words[1::2], strict=False):
            old_mode, new_mode, old, new, status = head[1:].decode().split()
            facts.append((path.decode("utf-8", "surrogateescape"), status[:1], old_mode, new_mode, old, new))
        texts = self._blobs([name for fact in facts for name in fact[4:6]])
        return tuple(
            TreeChange(
                path,
                status,
                None if old_mode == _ABSENT else old_mode,
                None if new_mode == _ABSENT else new_mode,
                texts.get(old),
                texts.get(new),
            )
            for path, status, old_mode, new_mode, old, new in facts
        )

    def _blobs(self, names: list[str]) -> dict[str, bytes]:
        wanted = [name for name in dict.fromkeys(names) if name.strip("0")]
        if not wanted:
            return {}
        out = self.git("cat-file", "--batch", stdin="\n".join(wanted).encode() + b"\n")
        found, at = {}, 0
        for name in wanted:
            end = out.index(b"\n", at)
            words = out[at:end].split()
            if len(words) != 3:
                at = end + 1
                continue
            size = int(words[2])
            found[name] = out[end + 1 : end + 1 + size]
            at = end + 1 + size + 1
        return found


def _lines(text: bytes) -> list[bytes]:
    """Lines that end at LF alone, as Git counts them."""
    pieces = text.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def _check_offset(path: str, hunk: Hunk, lines: list[bytes]) -> None:
    old = list(hunk.side(b"-"))
    if not old:
        return
    at = max(hunk.old_start - 1, 0)
    if lines[at : at + len(old)] == old:
        return
    places = [
        start
        for start in range(len(lines) - len(old) + 1)
        if lines[start] == old[0] and lines[start : start + len(old)] == old
    ]
    if len(places) != 1:
        raise PatchConflict(
            f"{path}: the hunk at line {hunk.old_start} is not there, and its text occurs {len(places)} times",
            "make the patch against Base",
        )
