# SPDX-License-Identifier: Apache-2.0
"""What is installed in site-packages folders, read from their files; no code in them runs."""

from __future__ import annotations

import ast
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from redfirst.environments.project import normalise


@dataclass(frozen=True, slots=True)
class Editable:
    """An installation that points at a folder elsewhere.

    ``name``: normalised, '' when not recorded. ``root``: the project's folder, '' when only import
    folders are known. ``imports``: absolute folders that it puts on the import path.
    """

    name: str
    root: str
    imports: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every recorded path, the root first."""
        return ((self.root,) if self.root else ()) + self.imports


@dataclass(frozen=True, slots=True)
class Installed:
    """Distributions as (normalised name, version), sorted, and the editable ones among them."""

    distributions: tuple[tuple[str, str], ...] = ()
    editables: tuple[Editable, ...] = ()


def read_installed(sites: tuple[str, ...], *, inside: str | None = None) -> Installed:
    """Scan site-packages folders, first wins; folders named by path files are looked at too.

    ``inside``: a folder that exists only in a sandbox; paths below it count as there and are not looked at.
    """
    distributions: dict[str, str] = {}
    editables: list[Editable] = []
    extra: list[str] = []
    for folder in sites:
        names = _names(folder)
        claimed: set[str] = set()
        for name in names:
            _read_entry(folder, name, distributions, editables, claimed, inside)
        for name in names:
            if name.endswith(".pth") and name not in claimed:
                found = _path_file(folder, name, inside)
                outside = [path for path in found if not _inside(path, sites)]
                extra.extend(found)
                editables.extend(Editable("", "", (path,)) for path in outside)
    for folder in dict.fromkeys((*extra, *(path for item in editables for path in item.imports))):
        for name in () if _seen_inside(folder, inside) else _names(folder):
            _read_entry(folder, name, distributions, [], set(), inside)
    return Installed(tuple(sorted(distributions.items())), tuple(_named(editables)))


def _inside(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


def _seen_inside(path: str, inside: str | None) -> bool:
    return inside is not None and _inside(path, (inside,))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _read_entry(
    folder: str,
    name: str,
    distributions: dict[str, str],
    editables: list[Editable],
    claimed: set[str],
    inside: str | None,
) -> None:
    """Take in one entry of a site folder if it describes a distribution."""
    path = os.path.join(folder, name)
    if name.endswith(".dist-info"):
        identity = _identity(os.path.join(path, "METADATA"))
        if identity is not None:
            distributions.setdefault(*identity)
            root = _editable_root(path)
            if root:
                hooks = _recorded_hooks(path)
                claimed.update(hooks)
                imports = dict.fromkeys(item for hook in hooks for item in _hook_paths(folder, hook, inside))
                editables.append(Editable(identity[0], root, tuple(imports)))
    elif name.endswith((".egg-info", ".egg")):
        inner = os.path.join(path, "EGG-INFO", "PKG-INFO") if name.endswith(".egg") else path
        identity = _identity(os.path.join(path, "PKG-INFO")) or _identity(inner)
        if identity is not None:
            distributions.setdefault(*identity)
    elif name.endswith(".egg-link"):
        editable = _egg_link(path, name)
        if editable is not None:
            editables.append(editable)


def _identity(path: str) -> tuple[str, str] | None:
    """(normalised name, version) of a metadata file's header."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            head = file.read(4096)
    except OSError:
        return None
    name = re.search(r"^Name:\s*(\S+)", head, re.MULTILINE)
    version = re.search(r"^Version:\s*(\S+)", head, re.MULTILINE)
    return (normalise(name[1]), version[1] if version else "") if name else None


def _editable_root(path: str) -> str:
    try:
        record = json.loads(Path(path, "direct_url.json").read_bytes())
        url, info = record["url"], record.get("dir_info", {})
        editable = isinstance(info, dict) and info.get("editable") is True
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""
    parts = urlsplit(url)
    return os.path.normpath(unquote(parts.path)) if editable and parts.scheme == "file" else ""


def _recorded_hooks(path: str) -> list[str]:
    """Files in the site folder itself that make an editable installation importable."""
    try:
        lines = Path(path, "RECORD").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
    names = (line.split(",", 1)[0].strip('"') for line in lines)
    return [name for name in names if "/" not in name and name.endswith((".pth", ".py"))]


def _hook_paths(folder: str, name: str, inside: str | None) -> list[str]:
    if name.endswith(".pth"):
        return [path for path in _path_file(folder, name, inside) if path != folder]
    return _finder_paths(os.path.join(folder, name), inside)


def _path_file(folder: str, name: str, inside: str | None) -> list[str]:
    """Existing folders that a path file adds."""
    try:
        lines = Path(folder, name).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
    plain = (line.strip() for line in lines)
    paths = (
        os.path.normpath(os.path.join(folder, line))
        for line in plain
        if line and not line.startswith(("#", "import ", "import\t"))
    )
    there = (path for path in paths if _seen_inside(path, inside) or os.path.isdir(path))
    return [path for path in there if path != os.path.normpath(folder)]


def _finder_paths(path: str, inside: str | None) -> list[str]:
    """Import folders in the literal tables of a generated import hook."""
    try:
        module = ast.parse(Path(path).read_bytes())
    except (OSError, ValueError, SyntaxError):
        return []
    found: list[str] = []
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and os.path.isabs(node.value):
            target = os.path.normpath(node.value)
            if _seen_inside(target, inside) or os.path.exists(target):
                found.append(os.path.dirname(target))
    return list(dict.fromkeys(found))


def _egg_link(path: str, name: str) -> Editable | None:
    try:
        lines = Path(path).read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return None
    if not lines or not os.path.isabs(lines[0]):
        return None
    root = os.path.normpath(os.path.join(lines[0], lines[1] if len(lines) > 1 else "."))
    return Editable(normalise(name.removesuffix(".egg-link")), root, (os.path.normpath(lines[0]),))


def _named(editables: list[Editable]) -> list[Editable]:
    """Drop nameless records of folders that a named one already holds."""
    known = {path for item in editables if item.name for path in item.imports}
    return [item for item in editables if item.name or not set(item.imports) <= known]
