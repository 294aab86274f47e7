# SPDX-License-Identifier: Apache-2.0
"""One bug of a data set: what a strategy may see of it, and what only its audit may."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Instance:
    """All that a strategy's side may know: the release that has the bug, its environment, the report.

    ``requirements``: pinned, everything but the package; ``pip_install``: pip's words for the package itself;
    ``install_env``: variables set for that step; ``report``: the problem statement.
    """

    instance_id: str
    package: str
    import_name: str
    base_version: str
    requirements: tuple[str, ...]
    pip_install: str
    install_env: tuple[tuple[str, str], ...]
    runner: str
    test_paths: tuple[str, ...]
    report: str


@dataclass(frozen=True, slots=True)
class SourcePatch:
    """A source patch to audit with: its name (``correct``, ``wrong-1``, …), the diff, and why it is there."""

    name: str
    diff: bytes
    why: str = ""


@dataclass(frozen=True, slots=True)
class Gold:
    """Which files of the fixed release make Base correct.

    ``files``: paths to lay over Base, or None for the whole source tree, below ``roots`` where they are given.
    """

    files: tuple[str, ...] | None
    roots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hidden:
    """For the audit alone; read after the strategy has answered."""

    fixed_version: str
    gold: Gold
    correct: SourcePatch
    wrong: tuple[SourcePatch, ...]
