# SPDX-License-Identifier: Apache-2.0
"""Watch one command: read its pipes up to their caps, kill it at a limit, say why it ended."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redfirst.core.limits import Limits
from redfirst.sandbox.protocol import End

_TICK_S = 0.05
_REPORT_CAP = 64 << 20
_DRAIN_S = 0.3


@dataclass(frozen=True, slots=True)
class Watch:
    """Questions asked at every tick; each says whether its limit is reached."""

    ends: Sequence[tuple[End, Callable[[], bool]]] = ()
    kill: Callable[[], None] | None = None


@dataclass(slots=True)
class Ended:
    """How the outermost process ended. ``status``: as ``Popen.returncode``; ``reached``: the limit we enforced."""

    status: int = 0
    reached: End | None = None
    out: bytes = b""
    err: bytes = b""
    report: bytes = b""
    wall_s: float = 0.0
    cpu_s: float = 0.0


class _Pipes:
    """Non-blocking readers with one shared output cap."""

    def __init__(self, descriptors: dict[str, int], cap: int) -> None:
        self.data: dict[str, bytearray] = {name: bytearray() for name in descriptors}
        self._cap = cap
        self._selector = selectors.DefaultSelector()
        for name, descriptor in descriptors.items():
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ, name)

    def watch(self, descriptor: int) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, "")

    def wait(self, timeout: float) -> bool:
        """Read what there is; True when the watched descriptor became ready."""
        ended = False
        for key, _ in self._selector.select(timeout):
            if not key.data:
                self._selector.unregister(key.fd)
                ended = True
                continue
            self._read(key.fd, key.data)
        return ended

    def _read(self, descriptor: int, name: str) -> None:
        try:
            piece = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return
        if not piece:
            self._selector.unregister(descriptor)
        room = (_REPORT_CAP if name == "report" else self._cap) - len(self.data[name])
        self.data[name] += piece[: max(0, room)]

    @property
    def full(self) -> bool:
        return len(self.data["out"]) + len(self.data["err"]) >= self._cap

    @property
    def open(self) -> bool:
        return bool(self._selector.get_map())

    def drain(self) -> None:
        """What was written before the end; a pipe that somebody still holds open is left."""
        until = time.monotonic() + _DRAIN_S
        while self.open and not self.full and time.monotonic() < until:
            before = sum(map(len, self.data.values()))
            self.wait(0.01)
            if sum(map(len, self.data.values())) == before and not self._selector.select(0):
                break

    def close(self) -> None:
        self._selector.close()


def supervise(
    process: subprocess.Popen[bytes], descriptors: dict[str, int], limits: Limits, watch: Watch, began: float
) -> Ended:
    """Run ``process`` to its end or to a limit. ``descriptors``: read ends named out, err, report."""
    pipes = _Pipes(descriptors, limits.output_mb << 20)
    handle = os.pidfd_open(process.pid)
    pipes.watch(handle)
    reached: End | None = None
    try:
        while not pipes.wait(_TICK_S):
            reached = _reached(pipes, limits, watch, began)
            if reached is not None:
                break
        if reached is not None:
            (watch.kill or process.kill)()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - began
        pipes.drain()
    except BaseException:
        (watch.kill or process.kill)()
        process.wait()
        raise
    finally:
        os.close(handle)
        pipes.close()
    if reached is None and pipes.full:
        reached = End.OUTPUT
    data = {name: bytes(piece) for name, piece in pipes.data.items()}
    return Ended(
        process.returncode,
        reached,
        data["out"],
        data["err"],
        data["report"],
        wall,
        usage.ru_utime + usage.ru_stime,
    )


def _reached(pipes: _Pipes, limits: Limits, watch: Watch, began: float) -> End | None:
    if pipes.full:
        return End.OUTPUT
    if time.monotonic() - began > limits.wall_s:
        return End.WALL
    return next((end for end, question in watch.ends if question()), None)


def feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Give the command its standard input; one that does not read it is no fault of ours."""
    assert process.stdin is not None
    try:
        process.stdin.write(data)
        process.stdin.close()
    except OSError:
        return


def killed_by(status: int) -> int | None:
    """The signal behind a shell-style or negative status, or None for an ordinary exit."""
    if status < 0:
        return -status
    return status - 128 if 128 < status <= 128 + signal.SIGRTMAX else None
