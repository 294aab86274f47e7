# SPDX-License-Identifier: Apache-2.0
"""Runs commands in a copied tree with limits but without isolation; only for those who ask for it by name.

Differences from the isolating backend: the network and the host's files are in reach, the workspace is seen
at its real path, binds are links or rewritten paths, nothing is read-only, and the disk is not capped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from redfirst.core.environment import Bind
from redfirst.core.errors import SandboxError
from redfirst.core.limits import Limits
from redfirst.sandbox import private_folder, snapshot
from redfirst.sandbox.beneath import folder, lay, parts_of, read_file
from redfirst.sandbox.marked import MarkedProcesses
from redfirst.sandbox.meter import Meter
from redfirst.sandbox.overlay_changes import Mark
from redfirst.sandbox.private_folder import PrivateFolder
from redfirst.sandbox.protocol import Change, Completed, End, FileEdit, Isolation
from redfirst.sandbox.supervise import Pipes, Supervisor, end_of, limit_script, pipe_pair

NAME = "plain"
_PATH = "/usr/local/bin:/usr/bin:/bin"
_GUARANTEES = (
    ("network", "none"),
    ("filesystem", "none"),
    ("environment", "cleared"),
    ("system calls", "none"),
    ("leftover processes", "search"),
    ("wall", "clock"),
    ("cpu", "watchdog"),
    ("memory", "watchdog"),
    ("processes", "watchdog"),
    ("file size", "rlimit"),
    ("output", "reader"),
    ("disk", "none"),
)


@dataclass(frozen=True, slots=True)
class Plain:
    """The backend without isolation. ``scratch``: where trees are copied."""

    scratch: Path | None = None
    name: str = NAME

    def fresh(
        self,
        tree: Path,
        *,
        mount: str,
        layer: Path | None = None,
        binds: Sequence[Bind] = (),
        limits: Limits,  # noqa: ARG002 - the disk is not capped here
        copy: bool = False,  # noqa: ARG002 - it always copies
    ) -> PlainWorkspace:
        """A copy of ``tree``. Raises SandboxError."""
        private = private_folder.make(str(self.scratch or tempfile.gettempdir()))
        try:
            for source in (tree, layer):
                if source is not None:
                    shutil.copytree(source, private.path / "tree", symlinks=True, dirs_exist_ok=True)
            return PlainWorkspace(private, os.path.normpath(mount), tuple(binds))
        except (OSError, shutil.Error) as error:
            private.discard()
            raise SandboxError(f"the tree {tree} cannot be copied ({error})", _TODO) from error

    def guarantees(self) -> tuple[tuple[str, str], ...]:
        """What is ensured, and by which means."""
        return _GUARANTEES


_TODO = "name another folder with --scratch"


class PlainWorkspace:
    """A copied tree; see the protocol."""

    def __init__(self, private: PrivateFolder, wanted: str, binds: tuple[Bind, ...]) -> None:
        self.private = private
        self.mount = str(private.path / "tree")
        self._wanted = wanted
        self._binds = binds
        self._root = os.open(self.mount, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._before: dict[str, Mark] | None = None
        self._own: set[str] = set()
        self._runs = 0
        self._closed = False

    def edit(self, edits: Sequence[FileEdit]) -> None:
        """Lay files before a run. Raises SandboxError."""
        lay(self._root, edits)
        if self._before is not None:
            snapshot.renew(self._before, self._root, [edit.path for edit in edits])

    def read(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """At most ``limit`` bytes of a regular file; None if there is none."""
        return read_file(self._root, path, limit)

    def changes(self) -> tuple[Change, ...]:
        """What differs from the tree plus the edits."""
        try:
            now = snapshot.take(self._root)
        except OSError as error:
            raise SandboxError(f"the workspace cannot be read ({error})", "try again") from error
        return snapshot.compare(now if self._before is None else self._before, now, self._own)

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str],
        limits: Limits,
        stdin: bytes = b"",
        binds: Sequence[Bind] = (),
        writable: Sequence[str] | None = None,  # noqa: ARG002 - nothing can be made read-only here
        network: bool = False,  # noqa: ARG002 - it is always in reach
    ) -> Completed:
        """Run one command to its end and kill all of it that can be found. Raises SandboxError."""
        if self._closed:
            raise SandboxError("the workspace is gone", "make a fresh one")
        shown = (*self._binds, *binds)
        self._link(shown)
        if self._before is None:
            self._before = snapshot.take(self._root)
        home, temporary = self._fresh_run()
        moved = _Moved.of(self._wanted, self.mount, shown)
        given = {"PATH": _PATH, **{name: moved.text(value) for name, value in env.items()}}
        given |= {"HOME": home, "TMPDIR": temporary}
        where = os.path.join(self.mount, *parts_of(cwd))
        return _run([moved.text(text) for text in argv], where, given, limits, stdin)

    def _link(self, binds: Sequence[Bind]) -> None:
        """Binds inside the workspace appear as links; they are ours and no change."""
        for bind in binds:
            inside = os.path.normpath(bind.inside)
            if not inside.startswith(self._wanted + "/"):
                continue
            relative = inside[len(self._wanted) + 1 :]
            try:
                parts = parts_of(relative)
                with folder(self._root, parts[:-1], make=True, made=self._own.add) as parent:
                    os.symlink(bind.host, parts[-1], dir_fd=parent)
                self._own.add("/".join(parts))
            except FileExistsError:
                continue
            except OSError as error:
                raise SandboxError(
                    f"{relative} cannot be linked ({error.strerror})", "see the tree"
                ) from error

    def _fresh_run(self) -> tuple[str, str]:
        self._runs += 1
        base = self.private.path / f"run-{self._runs}"
        for name in ("home", "tmp"):
            (base / name).mkdir(parents=True)
        return str(base / "home"), str(base / "tmp")

    def close(self) -> None:
        """Remove the copy."""
        if not self._closed:
            self._closed = True
            os.close(self._root)
            self.private.discard()


@dataclass(frozen=True, slots=True)
class _Moved:
    """Rewrites paths as they would be inside a sandbox to where they really are."""

    places: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, wanted: str, mount: str, binds: Sequence[Bind]) -> _Moved:
        places = {wanted: mount, **{os.path.normpath(bind.inside): bind.host for bind in binds}}
        return cls(tuple(sorted(places.items(), key=lambda item: -len(item[0]))))

    def text(self, text: str) -> str:
        """``text`` with each path that stands by itself or in a list of paths replaced."""
        names = "|".join(re.escape(inside) for inside, _ in self.places)
        known = dict(self.places)
        return re.sub(rf"(?<![^:=,\s'\"])({names})(?=$|[/:,\s'\"])", lambda found: known[found[1]], text)


@dataclass(slots=True)
class _Reins:
    """Holds a command by what can be found of it."""

    process: subprocess.Popen[bytes]
    found: MarkedProcesses
    lost: str = field(default="")

    def hear(self, data: bytes) -> bool:  # noqa: ARG002 - nothing is said
        return True

    def kill(self) -> None:
        if not self.found.kill():
            self.lost = "processes of the run could not be ended"
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def _run(argv: list[str], cwd: str, env: dict[str, str], limits: Limits, stdin: bytes) -> Completed:
    stdin_read, stdin_write = pipe_pair()
    out, out_write = pipe_pair()
    err, err_write = pipe_pair()
    report, report_write = pipe_pair(high=True)
    status, status_write = pipe_pair()
    pipes = Pipes(stdin_write, out, err, report, status)
    env = {**env, "REDFIRST_REPORT_FD": str(report_write)}
    # Where we are killed, at least the first process goes with us.
    start = 'exec setpriv --pdeathsig KILL -- /usr/bin/env -i "$@"'
    script = "\n".join((*limit_script(limits), start))
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", script, "sh", *(f"{name}={value}" for name, value in env.items()), *argv],
            stdin=stdin_read,
            stdout=out_write,
            stderr=err_write,
            cwd=cwd,
            env={"HOME": env["HOME"], "PATH": _PATH},
            pass_fds=(report_write,),
            start_new_session=True,
        )
    except OSError as error:
        pipes.close()
        raise SandboxError(f"the command cannot be started ({error})", "check its folder") from error
    finally:
        for handle in (stdin_read, out_write, err_write, report_write, status_write):
            os.close(handle)
    reins = _Reins(process, MarkedProcesses(process.pid, f"HOME={env['HOME']}\0".encode()))
    meter = Meter(limits, processes=reins.found, kills_for_processes=True)
    supervisor = Supervisor(process, pipes, limits, meter, reins, stdin, held=False)
    supervisor.watch()
    return _completed(process, supervisor, reins)


def _completed(process: subprocess.Popen[bytes], supervisor: Supervisor, reins: _Reins) -> Completed:
    meter, texts = supervisor.meter, supervisor.texts
    reached = set(meter.reached)
    cause = End.BROKEN if reins.lost else supervisor.cause
    end, status, number = end_of(cause, process.returncode, reached, meter.cpu_s, supervisor.limits)
    if end in (End.CPU, End.MEMORY, End.FILE):
        reached.add(end)
    return Completed(
        end=end,
        exit=status,
        signal=number,
        out=bytes(texts["out"]),
        err=bytes(texts["err"]),
        report=bytes(texts["report"]),
        reached=frozenset(reached),
        wall_s=supervisor.wall_s,
        cpu_s=meter.cpu_s,
        peak_memory_mb=meter.peak_memory_mb,
        isolation=Isolation(NAME, _GUARANTEES),
        problem=reins.lost,
    )
