# SPDX-License-Identifier: Apache-2.0
"""The complete Base-relative diff of a dirty tree, and the proof that it is complete."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from redfirst.core.errors import PatchConflict
from redfirst.patches.apply import apply_patch
from redfirst.patches.base import PreparedBase
from redfirst.patches.git import git


def export_patch(worktree: Path, base: PreparedBase) -> bytes:
    """Everything in which ``worktree`` differs from Base: new, staged, deleted, renamed, mode, binary.

    Only file contents are believed, never the Git state of the tree: what is staged or committed there
    counts as what lies on disk. Ignored files that Base does not track are left out. Empty if nothing differs.
    Raises PatchConflict if the diff does not reproduce the tree.
    """
    tree, patch = _snapshot(worktree, base)
    if tree == base.tree:
        return b""
    if apply_patch(base, patch).tree != tree:
        raise PatchConflict(f"the changes of {worktree} cannot be written as a diff", "report this")
    return patch


def _snapshot(worktree: Path, base: PreparedBase) -> tuple[str, bytes]:
    with tempfile.TemporaryDirectory(prefix="redfirst-export-") as name:
        folder = Path(name)
        (folder / "objects").mkdir()
        shutil.copyfile(base.index, folder / "index")
        variables = {
            "GIT_DIR": str(base.git_dir),
            "GIT_WORK_TREE": str(worktree.resolve()),
            "GIT_INDEX_FILE": str(folder / "index"),
            "GIT_OBJECT_DIRECTORY": str(folder / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(base.git_dir / "objects"),
        }
        # stat data of Base's own checkout says nothing about this tree
        git(["read-tree", "--empty"], folder=worktree, variables=variables)
        git(["read-tree", base.tree], folder=worktree, variables=variables)
        git(["add", "-A", "."], folder=worktree, variables=variables)
        tree = git(["write-tree"], folder=worktree, variables=variables).decode().strip()
        words = ["diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", base.tree, tree]
        return tree, git(words, folder=worktree, variables=variables)
