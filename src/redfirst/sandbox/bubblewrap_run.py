# SPDX-License-Identifier: Apache-2.0
"""Starts one command under bubblewrap and holds it to its end.

It is a chain of sh, nsenter and bubblewrap, each of which becomes the next. The command starts only when we
have said "go" on its standard input, after we hold its namespace: if we die before, it reads the end of the
pipe and ends; if we die later, bubblewrap's parent-death signal ends it. That signal follows the *thread* that
started bubblewrap, so a run is started and awaited by one call on one thread; the holder of the mounts waits on
a pipe instead and may outlive its thread.

Bubblewrap tells a death by signal n as status 128 + n, so a command that exits with such a status by itself
looks as if it was killed.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, replace

from redfirst.core.errors import SandboxError
from redfirst.core.limits import Limits
from redfirst.sandbox import cgroups, syscall_filter
from redfirst.sandbox.beneath import folder, holds_file_of
from redfirst.sandbox.holder import Holder
from redfirst.sandbox.meter import Meter, NamespaceProcesses
from redfirst.sandbox.protocol import Completed, End, Isolation
from redfirst.sandbox.supervise import Pipes, Supervisor, end_of, limit_script, pipe_pair, unbreakable_pipe
from redfirst.sandbox.view import View, arguments

_GO = b"go\n"
#: How long the namespace may take to vanish once its first process was killed.
_GONE_S = 20.0
_STARTING_S = 1.0
_UNTOLD = Isolation("", ())

#: Inside: wait for the word, set the limit that must count this namespace alone, become the command.
_LAUNCH = """
read -r go || exit 125
ulimit -u "$1" 2>/dev/null || ulimit -p "$1" 2>/dev/null
shift
exec /usr/bin/env "$@"
"""
#: Variables that a shell or bubblewrap may add on the way.
_ADDED = ("PWD", "OLDPWD", "SHLVL", "_")
#: A shell hands on variables with such names only; others are set after it.
_PLAIN_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


@dataclass(slots=True)
class Run:
    """One command from its start to its end; also the reins by which it is held."""

    program: str
    held: Holder
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
    copied: bool = False

    def complete(self, *, copied: bool) -> Completed:
        """Run it. ``copied``: whether the tree is a copy. Raises SandboxError if nothing can be started."""
        self.copied = copied
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
                store=self.held.root,
                kills_for_processes=os.geteuid() == 0,
            )
            supervisor = self._start(group)
            supervisor.watch()
            self.held.forget()
            return self._completed(supervisor)
        finally:
            if self.process is not None and self.process.returncode is None:
                self.kill()
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
        status, status_write = unbreakable_pipe()
        pipes = Pipes(stdin, out, err, report, status)
        self.env["REDFIRST_REPORT_FD"] = str(report_write)
        barred = syscall_filter.program()
        rules = _memory_file(barred) if barred else None
        orders = _memory_file(self._orders(status_write, rules))
        passed = [report_write, status_write, orders, *([] if rules is None else [rules])]
        try:
            self.process = subprocess.Popen(
                self._command_line(group, orders),
                stdin=stdin_read,
                stdout=out_write,
                stderr=err_write,
                env={},
                pass_fds=passed,
                start_new_session=True,
                cwd="/",
            )
        except BaseException:
            pipes.close()
            raise
        finally:
            for handle in (stdin_read, out_write, err_write, *passed):
                os.close(handle)
        return Supervisor(self.process, pipes, self.limits, self.meter, self, _GO + self.stdin)

    def _orders(self, status: int, rules: int | None) -> bytes:
        """The arguments in the form that is read from a file, where no other user sees a path or a value."""
        words = arguments(replace(self.view, status_fd=status, filter_fd=rules))
        for name, value in self.env.items():
            if _PLAIN_NAME.fullmatch(name):
                words += ["--setenv", name, value]
        return b"".join(os.fsencode(word) + b"\0" for word in words)

    def _command_line(self, group: cgroups.RunGroup | None, orders: int) -> list[str]:
        joins = [f"echo 0 > {_quoted(path)} || exit 125" for path in (group.procs_files if group else ())]
        tell = f"echo $$ > {self.held.ear} || exit 125"
        script = "\n".join((*joins, tell, *limit_script(self.limits), 'exec "$@"'))
        inner = ["/bin/sh", "-c", _LAUNCH, "sh", str(self.limits.processes + 1)]
        return [
            *("/bin/sh", "-c", script, "sh"),
            *self.held.join_argv(),
            *(self.program, "--args", str(orders), "--"),
            *inner,
            *(word for name in _ADDED if name not in self.env for word in ("-u", name)),
            *(f"{name}={value}" for name, value in self.env.items() if not _PLAIN_NAME.fullmatch(name)),
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
        # Not started yet: the group holds bubblewrap and whatever it has made so far.
        os.killpg(self.process.pid, signal.SIGKILL)
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
            isolation=_UNTOLD,
            problem=problem,
        )

    def _met_file_size(self) -> bool:
        """Whether a file was cut at its limit: a refused write leaves it exactly that long."""
        size, store = self.limits.file_mb << 20, self.held.root
        room = os.fstatvfs(store)
        if (room.f_blocks - room.f_bfree) * room.f_frsize < size:
            return False
        with suppress(OSError):
            parts = ("tree",) if self.copied else ("upper",)
            for part in (*parts, "runs"):
                with folder(store, [part]) as handle:
                    if holds_file_of(handle, size):
                        return True
        return False

    def _problem(self, cause: End | None, code: int | None, err: bytes) -> str:
        """What was wrong on our own side; empty when the command itself ran to its end."""
        assert self.process is not None
        if not self.held.alive():
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


def _memory_file(content: bytes) -> int:
    """A descriptor from which ``content`` can be read once."""
    handle = os.memfd_create("redfirst")
    os.write(handle, content)
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"
