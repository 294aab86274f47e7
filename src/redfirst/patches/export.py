# SPDX-License-Identifier: Apache-2.0
"""The complete Base-relative diff of a dirty tree, and the proof that it is complete."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from redfirst.core.errors import PatchConflict, PatchError, SandboxError, UsageError
from redfirst.patches.apply import apply_patch
from redfirst.patches.base import PreparedBase
from redfirst.patches.git import GitFailed, git

_DIFF = (
    "diff-tree",
    "-r",
    "-p",
    "--binary",
    "--full-index",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
)


def export_patch(worktree: Path, base: PreparedBase) -> bytes:
    """Everything in which ``worktree`` differs from Base: new, staged, deleted, renamed, mode, binary.

    Only file contents are believed, never the Git state of the tree: what is staged or committed there counts
    as what lies on disk. Ignored files that Base does not track are left out, staged or not: the tree's own
    index is not read. A rename is a removal and an addition. Empty if nothing differs. Raises UsageError (no
    folder), PatchConflict if the diff does not reproduce the tree, SandboxError where files cannot be read.
    """
    if not worktree.is_dir():
        raise UsageError(f"no folder at {worktree}", "name a checkout")
    tree, patch = _snapshot(worktree.resolve(), base)
    prove_export(patch, base, tree)
    return patch


def prove_export(patch: bytes, base: PreparedBase, tree: str) -> None:
    """Apply ``patch`` to a fresh Base; raises PatchConflict unless that gives exactly ``tree`` (a tree hash)."""
    try:
        made = apply_patch(base, patch).tree if patch else base.tree
    except PatchError as error:
        raise PatchConflict(
            f"the changes cannot be written as a diff ({error.what})", "rename the file"
        ) from None
    if made != tree:
        raise PatchConflict(f"the exported diff gives the tree {made}, not {tree}", "report this")


def _snapshot(worktree: Path, base: PreparedBase) -> tuple[str, bytes]:
    with tempfile.TemporaryDirectory(prefix="redfirst-export-") as name:
        folder = Path(name)
        (folder / "objects").mkdir()
        variables = {
            "GIT_WORK_TREE": str(worktree),
            "GIT_DIR": str(_private_repository(folder, base)),
            "GIT_INDEX_FILE": str(folder / "index"),
            "GIT_OBJECT_DIRECTORY": str(folder / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(base.git_dir / "objects"),
        }
        try:
            # a fresh index without stat data: that of Base's own checkout says nothing about this tree
            git(["read-tree", base.tree], folder=worktree, variables=variables)
            git(["add", "-A", "."], folder=worktree, variables=variables)
            tree = git(["write-tree"], folder=worktree, variables=variables).decode().strip()
            patch = git([*_DIFF, base.tree, tree], folder=folder, variables=variables)
        except GitFailed as error:
            raise SandboxError(f"{worktree} cannot be read ({error.what})", "check its files") from None
    return tree, patch


def _private_repository(folder: Path, base: PreparedBase) -> Path:
    """Base's settings and attributes without its objects: nothing is written in the store."""
    private = folder / "git"
    (private / "info").mkdir(parents=True)
    (private / "refs").mkdir()
    (private / "objects").mkdir()
    for part in ("HEAD", "config", "info/attributes"):
        shutil.copyfile(base.git_dir / part, private / part)
    return private
