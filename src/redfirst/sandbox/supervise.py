# SPDX-License-Identifier: Apache-2.0
"""Watches one started command until it ends or must be ended, and keeps what it wrote within bounds."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from redfirst.core.limits import Limits
from redfirst.sandbox.meter import Meter
from redfirst.sandbox.protocol import End

REPORT_BYTES = 64 << 20
_CHUNK = 1 << 16
_FIRST_LOOK_S, _LOOK_S = 0.02, 0.05
#: No more than this part of one core goes into looking.
_LOOK_SHARE = 0.05


class Reins(Protocol):
    """How the supervisor holds a command."""

    def hear(self, data: bytes) -> bool:
        """Take bytes of the status pipe; whether the command may be told to start now."""

    def kill(self) -> None:
        """End the command with all it started, and wait until they are gone."""


@dataclass(slots=True)
class Pipes:
    """Our ends of a command's pipes. They are made non-blocking, and closed by ``close``."""

    stdin: int
    out: int
    err: int
    report: int
    status: int

    def close(self) -> None:
        for name in ("stdin", "out", "err", "report", "status"):
            self.shut(name)

    def shut(self, name: str) -> None:
        handle = getattr(self, name)
        if handle >= 0:
            os.close(handle)
            setattr(self, name, -1)


@dataclass(slots=True)
class Supervisor:
    """One command under watch. ``feed``: what is written to its standard input once it may start."""

    process: subprocess.Popen[bytes]
    pipes: Pipes
    limits: Limits
    meter: Meter
    reins: Reins
    feed: bytes
    held: bool = True
    texts: dict[str, bytearray] = field(default_factory=dict)
    cause: End | None = None
    wall_s: float = 0.0

    def watch(self) -> None:
        """Return when the command and all it started are gone. An interrupt kills them and goes on up."""
        began = time.monotonic()
        self.texts = {name: bytearray() for name in ("out", "err", "report", "status")}
        ended = os.pidfd_open(self.process.pid)
        try:
            self._loop(ended, began)
        finally:
            self.wall_s = time.monotonic() - began
            with suppress(OSError):
                over = self.meter.sample()
                self.cause = self.cause or (over if self.process.poll() is None else None)
            self.reins.kill()
            os.close(ended)
            self._drain()
            self.pipes.close()

    def _loop(self, ended: int, began: float) -> None:
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        names = self._register(poll)
        over = began + self.limits.wall_s
        looking = began + _FIRST_LOOK_S
        while self.cause is None:
            now = time.monotonic()
            if now >= over:
                self.cause = End.WALL
                return
            if now >= looking:
                looking = self._look(now)
                continue
            ready = [handle for handle, _ in poll.poll((min(looking, over) - now) * 1000 + 0.5)]
            for handle in ready:
                if handle in names and not self._take(names[handle]):
                    poll.unregister(handle)
                    del names[handle]
                elif handle == self.pipes.stdin:
                    self._write(poll)
            if not self.held and self.pipes.stdin >= 0:
                poll.register(self.pipes.stdin, select.POLLOUT)
            if ended in ready:
                return

    def _register(self, poll: select.poll) -> dict[int, str]:
        names = {getattr(self.pipes, name): name for name in self.texts}
        for handle in (*names, self.pipes.stdin):
            os.set_blocking(handle, False)
        for handle in names:
            poll.register(handle, select.POLLIN)
        if not self.feed:
            self.pipes.shut("stdin")
        return names

    def _look(self, now: float) -> float:
        """Sample, and say when to do so next: rarely, where looking is slow."""
        self.cause = self.cause or self.meter.sample()
        after = time.monotonic()
        return after + max(_LOOK_S, (after - now) / _LOOK_SHARE)

    def _take(self, name: str) -> bool:
        """Read once from a pipe; False when its end is reached."""
        try:
            data = os.read(getattr(self.pipes, name), _CHUNK)
        except BlockingIOError:
            return True
        if not data:
            return False
        self.texts[name] += data
        if name == "status":
            if self.held and self.reins.hear(data):
                self.held = False
        elif self._too_much(name):
            self.cause = self.cause or End.OUTPUT
            self.meter.reached.add(End.OUTPUT)
        return True

    def _too_much(self, name: str) -> bool:
        """Whether a bound is passed; what is over it is dropped."""
        bound = REPORT_BYTES if name == "report" else int(self.limits.output_mb) << 20
        counted = ("report",) if name == "report" else ("out", "err")
        over = sum(len(self.texts[part]) for part in counted) - bound
        if over > 0:
            del self.texts[name][-over:]
        return over >= 0

    def _write(self, poll: select.poll) -> None:
        try:
            self.feed = self.feed[os.write(self.pipes.stdin, self.feed[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.feed = b""
        if not self.feed:
            poll.unregister(self.pipes.stdin)
            self.pipes.shut("stdin")

    def _drain(self) -> None:
        """Read what is left in the pipes, without waiting for anyone who may still hold them."""
        for name in self.texts:
            with suppress(OSError):
                while self._take_now(name):
                    pass

    def _take_now(self, name: str) -> bool:
        ready = select.select([getattr(self.pipes, name)], [], [], 0)[0]
        return bool(ready) and self._take(name) and (name == "status" or not self._too_much(name))


def end_of(
    cause: End | None, code: int | None, reached: set[End], cpu_s: float | None, limits: Limits
) -> tuple[End, int | None, int | None]:
    """Why a command ended, its exit status, its signal. ``code``: status, negative for a signal.

    A death that one of our limits brought about has the end of that limit.
    """
    if cause is not None or code is None:
        return cause or End.BROKEN, None, None
    if code >= 0:
        return End.EXITED, code, None
    number = -code
    spent = cpu_s is not None and cpu_s >= limits.cpu_s
    if number == signal.SIGXCPU or (number == signal.SIGKILL and spent):
        return End.CPU, None, number
    if number == signal.SIGXFSZ:
        return End.FILE, None, number
    if number == signal.SIGKILL and End.MEMORY in reached:
        return End.MEMORY, None, number
    return End.SIGNALLED, None, number


def pipe_pair(high: bool = False) -> tuple[int, int]:
    """A pipe (read end, write end); with ``high`` its write end has a number out of the way of programs."""
    read, write = os.pipe()
    return (read, _raise_number(write)) if high else (read, write)


def unbreakable_pipe() -> tuple[int, int]:
    """A pipe whose writer may go on when we are dead, since its end also counts as a reader.

    If bubblewrap's word on its status met a broken pipe, it would end and leave a child that waits for ever.
    """
    read, write = os.pipe()
    both = os.open(f"/proc/self/fd/{read}", os.O_RDWR | os.O_CLOEXEC)
    os.close(write)
    return read, both


def _raise_number(handle: int) -> int:
    raised = fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, 100)
    os.close(handle)
    return raised


def limit_script(limits: Limits) -> Sequence[str]:
    """Shell lines that set the limits of every process to come; a file size is in blocks of 512 bytes."""
    seconds = max(1, int(-(-limits.cpu_s // 1)))
    return (
        "ulimit -c 0",
        "ulimit -S -n 4096 2>/dev/null",
        f"ulimit -f {limits.file_mb * 2048}",
        f"ulimit -S -t {seconds}",
        f"ulimit -H -t {seconds + 2}",
        "umask 022",
    )
