# SPDX-License-Identifier: Apache-2.0
"""Limits and counters of one run by control groups, version 1 (as root) or 2 (delegated)."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from redfirst.core.limits import Limits

_ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Groups:
    """The groups of one run, by controller; empty where none can be made."""

    paths: dict[str, Path] = field(default_factory=dict)

    @property
    def procs(self) -> tuple[str, ...]:
        """Files into which a process writes its id to join."""
        return tuple(sorted({str(path / "cgroup.procs") for path in self.paths.values()}))

    def cpu_s(self) -> float | None:
        """CPU seconds of all processes of the run so far."""
        if "cpuacct" in self.paths:
            return _number(self.paths["cpuacct"] / "cpuacct.usage") / 1e9
        if "cpu" in self.paths:
            return _keyed(self.paths["cpu"] / "cpu.stat").get("usage_usec", 0) / 1e6
        return None

    def peak_mb(self) -> float | None:
        """Highest memory use so far, MiB."""
        if "memory" not in self.paths:
            return None
        path = self.paths["memory"]
        peak = _number(path / "memory.max_usage_in_bytes") or _number(path / "memory.peak")
        return round(peak / 2**20, 1) if peak else None

    def out_of_memory(self) -> bool:
        """Whether the kernel killed a process of the run for memory."""
        path = self.paths.get("memory")
        if path is None:
            return False
        return bool(
            _keyed(path / "memory.oom_control").get("oom_kill")
            or _keyed(path / "memory.events").get("oom_kill")
        )

    def out_of_processes(self) -> bool:
        """Whether a fork was refused."""
        path = self.paths.get("pids")
        return path is not None and bool(_keyed(path / "pids.events").get("max"))

    def close(self) -> None:
        """Remove the groups; their last process may take a moment to be gone."""
        for path in set(self.paths.values()):
            for _ in range(50):
                try:
                    path.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)
                else:
                    break


def open_groups(limits: Limits, name: str) -> Groups:
    """Make the groups of one run; controllers that this user cannot use are left out."""
    paths: dict[str, Path] = {}
    for controller, parent in _parents().items():
        path = parent / name
        try:
            path.mkdir(exist_ok=True)
            _set_limits(controller, path, limits)
        except OSError:
            continue
        paths[controller] = path
    return Groups(paths)


def _set_limits(controller: str, path: Path, limits: Limits) -> None:
    size = str(limits.memory_mb * 2**20)
    if controller == "memory":
        if (path / "memory.limit_in_bytes").exists():
            (path / "memory.limit_in_bytes").write_text(size)
        else:
            (path / "memory.max").write_text(size)
            (path / "memory.swap.max").write_text("0")
    if controller == "pids":
        (path / "pids.max").write_text(str(limits.processes))


@cache
def _parents() -> dict[str, Path]:
    """Writable parent group of each controller."""
    found: dict[str, Path] = {}
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        number, names, place = line.split(":", 2)
        if number == "0" and (_ROOT / "cgroup.controllers").exists():
            found.update(_unified(_ROOT / place.lstrip("/")))
        for name in names.split(","):
            path = _ROOT / name / place.lstrip("/")
            if name in ("memory", "pids", "cpuacct") and os.access(path, os.W_OK):
                found[name] = path
    return found


def _unified(path: Path) -> dict[str, Path]:
    try:
        offered = (path / "cgroup.subtree_control").read_text().split()
    except OSError:
        return {}
    if not os.access(path, os.W_OK):
        return {}
    return {name: path for name in ("memory", "pids", "cpu") if name in offered}


def _number(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0


def _keyed(path: Path) -> dict[str, int]:
    try:
        words = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return {}
    return {word[0]: int(word[1]) for word in words if len(word) == 2 and word[1].isdigit()}
