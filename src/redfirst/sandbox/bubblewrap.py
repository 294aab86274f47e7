# SPDX-License-Identifier: Apache-2.0
"""The bubblewrap backend: private mounts held by one process, each command in namespaces of its own."""

from __future__ import annotations

import itertools
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from redfirst.core.environment import Bind
from redfirst.core.errors import SandboxError
from redfirst.core.limits import Limits
from redfirst.sandbox.cgroups import Groups, open_groups
from redfirst.sandbox.holder import Holder, open_holder
from redfirst.sandbox.manifest import Manifest, compare, read_regular, scan, write_edit
from redfirst.sandbox.overlay import upper_changes
from redfirst.sandbox.protocol import Change, Completed, End, FileEdit, Isolation
from redfirst.sandbox.supervise import Ended, Watch, feed, killed_by, supervise
from redfirst.sandbox.watchdog import tree_cpu_s, tree_memory_mb

_SYSTEM = ("/usr", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
_ETC = (
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/localtime",
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/mime.types",
)
_NETWORK_ETC = ("/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf")
_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_MARK = "/run/redfirst"
_RESERVED = ("/proc", "/dev", "/sys", "/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/run")
# $1 limits; the mark proves that everything before the command went well
_LAUNCH = ': >/run/redfirst/started; eval "$1"; shift; exec "$@"'
# $1 count, then that many files to write our id into, then the command
_JOIN = 'n=$1; shift; while [ $n -gt 0 ]; do echo $$ >"$1"; shift; n=$((n-1)); done; exec "$@"'
_USER = 1000


class BubblewrapSandbox:
    """Workspaces under bubblewrap 0.8 or later. ``scratch``: where mount points are made on the host."""

    name = "bubblewrap"

    def __init__(self, tool: str, scratch: Path | None = None) -> None:
        self._tool = tool
        self._scratch = scratch or Path(tempfile.gettempdir())

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
        """A workspace over ``tree`` seen at ``mount``. Raises SandboxError."""
        if not os.path.isabs(mount) or any((mount + "/").startswith(place + "/") for place in _RESERVED):
            raise SandboxError(f"a workspace cannot be seen at {mount}", "move the checkout elsewhere")
        holder = open_holder(
            self._scratch, tree.resolve(), layer, disk_mb=limits.disk_mb, files=limits.files, copy=copy
        )
        return BubblewrapWorkspace(self._tool, holder, tree.resolve(), layer, mount, tuple(binds), copy, self)

    def guarantees(self) -> tuple[tuple[str, str], ...]:
        """What holds for every run on this machine, by name and means."""
        return self._guarantees

    @cached_property
    def _guarantees(self) -> tuple[tuple[str, str], ...]:
        groups = open_groups(Limits(), f"redfirst-probe-{os.getpid()}")
        have = set(groups.paths)
        groups.close()
        root = os.geteuid() == 0
        processes = "cgroup" if "pids" in have else "none" if root else "rlimit"
        return (
            ("filesystem", "mount namespace, overlay on a capped tmpfs"),
            ("network", "network namespace, loopback only"),
            ("processes_killed", "process namespace"),
            ("environment", "cleared"),
            ("memory", "cgroup" if "memory" in have else "watchdog"),
            ("processes", processes),
            ("cpu", "cgroup" if have & {"cpuacct", "cpu"} else "watchdog"),
            ("wall", "supervisor"),
            ("output", "supervisor"),
            ("file", "rlimit"),
            ("disk", "tmpfs"),
        )


class BubblewrapWorkspace:
    """One workspace; every run in it gets a fresh /tmp and HOME."""

    _numbers = itertools.count(1)

    def __init__(
        self,
        tool: str,
        holder: Holder,
        tree: Path,
        layer: Path | None,
        mount: str,
        binds: tuple[Bind, ...],
        copy: bool,
        sandbox: BubblewrapSandbox,
    ) -> None:
        self.mount = mount.rstrip("/") or "/"
        self._tool, self._holder, self._lower = tool, holder, (tree, *([layer] if layer else []))
        self._binds, self._copy, self._sandbox = binds, copy, sandbox
        self._edits: dict[str, FileEdit] = {}
        self._points: set[str] = set()
        self._before: Manifest | None = scan(self._tree) if copy else None

    @property
    def _tree(self) -> str:
        return f"{self._holder.root}/tree"

    def edit(self, edits: Sequence[FileEdit]) -> None:
        """Lay files. Raises SandboxError when there is no room or a path leaves the tree."""
        for edit in edits:
            write_edit(self._tree, edit)
            self._edits[edit.path] = edit
        if self._before is not None:
            self._before = scan(self._tree)

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
        """Run one command to its end; see the protocol."""
        number = next(self._numbers)
        private = f"{self._holder.root}/tmp/{number}"
        for name in ("", "/tmp", "/home", "/mark"):
            os.mkdir(private + name)
        groups = open_groups(limits, f"redfirst-{os.getpid()}-{number}")
        report_read, report_write = os.pipe()
        try:
            whole = {"HOME": "/home/user", "TMPDIR": "/tmp", **env, "REDFIRST_REPORT_FD": str(report_write)}
            mounts = self._mounts(
                f"{self._holder.folder}/tmp/{number}", (*self._binds, *binds), writable, network
            )
            inner = [self._tool, *mounts, *_isolation(network), "--chdir", _join(self.mount, cwd)]
            for name, value in whole.items():
                inner += ["--setenv", name, value]
            inner += ["sh", "-c", _LAUNCH, "redfirst", _limit_words(limits, groups), *argv]
            began = time.monotonic()
            process = subprocess.Popen(
                [*_joining(groups), *_entering(self._holder.process.pid), *inner],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(report_write,),
                env={"PATH": os.environ.get("PATH", os.defpath)},
            )
            os.close(report_write)
            report_write = -1
            ended, noted = self._watch(process, report_read, stdin, limits, groups, began)
        finally:
            for descriptor in (report_read, report_write):
                if descriptor >= 0:
                    os.close(descriptor)
            oom, forks = groups.out_of_memory(), groups.out_of_processes()
            cpu, peak = groups.cpu_s(), groups.peak_mb()
            groups.close()
        if forks:
            noted.add(End.PROCESSES)
        started = os.path.exists(f"{private}/mark/started")
        return self._completed(ended, noted, oom, started, limits, cpu, peak)

    def _watch(
        self,
        process: subprocess.Popen[bytes],
        report: int,
        stdin: bytes,
        limits: Limits,
        groups: Groups,
        began: float,
    ) -> tuple[Ended, set[End]]:
        noted: set[End] = set()
        questions = [
            (End.CPU, lambda: (groups.cpu_s() or tree_cpu_s(process.pid)) > limits.cpu_s),
            (End.DISK, lambda: self._note_full(noted)),
        ]
        if "memory" not in groups.paths:
            questions.append((End.MEMORY, lambda: tree_memory_mb(process.pid) > limits.memory_mb))
        assert process.stdout is not None
        assert process.stderr is not None
        pipes = {"out": process.stdout.fileno(), "err": process.stderr.fileno(), "report": report}
        feed(process, stdin)
        try:
            ended = supervise(process, {**pipes}, limits, Watch(questions), began)
        finally:
            process.stdout.close()
            process.stderr.close()
        self._note_full(noted)
        return ended, noted

    def _note_full(self, noted: set[End]) -> bool:
        """Note a full scratch space; never a reason to kill."""
        room = os.statvfs(f"{self._holder.root}/tmp")
        if room.f_bavail * room.f_bsize < 65536 or room.f_favail < 8:
            noted.add(End.DISK)
        return False

    def _completed(
        self,
        ended: Ended,
        noted: set[End],
        oom: bool,
        started: bool,
        limits: Limits,
        cpu: float | None,
        peak: float | None,
    ) -> Completed:
        number = killed_by(ended.status)
        cpu_s = max(cpu or 0.0, ended.cpu_s)
        end, problem = ended.reached, ""
        if oom:
            noted.add(End.MEMORY)
        if end is None and number is not None:
            end = _end_of_signal(number, oom, cpu_s, limits)
        if end is None and not started:
            end, problem = (
                End.BROKEN,
                ended.err.decode("utf-8", "replace").strip()[-500:] or "bubblewrap did not start",
            )
        if end is End.SIGNALLED and ended.status < 0:
            end, problem = End.BROKEN, "the sandbox itself was killed from outside"
        if end is None:
            end = End.EXITED
        return Completed(
            end=end,
            exit=ended.status if end is End.EXITED else None,
            signal=number if end is not End.EXITED else None,
            out=ended.out,
            err=ended.err,
            report=ended.report,
            reached=frozenset(noted),
            wall_s=ended.wall_s,
            cpu_s=round(cpu_s, 3),
            peak_memory_mb=peak,
            isolation=Isolation(self._sandbox.name, self._sandbox.guarantees()),
            problem=problem,
        )

    def _mounts(
        self, private: str, binds: Sequence[Bind], writable: Sequence[str] | None, network: bool
    ) -> list[str]:
        """The mounts of one run, outermost first; ``private`` as the holder sees it."""
        words: list[str] = []
        for path in (*_SYSTEM, *_ETC, *(_NETWORK_ETC if network else ())):
            words += ["--ro-bind-try", path, path]
        for link in _LINKS:
            if os.path.islink(link):
                words += ["--symlink", os.readlink(link), link]
            elif os.path.isdir(link):
                words += ["--ro-bind", link, link]
        words += ["--proc", "/proc", "--dev", "/dev", "--size", str(64 << 20), "--tmpfs", "/dev/shm"]
        words += ["--bind", f"{private}/tmp", "/tmp", "--bind", f"{private}/home", "/home/user"]
        words += ["--bind", f"{private}/mark", _MARK, *self._accounts(private)]
        tree = f"{self._holder.folder}/tree"
        words += ["--bind" if writable is None else "--ro-bind", tree, self.mount]
        for path in writable or ():
            words += ["--bind", _join(tree, path), _join(self.mount, path)]
        for bind in sorted(binds, key=lambda bind: len(bind.inside)):
            self._point(bind)
            words += ["--bind" if bind.writable else "--ro-bind", bind.host, bind.inside]
        return [*words, "--remount-ro", "/", "--remount-ro", "/dev"]

    def _accounts(self, private: str) -> list[str]:
        """A passwd and a group file that know the one user inside."""
        place = f"{self._holder.root}/tmp/{private.rsplit('/', 1)[1]}"
        Path(f"{place}/passwd").write_text(
            f"root:x:0:0:root:/root:/bin/sh\nuser:x:{_USER}:{_USER}:user:/home/user:/bin/sh\n"
        )
        Path(f"{place}/group").write_text(f"root:x:0:\nuser:x:{_USER}:\n")
        return [
            "--ro-bind",
            f"{private}/passwd",
            "/etc/passwd",
            "--ro-bind",
            f"{private}/group",
            "/etc/group",
        ]

    def _point(self, bind: Bind) -> None:
        """Make the mount point of a bind that lies inside the tree."""
        prefix = self.mount.rstrip("/") + "/"
        if not bind.inside.startswith(prefix):
            return
        relative = bind.inside.removeprefix(prefix)
        if relative in self._points:
            return
        path = f"{self._tree}/{relative}"
        self._points.add(relative)
        if os.path.lexists(path):
            return
        if os.path.isdir(bind.host):
            os.makedirs(path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            Path(path).touch()

    def changes(self) -> tuple[Change, ...]:
        """What the runs changed, as seen from outside."""
        if self._before is not None:
            return compare(self._before, scan(self._tree), self._points)
        return upper_changes(f"{self._holder.root}/up", self._lower, self._edits, self._points)

    def read(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """At most ``limit`` bytes of a regular file, links not followed."""
        return read_regular(self._tree, path, limit)

    def close(self) -> None:
        """End everything."""
        self._holder.close()


def find_tool() -> str:
    """The bubblewrap program. Raises SandboxError: never a run without a sandbox."""
    named = os.environ.get("REDFIRST_BWRAP")
    found = named if named and os.access(named, os.X_OK) else shutil.which("bwrap")
    missing = next((tool for tool in ("unshare", "nsenter") if shutil.which(tool) is None), None)
    if not sys.platform.startswith("linux"):
        raise SandboxError("bubblewrap needs Linux", "--sandbox plain runs without any isolation")
    if not found:
        raise SandboxError("bubblewrap is not installed", "apt install bubblewrap, or --sandbox plain")
    if missing:
        raise SandboxError(f"{missing} is not on PATH", "apt install util-linux")
    return found


def _isolation(network: bool) -> list[str]:
    words = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += [] if network else ["--unshare-net"]
    words += ["--disable-userns", "--uid", str(_USER), "--gid", str(_USER), "--hostname", "redfirst"]
    return [*words, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]


def _joining(groups: Groups) -> list[str]:
    """Words that put the process into its groups before anything else."""
    if not groups.procs:
        return []
    return ["sh", "-c", _JOIN, "redfirst", str(len(groups.procs)), *groups.procs]


def _entering(pid: int) -> list[str]:
    return ["nsenter", "-U", "-m", "--preserve-credentials", "-t", str(pid), "--", "env", "-i"]


def _limit_words(limits: Limits, groups: Groups) -> str:
    """Shell words that set the limits of each process inside."""
    words = [
        "ulimit -c 0",
        f"ulimit -t {math.ceil(limits.cpu_s) + 2}",
        f"ulimit -f {limits.file_mb * 2048}",
        "ulimit -n 4096",
    ]
    if "pids" not in groups.paths and os.geteuid() != 0:
        words.append(f"ulimit -p {limits.processes}")
    return "; ".join(words)


def _end_of_signal(number: int, oom: bool, cpu_s: float, limits: Limits) -> End:
    if oom and number == signal.SIGKILL:
        return End.MEMORY
    if number == signal.SIGXCPU or (number == signal.SIGKILL and cpu_s >= limits.cpu_s):
        return End.CPU
    return End.FILE if number == signal.SIGXFSZ else End.SIGNALLED


def _join(root: str, path: str) -> str:
    return os.path.normpath(os.path.join(root, path))
