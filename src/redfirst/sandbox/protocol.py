# SPDX-License-Identifier: Apache-2.0
"""The seam between the gate and whatever isolates a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from redfirst.core.environment import Bind
from redfirst.core.limits import Limits


class End(StrEnum):
    """Why the command is no longer running."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    WALL = "wall"
    CPU = "cpu"
    MEMORY = "memory"
    PROCESSES = "processes"
    OUTPUT = "output"
    DISK = "disk"
    FILE = "file"
    BROKEN = "broken"  # the sandbox itself failed; `problem` says how


@dataclass(frozen=True, slots=True)
class Isolation:
    """Which backend ran it and what it guaranteed: name → how (e.g. ``memory`` → ``cgroup``, ``none``)."""

    backend: str
    guarantees: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Completed:
    """One finished command.

    ``exit``: status the operating system reported for the command, None when a signal ended it (then
    ``signal``). ``reached``: limits that were hit even if the command survived it. ``report``: bytes
    written to the report descriptor. ``out``/``err`` are bounded by ``output_mb``.
    """

    end: End
    exit: int | None
    signal: int | None
    out: bytes
    err: bytes
    report: bytes
    reached: frozenset[End]
    wall_s: float
    cpu_s: float | None
    peak_memory_mb: float | None
    isolation: Isolation
    problem: str = ""


class ChangeKind(StrEnum):
    """How a path differs from what was there when the workspace was handed over."""

    ADDED = "added"
    MODIFIED = "modified"  # content, type or mode, or written and restored where the backend can tell
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed path, relative to the workspace; ``.git/...`` included."""

    path: str
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file to lay into the workspace before anything runs; ``content`` None removes it."""

    path: str
    content: bytes | None
    executable: bool = False


class Workspace(Protocol):
    """A fresh, private, writable view of one tree. Nothing in it outlives ``close``."""

    mount: str  # absolute path of the tree as the command sees it

    def edit(self, edits: Sequence[FileEdit]) -> None:
        """Lay files before a run. Raises SandboxError (no room, path leaves the tree)."""

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str],
        limits: Limits,
        stdin: bytes = b"",
        binds: Sequence[Bind] = (),
        writable: Sequence[str] | None = None,
        network: bool = False,
    ) -> Completed:
        """Run one command to its end and kill all it started.

        ``env`` is the whole environment (HOME, TMPDIR and REDFIRST_REPORT_FD are added). ``cwd`` is relative
        to the tree. ``writable``: None, all of the tree; else only these relative paths of it.
        """

    def changes(self) -> tuple[Change, ...]:
        """What differs from the tree plus the edits, seen from outside; never runs Git inside."""

    def read(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """At most ``limit`` bytes of a regular file in the tree, links not followed; None if absent."""

    def close(self) -> None:
        """Kill what is left and remove the workspace. May be called twice."""


class Sandbox(Protocol):
    """Makes workspaces. ``name`` appears in every result."""

    @property
    def name(self) -> str:
        """Under which it is chosen, e.g. ``bubblewrap``."""

    def fresh(
        self,
        tree: Path,
        *,
        mount: str,
        layer: Path | None = None,
        binds: Sequence[Bind] = (),
        limits: Limits,
        copy: bool = False,
    ) -> Workspace:
        """A new workspace over ``tree`` (never written). ``layer`` lies over it. Raises SandboxError."""

    def guarantees(self) -> tuple[tuple[str, str], ...]:
        """What this backend ensures on this machine, by name and means (cached probe, no test code)."""
