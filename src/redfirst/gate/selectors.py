# SPDX-License-Identifier: Apache-2.0
"""What of a command only the tree and the environment can tell: `cd`, interpreter, wide selectors."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

from redfirst.core.environment import Environment
from redfirst.core.errors import CommandRejected
from redfirst.gate.project import ProjectView
from redfirst.runners.django_command import ruling_files, wide_labels
from redfirst.runners.protocol import Selection
from redfirst.runners.python_command import interpreter_path, wide_selectors


def check_selection(
    selection: Selection, tree_dir: Path, project: ProjectView, environment: Environment | None = None
) -> None:
    """Raises CommandRejected: `cd` leaves the checkout, a selector is wider than a node, foreign interpreter."""
    _check_cd(selection.command.cd, tree_dir, project)
    _check_ruling_files(selection, project)
    wide = wide_selectors(selection, project.read) + (
        wide_labels(selection, project.read) if selection.runner == "django" else []
    )
    if wide:
        raise CommandRejected(
            f"selects more than single tests: {', '.join(wide)}", "name each test by its full id"
        )
    if environment is not None:
        _check_interpreter(selection, environment)


def _check_ruling_files(selection: Selection, project: ProjectView) -> None:
    """A script or settings that the command starts with may not come from the test patch."""
    named = ruling_files(selection, project.read) if selection.runner == "django" else ()
    brought = [path for path in named if path in project.changed and project.policy.is_test(path)]
    if brought:
        raise CommandRejected(
            f"the tests would be started with {brought[0]}, which the patch changes",
            "name a script and settings that the checkout has",
        )


def _check_cd(folder: str, tree_dir: Path, project: ProjectView) -> None:
    if folder in ("", "."):
        return
    root = os.path.realpath(tree_dir)
    real = os.path.realpath(os.path.join(root, folder))
    if real != root and not real.startswith(root + os.sep):
        raise CommandRejected(f"cd {folder} leaves the checkout", "stay inside it")
    new = any(path.startswith(posixpath.normpath(folder) + "/") for path in project.changed)
    if not os.path.isdir(real) and not new:
        raise CommandRejected(f"cd {folder}: no such folder in the checkout", "name an existing folder")


def _check_interpreter(selection: Selection, environment: Environment) -> None:
    path = interpreter_path(selection)
    if path is None:
        return
    whole = posixpath.normpath(posixpath.join(environment.mount, selection.command.cd, path))
    prefix = (environment.prefix or "").rstrip("/")
    if not prefix or not whole.startswith(prefix + "/"):
        raise CommandRejected(
            f"interpreter {path} is not inside the environment",
            "name it `python`, or by a path in its folder",
        )
