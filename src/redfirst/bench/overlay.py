# SPDX-License-Identifier: Apache-2.0
"""Base with files of the fixed release laid over it, as a folder of its own in the cache."""

from __future__ import annotations

import os
import posixpath
import shutil
import tempfile
from pathlib import Path

from redfirst.bench.instance import Gold, Instance
from redfirst.core.digests import digest
from redfirst.core.errors import UsageError
from redfirst.environments.build import locked

SCHEMA = 1


def lay_over(base: Path, fixed: Path, gold: Gold, instance: Instance, cache: Path) -> Path:
    """The gold tree, made once. Raises UsageError where a named file is in neither release."""
    names = sorted(_named(base, fixed, gold, instance))
    parts = (str(SCHEMA), str(base), str(fixed), *names)
    folder = cache / "bench" / "gold" / digest(*(part.encode() for part in parts))[:32]
    with locked(folder):
        if not folder.is_dir():
            _make(base, fixed, names, folder)
    return folder


def _named(base: Path, fixed: Path, gold: Gold, instance: Instance) -> set[str]:
    """Paths to take from ``fixed``; one that only Base has is to be removed."""
    if gold.files is not None:
        for path in gold.files:
            if not _is_inside(path) or not (fixed / path).is_file():
                raise UsageError(
                    f"{instance.instance_id}: gold file {path!r} is not in the fixed release",
                    "correct hidden.json",
                )
        return set(gold.files)
    found = {path for tree in (base, fixed) for root in gold.roots or ("",) for path in _files(tree, root)}
    if not gold.roots:
        found = {path for path in found if not _is_below(path, instance.test_paths)}
    if not found:
        raise UsageError(f"{instance.instance_id}: the roots of gold hold no files", "correct hidden.json")
    return found


def _files(tree: Path, root: str) -> set[str]:
    if root and not _is_inside(root):
        raise UsageError(f"gold root {root!r} leaves the tree", "correct hidden.json")
    return {
        os.path.relpath(os.path.join(folder, name), tree)
        for folder, _, names in os.walk(tree / root)
        for name in names
    }


def _make(base: Path, fixed: Path, names: list[str], folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".draft-"))
    try:
        shutil.copytree(base, draft / "tree", symlinks=True)
        for name in names:
            target = draft / "tree" / name
            target.unlink(missing_ok=True)
            if (fixed / name).is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(fixed / name, target, follow_symlinks=False)
        (draft / "tree").rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _is_inside(path: str) -> bool:
    return not posixpath.isabs(path) and ".." not in path.split("/") and posixpath.normpath(path) != "."


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
