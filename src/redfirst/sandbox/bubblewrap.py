# SPDX-License-Identifier: Apache-2.0
"""Runs commands under bubblewrap, over an overlay whose upper folder is on a size-capped tmpfs."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from redfirst.core.environment import Bind
from redfirst.core.errors import SandboxError
from redfirst.core.limits import Limits
from redfirst.sandbox import cgroups, holder, snapshot, syscall_filter
from redfirst.sandbox.beneath import (
    folder,
    lay,
    look,
    make_point,
    open_for_walk,
    parts_of,
    read_file,
)
from redfirst.sandbox.bubblewrap_run import Run
from redfirst.sandbox.holder import Holder
from redfirst.sandbox.overlay_changes import Mark, UpperWalk
from redfirst.sandbox.protocol import Change, Completed, FileEdit, Isolation
from redfirst.sandbox.view import PATH, View, check_mount, etc_files, places

NAME = "bubblewrap"


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """The sandbox. ``program``: path of bubblewrap 0.8 or later; ``scratch``: where private folders lie."""

    program: str
    scratch: Path | None = None
    name: str = NAME

    def fresh(
        self,
        tree: Path,
        *,
        mount: str,
        layer: Path | None = None,
        binds: Sequence[Bind] = (),
        limits: Limits,
        copy: bool = False,
    ) -> BubblewrapWorkspace:
        """A new workspace over ``tree`` (never written). Raises SandboxError."""
        where = check_mount(mount)
        held = holder.start(tree, layer, limits, copy=copy, scratch=self.scratch)
        try:
            workspace = BubblewrapWorkspace(self, held, where, tree, layer, tuple(binds), copied=copy)
            workspace.prepare()
        except BaseException:
            held.close()
            raise
        return workspace

    def guarantees(self) -> tuple[tuple[str, str], ...]:
        """What is ensured here, and by which means."""
        return _guarantees()


@functools.cache
def _guarantees() -> tuple[tuple[str, str], ...]:
    had = {limit for site in cgroups.sites() for limit in site.limits}
    processes = "watchdog" if os.geteuid() == 0 else "rlimit"
    return (
        ("network", "namespace"),
        ("filesystem", "namespace"),
        ("environment", "cleared"),
        ("system calls", "filter" if syscall_filter.program() else "none"),
        ("leftover processes", "namespace"),
        ("wall", "clock"),
        ("cpu", "cgroup" if "cpu" in had else "watchdog"),
        ("memory", "cgroup" if "memory" in had else "watchdog"),
        ("processes", "cgroup" if "processes" in had else processes),
        ("file size", "rlimit"),
        ("output", "reader"),
        ("disk", "tmpfs"),
    )


@dataclass(slots=True)
class BubblewrapWorkspace:
    """One tree as seen inside at ``mount``; see the protocol."""

    sandbox: Bubblewrap
    held: Holder
    mount: str
    tree: Path
    layer: Path | None
    binds: tuple[Bind, ...]
    copied: bool
    laid: dict[str, Mark | None] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    before: dict[str, Mark] | None = None
    merged: int = -1
    runs: int = 0
    closed: bool = False

    def prepare(self) -> None:
        """Open the tree from outside and write the few files of /etc."""
        self.merged = os.open("tree", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.held.root)
        home = places(self.mount, self.binds).home
        lay(self.held.root, [FileEdit(f"etc/{n}", text.encode()) for n, text in etc_files(home).items()])

    def edit(self, edits: Sequence[FileEdit]) -> None:
        """Lay files before a run. Raises SandboxError."""
        lay(self.merged, edits)
        if self.copied:
            if self.before is not None:
                snapshot.renew(self.before, self.merged, [edit.path for edit in edits])
            return
        for edit in edits:
            path = "/".join(parts_of(edit.path))
            state = look(self.held.root, f"upper/{path}") if edit.content is not None else None
            self.laid[path] = Mark.of(state) if state else None

    def read(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """At most ``limit`` bytes of a regular file; None if there is none."""
        return read_file(self.merged, path, limit)

    def changes(self) -> tuple[Change, ...]:
        """What differs from the tree plus the edits."""
        try:
            if self.copied:
                now = snapshot.take(self.merged)
                return snapshot.compare(now if self.before is None else self.before, now, self.own)
            with ExitStack() as opened:
                lowers = [os.open(base, os.O_RDONLY | os.O_DIRECTORY) for base in self._lowers()]
                for lower in lowers:
                    opened.callback(os.close, lower)
                upper = open_for_walk("upper", self.held.root)
                opened.callback(os.close, upper)
                return UpperWalk(lowers, self.laid, self.own).changes(upper)
        except OSError as error:
            raise SandboxError(f"the workspace cannot be read ({error})", "try again") from error

    def _lowers(self) -> list[Path]:
        return [base for base in (self.layer, self.tree) if base is not None]

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
        """Run one command to its end and kill all it started. Raises SandboxError."""
        if self.closed or not self.held.alive():
            raise SandboxError("the workspace is gone", "make a fresh one")
        shown = (*self.binds, *binds)
        self._make_points(shown)
        self._check_writable(writable)
        if self.copied and self.before is None:
            self.before = snapshot.take(self.merged)
        at = places(self.mount, shown)
        given = {"PATH": PATH, **env, "HOME": at.home, "TMPDIR": at.temporary}
        relative = "/".join(parts_of(cwd)) or "."
        store = self.held.inside
        view = View(
            store=store,
            run=f"{store}/runs/{self._fresh_run()}",
            mount=self.mount,
            cwd=relative,
            binds=shown,
            writable=None if writable is None else tuple("/".join(parts_of(path)) for path in writable),
            network=network,
            status_fd=-1,
        )
        run = Run(self.sandbox.program, self.held, view, limits, given, tuple(argv), stdin)
        done = run.complete(copied=self.copied)
        return replace(done, isolation=Isolation(NAME, self.sandbox.guarantees()))

    def _make_points(self, binds: Sequence[Bind]) -> None:
        """Places inside the tree at which binds appear; they are ours and no change."""
        for bind in binds:
            inside = os.path.normpath(bind.inside)
            if not os.path.exists(bind.host):
                raise SandboxError(f"{bind.host} is not there to be shown", "check the environment")
            if inside == self.mount:
                raise SandboxError(f"{bind.host} would hide the workspace", "mount it elsewhere")
            if inside.startswith(self.mount + "/"):
                relative = inside[len(self.mount) + 1 :]
                is_folder = os.path.isdir(bind.host)
                make_point(self.merged, relative, is_folder=is_folder, made=self.own.add)

    def _check_writable(self, writable: Sequence[str] | None) -> None:
        """Missing folders are made; a link could lead a writable mount out of the tree."""
        for path in writable or ():
            state = look(self.merged, path)
            if state is None or (state.st_mode & 0o170000) == 0o120000:
                make_point(self.merged, path, is_folder=True, made=self.own.add)

    def _fresh_run(self) -> str:
        """New home, temporary and shared-memory folders; those of the last run are removed."""
        with folder(self.held.root, ["runs"]) as runs:
            if self.runs:
                shutil.rmtree(str(self.runs), ignore_errors=True, dir_fd=runs)
            self.runs += 1
            name = str(self.runs)
            os.mkdir(name, 0o755, dir_fd=runs)
            for part, mode in (("home", 0o700), ("tmp", 0o777), ("shm", 0o777)):
                os.mkdir(f"{name}/{part}", 0o700, dir_fd=runs)
                os.chmod(f"{name}/{part}", mode | (0o1000 if mode == 0o777 else 0), dir_fd=runs)
        return name

    def close(self) -> None:
        """Remove the workspace; what it held is gone with the process that mounted it."""
        if not self.closed:
            self.closed = True
            with suppress(OSError):
                os.close(self.merged)
            self.held.close()
