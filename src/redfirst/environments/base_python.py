# SPDX-License-Identifier: Apache-2.0
"""Chooses the installed Python from which a fresh environment is made."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from redfirst.core.errors import EnvironmentFailed
from redfirst.environments.interpreter import Interpreter, probe
from redfirst.environments.project import Project
from redfirst.environments.suits import satisfies
from redfirst.patches.base import PreparedBase

_NAMES = ("python3", "python3.13", "python3.12", "python3.11", "python3.10", "python3.9", "python3.8")
_STORES = ("~/.pyenv/versions", "~/.local/share/uv/python", "/opt/python", "/opt/hostedtoolcache/Python")


def base_interpreter(project: Project, base: PreparedBase, cache: Path) -> Interpreter:
    """The first Python that satisfies ``requires-python`` and can make virtual environments.

    A version that the checkout pins in ``.python-version`` comes first. Raises EnvironmentFailed.
    """
    pinned = _pinned(base.tree_dir)
    fallback: Interpreter | None = None
    for executable in _installed():
        found = probe(executable, base.root, cache)
        if isinstance(found, str):
            continue
        found = _underlying(found)
        if not satisfies(found.version, project.requires_python) or not _makes_environments(found):
            continue
        if not pinned or found.version == pinned or found.version.startswith(pinned + "."):
            return found
        fallback = fallback or found
    if fallback is not None:
        return fallback
    wanted = project.requires_python or "3"
    raise EnvironmentFailed(
        f"no Python {wanted} that can make virtual environments is installed",
        "install one, or use --python EXE",
    )


def _pinned(tree: Path) -> str:
    try:
        text = (tree / ".python-version").read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return ""
    return text[0] if text and re.fullmatch(r"3(\.\d+){0,2}", text[0]) else ""


def _installed() -> Iterator[str]:
    yield from (path for name in _NAMES[:1] if (path := shutil.which(name)))
    yield os.path.realpath(sys.executable)
    yield from (path for name in _NAMES[1:] if (path := shutil.which(name)))
    for store in _STORES:
        found = Path(os.path.expanduser(store)).glob("*/bin/python3")
        yield from (str(path) for path in sorted(found, key=_by_version, reverse=True))


def _by_version(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", path.parent.parent.name)[:3])


def _underlying(found: Interpreter) -> Interpreter:
    """The installation below a virtual environment, so that a build never hangs on that one."""
    if not found.virtual:
        return found
    executable = os.path.realpath(found.executable)
    prefix = os.path.dirname(os.path.dirname(executable))
    return replace(found, executable=executable, prefix=prefix, virtual=False)


def _makes_environments(found: Interpreter) -> bool:
    """Whether the installer for fresh environments is there; some systems package it apart."""
    minor = ".".join(found.version.split(".")[:2])
    names = (f"lib/python{minor}", f"lib/pypy{minor}", "lib-python/3")
    return any(
        Path(base, name, "ensurepip", "__init__.py").is_file() for base in found.bases for name in names
    )
