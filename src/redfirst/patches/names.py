# SPDX-License-Identifier: Apache-2.0
"""Faults of names alone: paths that lead out, lie in Git's folder, or differ from others only in case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path


def shape_faults(path: str) -> list[str]:
    """What is wrong with the form of one path, if anything."""
    shown = path.encode("utf-8", "backslashreplace").decode("utf-8")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return [f"{shown} is absolute"]
    parts = path.split("/")
    if len(path.encode("utf-8", "surrogateescape")) > 1000 or any(
        len(part.encode("utf-8", "surrogateescape")) > 200 for part in parts
    ):
        return [f"{shown[:60]}… is too long a name"]
    if ".." in parts:
        return [f"{shown} leads upwards"]
    if (
        "" in parts
        or "." in parts
        or "\\" in path
        or any(ord(letter) < 32 or ord(letter) == 127 for letter in path)
    ):
        return [f"{path!r} is no plain path"]
    if any(part.lower().rstrip(". ") in (".git", "git~1") for part in parts):
        return [f"{shown} lies in Git's folder"]
    return []


def link_faults(paths: Sequence[str], tree_dir: Path) -> list[str]:
    """Paths that lead through a symbolic link of Base, or are one."""
    faults = []
    for path in paths:
        parts = path.split("/")
        for length in range(1, len(parts) + 1):
            if tree_dir.joinpath(*parts[:length]).is_symlink():
                faults.append(f"{path} leads through the symbolic link {'/'.join(parts[:length])}")
                break
    return faults


def case_faults(paths: Sequence[str], tree_dir: Path) -> list[str]:
    """Names that differ only in case from another in Base or among ``paths``; folders count too."""
    faults = []
    spelled: dict[str, str] = {}
    for path in paths:
        parts = path.split("/")
        for length in range(1, len(parts) + 1):
            whole = "/".join(parts[:length])
            twin = spelled.setdefault(_folded(whole), whole)
            if twin != whole:
                faults.append(f"{whole} and {twin} differ only in case")
        known = _spelling(tree_dir, parts)
        if known:
            faults.append(f"{path} differs only in case from {known}")
    return list(dict.fromkeys(faults))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _spelling(tree_dir: Path, parts: Sequence[str]) -> str:
    """What Base calls as much of a path as it has in another spelling; '' where it has none."""
    folder = tree_dir
    for at, part in enumerate(parts):
        names = (
            {entry.name for entry in folder.iterdir()}
            if folder.is_dir() and not folder.is_symlink()
            else set()
        )
        if part not in names:
            twin = next((name for name in sorted(names) if _folded(name) == _folded(part)), None)
            return "/".join([*parts[:at], twin]) if twin else ""
        folder = folder / part
    return ""
