# SPDX-License-Identifier: Apache-2.0
"""Runs commands under bubblewrap, over an overlay whose upper folder is on a size-capped tmpfs.

What one run costs: one process that holds the mounts, and the chain sh → nsenter → bwrap, each of which
becomes the next. The command starts only when we have said "go" on its standard input, after we hold its
namespace: if we die before, it reads the end of the pipe and ends; if we die later, bubblewrap's parent-death
signal ends it. That signal follows the *thread* that started bubblewrap, so a run is started and awaited by
one call on one thread; the holder waits on a pipe instead and may outlive its thread.
"""

from __future__ import annotations

import functools
import json
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from redfirst.core.environment import Bind
from redfirst.core.errors import SandboxError
from redfirst.core.limits import Limits
from redfirst.sandbox import cgroups, holder, snapshot
from redfirst.sandbox.beneath import (
    folder,
    holds_file_of,
    lay,
    look,
    make_point,
    open_for_walk,
    parts_of,
    read_file,
)
from redfirst.sandbox.holder import Holder
from redfirst.sandbox.meter import Meter, NamespaceProcesses
from redfirst.sandbox.overlay_changes import Mark, UpperWalk
from redfirst.sandbox.protocol import Change, Completed, End, FileEdit, Isolation
from redfirst.sandbox.supervise import Pipes, Supervisor, end_of, limit_script, pipe_pair
from redfirst.sandbox.view import PATH, View, arguments, check_mount, etc_files, places

NAME = "bubblewrap"
_GO = b"go\n"
#: How long the namespace may take to vanish once its first process was killed.
_GONE_S = 20.0
_STARTING_S = 1.0

#: Inside: wait for the word, set the limit that must count this namespace alone, become the command.
_LAUNCH = """
read -r go || exit 125
ulimit -u "$1" 2>/dev/null || ulimit -p "$1" 2>/dev/null
shift
exec /usr/bin/env -i "$@"
"""


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
        return _Run(self, view, limits, given, tuple(argv), stdin).complete()

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


@dataclass(slots=True)
class _Run:
    """One command from its start to its end; also the reins by which it is held."""

    workspace: BubblewrapWorkspace
    view: View
    limits: Limits
    env: dict[str, str]
    argv: tuple[str, ...]
    stdin: bytes
    process: subprocess.Popen[bytes] | None = None
    first: int | None = None
    meter: Meter | None = None
    said: bytes = b""
    lost: str = ""

    def complete(self) -> Completed:
        group = cgroups.new_group()
        try:
            try:
                if group is not None:
                    group.create(self.limits)
            except OSError as error:
                raise SandboxError(f"a control group cannot be made ({error})", "see the limits") from error
            self.meter = Meter(
                self.limits,
                group,
                store=self.workspace.held.root,
                kills_for_processes=os.geteuid() == 0,
            )
            supervisor = self._start(group)
            supervisor.watch()
            return self._completed(supervisor)
        finally:
            if self.first is not None:
                os.close(self.first)
            if self.meter is not None and isinstance(self.meter.processes, NamespaceProcesses):
                self.meter.processes.close()
            if group is not None:
                group.remove()

    def _start(self, group: cgroups.RunGroup | None) -> Supervisor:
        assert self.meter is not None
        stdin_read, stdin = pipe_pair()
        out, out_write = pipe_pair()
        err, err_write = pipe_pair()
        report, report_write = pipe_pair(high=True)
        status, status_write = pipe_pair()
        pipes = Pipes(stdin, out, err, report, status)
        orders = -1
        try:
            orders = self._orders(status_write)
            self.env["REDFIRST_REPORT_FD"] = str(report_write)
            self.process = subprocess.Popen(
                self._command_line(group, orders),
                stdin=stdin_read,
                stdout=out_write,
                stderr=err_write,
                env={},
                pass_fds=(report_write, status_write, orders),
                start_new_session=True,
                cwd="/",
            )
        except BaseException:
            pipes.close()
            raise
        finally:
            for handle in (stdin_read, out_write, err_write, report_write, status_write, orders):
                if handle >= 0:
                    os.close(handle)
        return Supervisor(self.process, pipes, self.limits, self.meter, self, _GO + self.stdin)

    def _orders(self, status: int) -> int:
        """The arguments in a memory file, so that no path of the host shows in a command line."""
        view = View(**{**{n: getattr(self.view, n) for n in View.__slots__}, "status_fd": status})
        handle = os.memfd_create("redfirst")
        os.write(handle, b"".join(os.fsencode(text) + b"\0" for text in arguments(view)))
        os.lseek(handle, 0, os.SEEK_SET)
        return handle

    def _command_line(self, group: cgroups.RunGroup | None, orders: int) -> list[str]:
        joins = [f"echo 0 > {_quoted(path)} || exit 125" for path in (group.procs_files if group else ())]
        script = "\n".join((*joins, *limit_script(self.limits), 'exec "$@"'))
        inner = ["/bin/sh", "-c", _LAUNCH, "sh", str(self.limits.processes + 1)]
        return [
            *("/bin/sh", "-c", script, "sh"),
            *self.workspace.held.join_argv(),
            *(self.workspace.sandbox.program, "--args", str(orders), "--"),
            *inner,
            *(f"{name}={value}" for name, value in self.env.items()),
            *self.argv,
        ]

    def hear(self, data: bytes) -> bool:
        """Take hold of the namespace's first process as soon as bubblewrap names it."""
        self.said += data
        number = _status(self.said).get("child-pid")
        if number is None or self.process is None or self.first is not None:
            return False
        try:
            handle = os.pidfd_open(number)
        except OSError:
            return False
        if _parent_of(number) != self.process.pid:
            os.close(handle)
            return False
        self.first = handle
        if self.meter is not None:
            self.meter.processes = NamespaceProcesses(number)
        return True

    def kill(self) -> None:
        """Kill the namespace's first process, with which every other one dies, and wait for it."""
        assert self.process is not None
        if self.first is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.first, signal.SIGKILL)
            poll = select.poll()
            poll.register(self.first, select.POLLIN)
            if not poll.poll(_GONE_S * 1000):
                self.lost = "processes of the run could not be ended"
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_STARTING_S)
            return
        self.process.kill()
        self.process.wait()

    def _completed(self, supervisor: Supervisor) -> Completed:
        assert self.process is not None
        assert self.meter is not None
        texts = {name: bytes(text) for name, text in supervisor.texts.items()}
        code = _status(texts["status"]).get("exit-code")
        problem = self.lost or self._problem(supervisor.cause, code, texts["err"])
        if code is not None and 128 < code < 128 + signal.NSIG:
            code = 128 - code
        cause = End.BROKEN if problem else supervisor.cause
        reached = set(self.meter.reached)
        if self._met_file_size():
            reached.add(End.FILE)
        end, status, number = end_of(cause, code, reached, self.meter.cpu_s, self.limits)
        if end in (End.CPU, End.MEMORY, End.FILE):
            reached.add(end)
        return Completed(
            end=end,
            exit=status,
            signal=number,
            out=texts["out"],
            err=texts["err"],
            report=texts["report"],
            reached=frozenset(reached),
            wall_s=supervisor.wall_s,
            cpu_s=self.meter.cpu_s,
            peak_memory_mb=self.meter.peak_memory_mb,
            isolation=Isolation(NAME, self.workspace.sandbox.guarantees()),
            problem=problem,
        )

    def _met_file_size(self) -> bool:
        """Whether a file was cut at its limit: a refused write leaves it exactly that long."""
        size, store = self.limits.file_mb << 20, self.workspace.held.root
        room = os.fstatvfs(store)
        if (room.f_blocks - room.f_bfree) * room.f_frsize < size:
            return False
        with suppress(OSError):
            parts = ("tree",) if self.workspace.copied else ("upper",)
            for part in (*parts, "runs"):
                with folder(store, [part]) as handle:
                    if holds_file_of(handle, size):
                        return True
        return False

    def _problem(self, cause: End | None, code: int | None, err: bytes) -> str:
        """What was wrong on our own side; empty when the command itself ran to its end."""
        assert self.process is not None
        if not self.workspace.held.alive():
            return "the process that holds the workspace was ended from outside"
        if cause is not None or code is not None:
            return ""
        if self.process.returncode < 0:
            return f"the sandbox was ended from outside by signal {-self.process.returncode}"
        last = err.decode("utf-8", "replace").strip().splitlines()[-1:]
        return f"the sandbox could not start the command: {''.join(last) or 'it gave no reason'}"


def _status(text: bytes) -> dict[str, int]:
    """The numbers that bubblewrap has written so far, one JSON object on a line."""
    found: dict[str, int] = {}
    for line in text.split(b"\n")[:-1]:
        found.update(json.loads(line))
    return found


def _parent_of(number: int) -> int:
    try:
        with open(f"/proc/{number}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return -1


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"
