# SPDX-License-Identifier: Apache-2.0
"""Measures a running command and says when it must be ended: by control group, else by looking at /proc."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from redfirst.core.limits import Limits
from redfirst.sandbox.cgroups import RunGroup
from redfirst.sandbox.protocol import End

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ProcessState:
    """What one process uses. ``cpu_s`` includes its ended children that were waited for."""

    number: int
    cpu_s: float
    tasks: int
    resident: int


class Processes(Protocol):
    """Where the processes of a run can be seen."""

    def states(self) -> Iterable[ProcessState]:
        """Each live process of the run."""

    def shared_out(self, number: int) -> int | None:
        """Bytes of one process with shared pages divided among their users; None if it cannot be read."""


@dataclass(slots=True)
class NamespaceProcesses:
    """The processes of a namespace, seen through its own /proc. ``first``: its first process, as we know it.

    Until bubblewrap has changed its root, that path leads to the /proc of the host, which is not what we want.
    """

    first: int
    proc: int = -1

    def states(self) -> Iterable[ProcessState]:
        if not self._open():
            return
        for name in os.listdir(self.proc):
            if name.isdigit():
                state = parse_state(_read(f"{name}/stat", self.proc))
                if state is not None:
                    yield state

    def shared_out(self, number: int) -> int | None:
        return parse_shared(_read(f"{number}/smaps_rollup", self.proc))

    def close(self) -> None:
        if self.proc >= 0:
            os.close(self.proc)
            self.proc = -1

    def _open(self) -> bool:
        if self.proc < 0:
            handle = os.open(f"/proc/{self.first}/root/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            if os.fstat(handle).st_dev == os.stat("/proc").st_dev or not _read("1/stat", handle):
                os.close(handle)
                return False
            self.proc = handle
        return True


@dataclass(slots=True)
class Meter:
    """The sum of what a run used and the limits it met. ``store``: a descriptor on its capped file system."""

    limits: Limits
    group: RunGroup | None = None
    processes: Processes | None = None
    store: int | None = None
    kills_for_processes: bool = False
    cpu_s: float | None = None
    peak_memory_mb: float | None = None
    reached: set[End] = field(default_factory=set)

    def sample(self) -> End | None:
        """Look once; the limit for which the run must be ended now, if any."""
        if self.group is not None:
            self.reached |= self.group.reached()
            self.cpu_s = self.group.cpu_s()
            self.peak_memory_mb = self.group.peak_memory_mb()
        if self.store is not None:
            room = os.fstatvfs(self.store)
            if not room.f_bavail or not room.f_favail:
                self.reached.add(End.DISK)
        over = self._watch() if self.processes is not None and self._blind() else None
        if over is None and self.cpu_s is not None and self.cpu_s >= self.limits.cpu_s:
            over = End.CPU
        if over is not None:
            self.reached.add(over)
        return over

    def _blind(self) -> bool:
        return self.group is None or len(self.group.folders) < 3

    def _has(self, limit: str) -> bool:
        return self.group is not None and limit in self.group.folders

    def _watch(self) -> End | None:
        """What no control group measures, from the processes themselves."""
        assert self.processes is not None
        try:
            states = list(self.processes.states())
        except OSError:
            return None
        if not self._has("cpu"):
            self.cpu_s = max(self.cpu_s or 0.0, sum(state.cpu_s for state in states))
        over = None
        if not self._has("processes") and sum(state.tasks for state in states) > self.limits.processes:
            self.reached.add(End.PROCESSES)
            over = End.PROCESSES if self.kills_for_processes else None
        if not self._has("memory"):
            used = self._memory_mb(states)
            self.peak_memory_mb = max(self.peak_memory_mb or 0.0, used)
            if used > self.limits.memory_mb:
                over = End.MEMORY
        return over

    def _memory_mb(self, states: list[ProcessState]) -> float:
        """Resident memory; only when that is too much, shared pages are counted once, which is slow."""
        resident = sum(state.resident for state in states) / _MIB
        if resident <= self.limits.memory_mb:
            return resident
        shares = (self.processes.shared_out(state.number) for state in states if self.processes)
        return sum(share or 0 for share in shares) / _MIB


def parse_state(text: bytes) -> ProcessState | None:
    """One line of /proc/<pid>/stat, a zombie included; None if the process is gone."""
    head, _, tail = text.rpartition(b")")
    fields = tail.split()
    if len(fields) < 22:
        return None
    cpu = sum(int(field) for field in fields[11:15]) / _TICKS
    return ProcessState(int(head.split(b" ", 1)[0]), cpu, int(fields[17]), int(fields[21]) * _PAGE)


def parse_shared(text: bytes) -> int | None:
    """Bytes on the ``Pss`` line of /proc/<pid>/smaps_rollup."""
    for line in text.splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) << 10
    return None


def _read(path: str, folder: int) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
        try:
            return os.read(handle, 4096)
        finally:
            os.close(handle)
    except OSError:
        return b""
