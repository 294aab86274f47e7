# SPDX-License-Identifier: Apache-2.0
"""Finds where control groups may be made, and limits and measures one run by a group of its own.

Version 2 wants a folder that was delegated to the user; version 1 wants root. Each controller is found and
tried by itself: what cannot be had is left to the watchdog, and ``guarantees`` says so.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from redfirst.core.limits import Limits
from redfirst.sandbox.protocol import End

#: What we use of each version: name of the limit → controller in version 1.
CONTROLLERS = {"memory": "memory", "processes": "pids", "cpu": "cpuacct"}
#: The launcher, its namespace's first process and the one that waits for it.
_OWN_PROCESSES = 2
_NAME = re.compile(r"redfirst-(\d+)-(\d+)-\d+")
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Site:
    """A folder below which groups can be made, and which limits can be set there. Version 1 or 2."""

    folder: Path
    limits: frozenset[str]
    version: int


@dataclass(slots=True)
class RunGroup:
    """The groups of one run: one in version 2, one for each controller in version 1."""

    sites: tuple[Site, ...]
    name: str
    folders: dict[str, tuple[Path, int]] = field(default_factory=dict)

    @property
    def procs_files(self) -> list[str]:
        """Files into which a process writes 0 to join."""
        return sorted({f"{folder}/cgroup.procs" for folder, _ in self.folders.values()})

    def create(self, limits: Limits) -> None:
        """Make the groups and set their limits. Raises OSError."""
        for site in self.sites:
            folder = site.folder / self.name
            folder.mkdir(exist_ok=True)
            for limit in site.limits:
                self.folders[limit] = (folder, site.version)
        for limit, (folder, version) in self.folders.items():
            _set(limit, folder, version, limits)

    def cpu_s(self) -> float | None:
        """Seconds that all processes of the run have used together."""
        place = self.folders.get("cpu")
        if place is None:
            return None
        if place[1] == 1:
            return _number(place[0] / "cpuacct.usage") / 1e9
        return _table(place[0] / "cpu.stat").get("usage_usec", 0) / 1e6

    def peak_memory_mb(self) -> float | None:
        """The most memory that was charged at one time, files it wrote to the workspace included."""
        place = self.folders.get("memory")
        if place is None:
            return None
        return _number(place[0] / ("memory.max_usage_in_bytes" if place[1] == 1 else "memory.peak")) / (
            1 << 20
        )

    def reached(self) -> frozenset[End]:
        """The limits that the kernel enforced, whether or not anything ended by it."""
        found = set()
        if "memory" in self.folders:
            folder, version = self.folders["memory"]
            name = "memory.oom_control" if version == 1 else "memory.events"
            if _table(folder / name).get("oom_kill", 0):
                found.add(End.MEMORY)
        if "processes" in self.folders and _table(self.folders["processes"][0] / "pids.events").get("max", 0):
            found.add(End.PROCESSES)
        return frozenset(found)

    def remove(self) -> None:
        """Remove the groups; their processes are gone, but the kernel may take a moment to notice."""
        for folder in {folder for folder, _ in self.folders.values()}:
            _remove(folder)
        self.folders.clear()


def new_group() -> RunGroup | None:
    """A group for one run, not yet made; None where no controller can be had."""
    found = sites()
    if not found:
        return None
    return RunGroup(found, f"redfirst-{os.getpid()}-{_started(os.getpid())}-{next(_numbers)}")


@functools.cache
def sites() -> tuple[Site, ...]:
    """Where groups can be made by this process; tried once, leftovers of dead processes removed."""
    own = _own_paths(Path("/proc/self/cgroup").read_text("utf-8"))
    mounts = list(_mounts(Path("/proc/self/mountinfo").read_text("utf-8")))
    found: list[Site] = []
    for version, kinds, mount, root in mounts:
        if version == 2:
            found.extend(_v2_site(mount, root, own.get("", "/")))
            continue
        for limit, controller in CONTROLLERS.items():
            if controller in kinds and controller in own:
                folder = _below(mount, root, own[controller])
                if folder and _works(folder, {limit}, 1):
                    found.append(Site(folder, frozenset({limit}), 1))
    chosen = _without_doubles(found)
    for site in chosen:
        _sweep(site.folder)
    return chosen


def _without_doubles(found: list[Site]) -> tuple[Site, ...]:
    seen: set[str] = set()
    chosen = []
    for site in found:
        fresh = site.limits - seen
        if fresh:
            chosen.append(Site(site.folder, fresh, site.version))
            seen |= fresh
    return tuple(chosen)


def _v2_site(mount: Path, root: str, own: str) -> Iterator[Site]:
    """The nearest folder above us whose new children have controllers and may take our processes."""
    folder = _below(mount, root, own)
    for place in (folder, *folder.parents) if folder else ():
        if not place.is_relative_to(mount):
            return
        enabled = _text(place / "cgroup.subtree_control").split()
        limits = {name for name, kind in (("memory", "memory"), ("processes", "pids")) if kind in enabled}
        if limits and _works(place, limits | {"cpu"}, 2):
            yield Site(place, frozenset(limits | {"cpu"}), 2)
            return


def _works(folder: Path, limits: set[str], version: int) -> bool:
    """Whether a child can be made, has the files we need, and takes a process."""
    if not os.access(folder, os.W_OK):
        return False
    child = folder / f"redfirst-{os.getpid()}-{_started(os.getpid())}-{next(_numbers)}"
    try:
        child.mkdir()
    except OSError:
        return False
    try:
        for limit in limits:
            _set(limit, child, version, Limits())
        join = ["/bin/sh", "-c", 'echo 0 > "$1"', "sh", f"{child}/cgroup.procs"]
        return subprocess.run(join, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False
    finally:
        _remove(child)


def _set(limit: str, folder: Path, version: int, limits: Limits) -> None:
    if limit == "processes":
        _write(folder / "pids.max", limits.processes + _OWN_PROCESSES)
    elif limit == "memory" and version == 1:
        _write(folder / "memory.limit_in_bytes", limits.memory_mb << 20)
        with suppress(OSError):
            _write(folder / "memory.memsw.limit_in_bytes", limits.memory_mb << 20)
    elif limit == "memory":
        _write(folder / "memory.max", limits.memory_mb << 20)
        with suppress(OSError):
            _write(folder / "memory.swap.max", 0)
    else:
        os.stat(folder / ("cpuacct.usage" if version == 1 else "cpu.stat"))


def _own_paths(text: str) -> Mapping[str, str]:
    """Controller → our path; the key of version 2 is empty."""
    found = {}
    for line in text.splitlines():
        _, kinds, path = line.split(":", 2)
        found.update(dict.fromkeys(kinds.split(","), path))
    return found


def _mounts(text: str) -> Iterator[tuple[int, list[str], Path, str]]:
    """(version, controllers, mount point, root within the hierarchy) of each mounted hierarchy."""
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            root, point = left.split(" ")[3:5]
            yield (2 if kind == "cgroup2" else 1), options.split(","), Path(point), root


def _below(mount: Path, root: str, path: str) -> Path | None:
    """Our own folder under a mount point that may show only a part of the hierarchy."""
    below = os.path.relpath(path, root)
    if below.startswith(".."):
        return None
    folder = mount / below
    return folder if folder.is_dir() else None


def _sweep(folder: Path) -> None:
    """Remove groups of processes that are no longer there."""
    for child in folder.iterdir():
        match = _NAME.fullmatch(child.name)
        if match and _started(int(match[1])) != match[2]:
            with suppress(OSError):
                child.rmdir()


def _remove(folder: Path) -> None:
    for wait in (0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4):
        time.sleep(wait)
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            continue
        return


def _started(pid: int) -> str:
    """Start time of a process in clock ticks, which tells it from a later one of the same number."""
    fields = _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 else ""


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError:
        return ""


def _number(path: Path) -> int:
    text = _text(path).strip()
    return int(text) if text.isdigit() else 0


def _table(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in _text(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _write(path: Path, value: int) -> None:
    path.write_text(str(value), "utf-8")
