# SPDX-License-Identifier: Apache-2.0
"""What the strategy must know of a checkout: its packages, and the folders they are imported from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable

from redfirst.agents.task import Gate

_NOT_PACKAGES_TEXT = """
tests test testing docs doc examples example benchmarks bench scripts tools build dist ci setup
conftest noxfile tasks fabfile manage versioneer
"""
_NOT_PACKAGES = frozenset(_NOT_PACKAGES_TEXT.split())


def import_folders(gate: Gate) -> tuple[str, ...]:
    """Folders for the import path, the tree's root first; those that pytest is told of included."""
    files = gate.base_files()
    folders = ["", *_configured(gate)]
    for folder in ("src", "lib"):
        if any(re.match(rf"{folder}/\w+(?:/__init__)?\.py$", path) for path in files):
            folders.append(folder)
    return tuple(dict.fromkeys(folders))


def packages(gate: Gate) -> tuple[str, ...]:
    """Top-level modules and packages of the project, biggest first; tests and tools are left out."""
    found: dict[str, int] = {}
    folders, known = import_folders(gate), frozenset(gate.base_files())
    for path in sorted(known):
        for folder in folders:
            inside = path.removeprefix(f"{folder}/") if folder else path
            if folder and inside == path:
                continue
            match = re.match(r"([A-Za-z_]\w*)(?:/.*)?\.py$", inside)
            if match and ("/" not in inside or _is_package(known, folder, match.group(1))):
                found[match.group(1)] = found.get(match.group(1), 0) + 1
    names = [name for name in found if name.lower() not in _NOT_PACKAGES and not name.startswith("test_")]
    own = [
        name for name in names if not gate.is_test(f"{name}.py") and not gate.is_test(f"{name}/__init__.py")
    ]
    return tuple(sorted(own, key=lambda name: -found[name]))


def package_of(gate: Gate, path: str) -> str:
    """The dotted name of the package that a file belongs to, '' for none: what its relative imports start from."""
    folder = path.rpartition("/")[0]
    roots = [root for root in import_folders(gate) if not root or f"{folder}/".startswith(f"{root}/")]
    inside = folder.removeprefix(max(roots, key=len)).strip("/")
    return inside.replace("/", ".")


def owns(gate: Gate, module: str) -> bool:
    """Whether the top-level name of ``module`` is a module or package of Base that is no test."""
    top = re.escape(module.partition(".")[0])
    pattern = re.compile(rf"(?:^|/){top}(?:/__init__)?\.pyi?$")
    return any(pattern.search(path) and not gate.is_test(path) for path in gate.base_files())


def _is_package(known: frozenset[str], folder: str, name: str) -> bool:
    prefix = f"{folder}/" if folder else ""
    return f"{prefix}{name}/__init__.py" in known


def _configured(gate: Gate) -> Iterable[str]:
    """Pytest's own ``pythonpath`` setting."""
    try:
        settings = tomllib.loads((gate.read("pyproject.toml") or b"").decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        settings = {}
    options = settings.get("tool", {}).get("pytest", {}).get("ini_options", {})
    paths = options.get("pythonpath", []) if isinstance(options, dict) else []
    yield from _relative(paths.split() if isinstance(paths, str) else paths)
    for name in ("pytest.ini", "tox.ini", "setup.cfg"):
        text = (gate.read(name) or b"").decode("utf-8", "replace")
        match = re.search(r"^pythonpath[ \t]*=[ \t]*((?:.*)(?:\n[ \t]+\S.*)*)", text, re.MULTILINE)
        if match:
            yield from _relative(match.group(1).split())


def _relative(paths: object) -> Iterable[str]:
    if isinstance(paths, list):
        for path in paths:
            if isinstance(path, str) and not path.startswith(("/", "..")):
                yield "" if path in (".", "./") else path.strip("/")
