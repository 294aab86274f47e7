# SPDX-License-Identifier: Apache-2.0
"""Builds the environment that a list of pinned requirements describes, once, and keeps it by content."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.digests import digest
from redfirst.core.environment import Environment
from redfirst.environments.base_python import base_interpreter
from redfirst.environments.build import (
    LIMITS,
    Recipe,
    finished,
    keep_products,
    locked,
    run_step,
    surroundings,
)
from redfirst.environments.find import project_of
from redfirst.environments.mounts import FIXED_MOUNT
from redfirst.patches.base import PreparedBase
from redfirst.sandbox.protocol import Sandbox

SCHEMA = 1
_TODO = "check the requirements, and that the package index can be reached"


@dataclass(frozen=True, slots=True)
class Pins:
    """``requirements``: pip's texts, all but the project itself. ``install``: pip's words for the project.

    ``variables`` are set while the project is installed, and at no other time.
    """

    requirements: tuple[str, ...]
    install: str = "-e ."
    variables: tuple[tuple[str, str], ...] = ()


def build_pinned(
    base: PreparedBase,
    pins: Pins,
    *,
    cache: Path,
    sandbox: Sandbox,
    log: Callable[[str], None],
) -> Environment:
    """The environment of exactly these requirements with Base installed in it; built if it is not in ``cache``.

    The requirements come with what they name and nothing else decides: the project is installed without its
    dependencies. Raises EnvironmentFailed with the last lines of pip's output, and SandboxError.
    """
    project = project_of(base, cache)
    python = base_interpreter(project, base, cache)
    parts = [str(SCHEMA), python.executable, python.version, python.platform, base.tree, pins.install]
    parts += [*pins.requirements, *(f"{name}={value}" for name, value in pins.variables)]
    key = digest(*(part.encode() for part in parts))
    folder = Path(os.path.realpath(cache)) / "environments" / "pinned" / key[:32]
    recipe = Recipe(project, python, "", folder)
    if not recipe.marker.is_file():
        with locked(folder):
            if not recipe.marker.is_file():
                _build(recipe, base, pins, sandbox, cache, log)
    return finished(recipe, base.root)


def _build(
    recipe: Recipe,
    base: PreparedBase,
    pins: Pins,
    sandbox: Sandbox,
    cache: Path,
    log: Callable[[str], None],
) -> None:
    shutil.rmtree(recipe.folder, ignore_errors=True)
    recipe.venv.mkdir(parents=True)
    log(f"building an environment with Python {recipe.python.version}")
    variables, binds, path = surroundings(recipe, base, cache)
    env = {**variables, "PATH": ":".join(path)}
    pip = [str(recipe.venv / "bin" / "python"), "-m", "pip", "install", "--progress-bar", "off"]
    workspace = sandbox.fresh(base.tree_dir, mount=FIXED_MOUNT, limits=LIMITS)
    try:
        run_step(workspace, [recipe.python.executable, "-m", "venv", str(recipe.venv)], env, binds)
        if pins.requirements:
            log(f"installing {len(pins.requirements)} pinned requirements")
            run_step(workspace, [*pip, *pins.requirements], env, binds, todo=_TODO)
        log(f"installing the project: pip install {pins.install}")
        words = [*pip, "--no-deps", *shlex.split(pins.install)]
        run_step(workspace, words, {**env, **dict(pins.variables)}, binds, todo=_TODO)
        kept = keep_products(workspace, recipe.layer)
    finally:
        workspace.close()
    fresh = recipe.marker.with_suffix(".new")
    fresh.write_text(json.dumps({"schema": SCHEMA, "layer": kept, "notes": []}), encoding="utf-8")
    os.replace(fresh, recipe.marker)
    log("the environment is built")
