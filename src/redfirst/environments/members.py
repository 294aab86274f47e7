# SPDX-License-Identifier: Apache-2.0
"""The packages of a checkout that holds several, each in a folder of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from redfirst.environments.project import Project, normalise, read_package, workspace_patterns

_MOST = 12
_SKIPPED = frozenset(
    (
        *("build", "dist", "target", "site-packages", "node_modules", "venv"),
        *("doc", "docs", "example", "examples", "templates", "test", "tests", "testing"),
    )
)
_METADATA = ("pyproject.toml", "setup.py", "setup.cfg")


def read_project(tree: Path) -> Project:
    """The facts of a whole checkout, those of the packages below its top included."""
    top = read_package(tree)
    patterns, is_package = workspace_patterns(tree)
    folders = member_folders(tree, patterns, alone=top.installable)
    members = {folder: read_package(tree / folder) for folder in folders}
    members = {folder: one for folder, one in members.items() if one.installable}
    if not members:
        return top
    return merged(top, members, top_installed=top.installable and (is_package or not patterns))


def member_folders(tree: Path, workspace: tuple[str, ...], *, alone: bool) -> tuple[str, ...]:
    """Folders that hold a package's metadata, relative, sorted, a dozen at most.

    ``workspace``: the patterns in which the top lists its members. ``alone``: the top is a package itself; without
    such a list it is then the only one. Else folders one and two levels down are looked at.
    """
    folders: Iterator[Path]
    if workspace:
        found = {path for pattern in workspace if _is_plain(pattern) for path in tree.glob(pattern)}
        folders = iter(path for path in found if path.is_dir())
    elif alone:
        return ()
    else:
        folders = _near(tree)
    named = sorted(path.relative_to(tree).as_posix() for path in folders if _has_metadata(path))
    return tuple(name for name in named if name != ".")[:_MOST]


def _is_plain(pattern: str) -> bool:
    return bool(pattern) and not pattern.startswith("/") and ".." not in pattern.split("/")


def _near(tree: Path) -> Iterator[Path]:
    for folder in _below(tree):
        yield folder
        if not _has_metadata(folder):
            yield from _below(folder)


def _below(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    return [path for path in entries if path.is_dir() and not path.is_symlink() and _may_hold(path.name)]


def _may_hold(name: str) -> bool:
    return name not in _SKIPPED and not name.startswith((".", "_"))


def _has_metadata(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _METADATA)


def merged(top: Project, members: Mapping[str, Project], *, top_installed: bool) -> Project:
    """One project of all: what any package needs is needed, but not the packages themselves.

    ``members``: the packages by folder. ``top_installed``: the top is a package as well.
    """
    parts = (top, *members.values())
    own = {normalise(part.name) for part in parts if part.name}
    folders = {**({".": top} if top_installed else {}), **{f"./{name}": one for name, one in members.items()}}
    files = [f"{name}/{file}" for name, one in members.items() for file in one.requirement_files]
    grouped = _needs((part.group_dependencies for part in parts), own)
    return replace(
        top,
        requires_python=",".join(
            dict.fromkeys(part.requires_python for part in parts if part.requires_python)
        ),
        dependencies=_needs((part.dependencies for part in parts), own),
        test_dependencies=_needs((part.test_dependencies for part in parts), own),
        group_dependencies=grouped if top_installed else (*_needs((top.dependencies,), own), *grouped),
        hints=(
            *_needs((part.hints for part in parts), own),
            *(one.name for one in members.values() if one.name),
        ),
        requirement_files=(*top.requirement_files, *files),
        uses_pytest=any(part.uses_pytest for part in parts) and top.runner != "django",
        source_folder=any(part.source_folder for part in parts),
        importable=all(part.importable or not part.installable for part in parts),
        installable=bool(folders),
        generates=any(part.generates for part in parts),
        scm_version=any(part.scm_version for part in parts),
        members=tuple(
            f"{folder}[{','.join(one.extras)}]" if one.extras else folder for folder, one in folders.items()
        ),
    )


def _needs(lists: Iterable[tuple[str, ...]], own: set[str]) -> tuple[str, ...]:
    """The requirements of all lists that are not packages of the checkout."""
    texts = dict.fromkeys(text for needs in lists for text in needs)
    return tuple(text for text in texts if normalise(re.split(r"[^\w.-]", text, maxsplit=1)[0]) not in own)
