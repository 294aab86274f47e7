# SPDX-License-Identifier: Apache-2.0
"""Source distributions of releases: fetched once in a sandbox, unpacked once, kept in the cache."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from redfirst.bench.dataset import Workshop
from redfirst.bench.unpack import unpack
from redfirst.core.errors import EnvironmentFailed, UsageError
from redfirst.environments.base_python import base_interpreter
from redfirst.environments.build import LIMITS, Recipe, keep_products, locked, run_step, surroundings
from redfirst.environments.mounts import FIXED_MOUNT
from redfirst.environments.project import Project, normalise
from redfirst.patches.base import prepare_base

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_TODO = "check package and version, and that the package index can be reached"


def release_folder(package: str, version: str, workshop: Workshop) -> Path:
    """The tree of one source distribution, without its top folder. Raises EnvironmentFailed, SandboxError.

    Processes that want the same one wait for each other.
    """
    if not _NAME.fullmatch(package) or not _VERSION.fullmatch(version):
        raise UsageError(f"{package}=={version} names no release", "correct the data set")
    home = workshop.cache / "bench" / "releases" / f"{normalise(package)}-{version}"
    tree = home / "tree"
    if not tree.is_dir():
        with locked(home):
            if not tree.is_dir():
                archive = _archive(package, version, home, workshop)
                _unpack_once(archive, tree)
    return tree


def _archive(package: str, version: str, home: Path, workshop: Workshop) -> Path:
    folder = home / "archive"
    if not folder.is_dir():
        workshop.log(f"fetching the source of {package}=={version}")
        draft = Path(tempfile.mkdtemp(dir=_made(home), prefix=".draft-"))
        try:
            _download(package, version, draft / "archive", workshop)
            (draft / "archive").rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    found = sorted(folder.iterdir())
    if len(found) != 1:
        raise EnvironmentFailed(f"{package}=={version} has {len(found)} source archives", _TODO)
    return found[0]


def _download(package: str, version: str, target: Path, workshop: Workshop) -> None:
    """pip runs the release's own build code to read its metadata, so it is started in the sandbox."""
    cache = workshop.cache
    base = prepare_base(_seed(cache), None, cache / "bases")
    python = base_interpreter(Project(), base, cache)
    home = Path(os.path.realpath(cache)) / "bench" / f"pip-{python.version}"
    recipe = Recipe(Project(), python, "", home)
    variables, binds, path = surroundings(recipe, base, cache)
    env = {**variables, "PATH": ":".join(path)}
    with locked(home):
        recipe.venv.mkdir(parents=True, exist_ok=True)
        workspace = workshop.sandbox.fresh(base.tree_dir, mount=FIXED_MOUNT, limits=LIMITS)
        try:
            executable = recipe.venv / "bin" / "python"
            if not recipe.marker.is_file():
                run_step(workspace, [python.executable, "-m", "venv", str(recipe.venv)], env, binds)
                recipe.marker.touch()
            # wheels are taken for what the build needs, only the release itself must be its source
            words = ["-m", "pip", "download", "--progress-bar", "off", "--no-deps", "--no-binary", package]
            words += ["--dest", "archive", f"{package}=={version}"]
            run_step(workspace, [str(executable), *words], env, binds, todo=_TODO)
            keep_products(workspace, target.parent)
        finally:
            workspace.close()
    if not target.is_dir():
        raise EnvironmentFailed(f"pip brought no source of {package}=={version}", _TODO)


def _seed(cache: Path) -> Path:
    """A tree with nothing in it that matters; a workspace needs one."""
    folder = cache / "bench" / "seed"
    _made(folder)
    note = folder / "NOTE"
    if not note.is_file():
        note.write_text("the tree in which source distributions are fetched\n", encoding="utf-8")
    return folder


def _unpack_once(archive: Path, tree: Path) -> None:
    draft = Path(tempfile.mkdtemp(dir=tree.parent, prefix=".draft-"))
    try:
        unpack(archive, draft / "all")
        tops = sorted((draft / "all").iterdir())
        if len(tops) != 1 or not tops[0].is_dir():
            raise EnvironmentFailed(f"{archive.name} does not hold one folder", "take another release")
        tops[0].rename(tree)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFailed(
            f"{folder} cannot be made ({error.strerror})", "choose another cache folder"
        ) from None
    return folder
