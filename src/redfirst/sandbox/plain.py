# SPDX-License-Identifier: Apache-2.0
"""The plain backend: a copied tree and process limits, no isolation; only when asked for by name."""

from __future__ import annotations

import math
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from redfirst.core.environment import Bind
from redfirst.core.errors import SandboxError
from redfirst.core.limits import Limits
from redfirst.sandbox.manifest import Manifest, compare, read_regular, scan, write_edit
from redfirst.sandbox.protocol import Change, Completed, End, FileEdit, Isolation
from redfirst.sandbox.supervise import Ended, Watch, feed, killed_by, supervise
from redfirst.sandbox.watchdog import tree_cpu_s, tree_memory_mb

_TAG = "REDFIRST_RUN"
_GUARANTEES = (
    ("filesystem", "none: the tests can write wherever this user can"),
    ("network", "none"),
    ("processes_killed", "process group and a mark, best effort"),
    ("environment", "cleared"),
    ("memory", "watchdog"),
    ("processes", "none"),
    ("cpu", "watchdog"),
    ("wall", "supervisor"),
    ("output", "supervisor"),
    ("file", "rlimit"),
    ("disk", "none"),
)


class PlainSandbox:
    """Workspaces that are copies below ``scratch``."""

    name = "plain"

    def __init__(self, scratch: Path | None = None) -> None:
        self._scratch = scratch

    def fresh(
        self,
        tree: Path,
        *,
        mount: str,
        layer: Path | None = None,
        binds: Sequence[Bind] = (),
        limits: Limits,  # noqa: ARG002
        copy: bool = False,  # noqa: ARG002 - it always is one
    ) -> PlainWorkspace:
        """A copy of ``tree``. Raises SandboxError when it cannot be made."""
        try:
            folder = Path(tempfile.mkdtemp(prefix="redfirst-plain-", dir=self._scratch)).resolve()
            root = folder / "tree"
            shutil.copytree(tree, root, symlinks=True)
            if layer:
                shutil.copytree(layer, root, symlinks=True, dirs_exist_ok=True)
            for bind in binds:
                _link(root, mount, bind)
        except (OSError, shutil.Error) as error:
            raise SandboxError(f"cannot copy the tree ({error})", "name another --scratch") from None
        return PlainWorkspace(folder, root)

    def guarantees(self) -> tuple[tuple[str, str], ...]:
        """Almost nothing, said plainly."""
        return _GUARANTEES


class PlainWorkspace:
    """One copied tree; ``mount`` is where the copy lies."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.mount = str(root)
        self._folder, self._root = folder, root
        self._before: Manifest = scan(str(root))

    def edit(self, edits: Sequence[FileEdit]) -> None:
        """Lay files."""
        for edit in edits:
            write_edit(str(self._root), edit)
        self._before = scan(str(self._root))

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str],
        limits: Limits,
        stdin: bytes = b"",
        binds: Sequence[Bind] = (),
        writable: Sequence[str] | None = None,  # noqa: ARG002 - cannot be kept here; guarantees say so
        network: bool = False,  # noqa: ARG002
    ) -> Completed:
        """Run one command in a session of its own."""
        private = Path(tempfile.mkdtemp(prefix="run-", dir=self._folder))
        tag = f"{private.name}-{os.getpid()}"
        for name in ("tmp", "home"):
            (private / name).mkdir()
        argv = [_outside(word, binds) for word in argv]
        read, write = os.pipe()
        whole = {"HOME": str(private / "home"), "TMPDIR": str(private / "tmp"), **env}
        whole |= {"REDFIRST_REPORT_FD": str(write), _TAG: tag}
        began = time.monotonic()
        try:
            process = subprocess.Popen(
                argv,
                cwd=self._root / cwd,
                env=whole,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(write,),
                start_new_session=True,
                preexec_fn=lambda: _limit(limits),
            )
        except OSError as error:
            os.close(read)
            return self._completed(Ended(status=127, err=str(error).encode()))
        finally:
            os.close(write)
        questions = (
            (End.CPU, lambda: tree_cpu_s(process.pid) > limits.cpu_s),
            (End.MEMORY, lambda: tree_memory_mb(process.pid) > limits.memory_mb),
        )
        feed(process, stdin)
        assert process.stdout is not None
        assert process.stderr is not None
        pipes = {"out": process.stdout.fileno(), "err": process.stderr.fileno(), "report": read}
        try:
            ended = supervise(process, pipes, limits, Watch(questions, lambda: _kill(process.pid)), began)
        finally:
            _kill(process.pid)
            _sweep(tag)
            os.close(read)
            process.stdout.close()
            process.stderr.close()
        return self._completed(ended)

    def _completed(self, ended: Ended) -> Completed:
        number = killed_by(ended.status)
        end = ended.reached or (End.EXITED if number is None else End.SIGNALLED)
        if end is End.SIGNALLED and number == signal.SIGXCPU:
            end = End.CPU
        if end is End.SIGNALLED and number == signal.SIGXFSZ:
            end = End.FILE
        return Completed(
            end=end,
            exit=ended.status if end is End.EXITED else None,
            signal=number,
            out=ended.out,
            err=ended.err,
            report=ended.report,
            reached=frozenset(),
            wall_s=ended.wall_s,
            cpu_s=round(ended.cpu_s, 3),
            peak_memory_mb=None,
            isolation=Isolation("plain", _GUARANTEES),
        )

    def changes(self) -> tuple[Change, ...]:
        """What differs from the copy plus the edits."""
        return compare(self._before, scan(str(self._root)), set())

    def read(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """At most ``limit`` bytes of a regular file, links not followed."""
        return read_regular(str(self._root), path, limit)

    def close(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _link(root: Path, mount: str, bind: Bind) -> None:
    """A bind inside the tree becomes a link; others are at their own place already."""
    prefix = mount.rstrip("/") + "/"
    if bind.inside.startswith(prefix):
        path = root / bind.inside.removeprefix(prefix)
        if not os.path.lexists(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(bind.host)


def _outside(word: str, binds: Sequence[Bind]) -> str:
    """Where a bound path lies on the host."""
    for bind in binds:
        if word == bind.inside or word.startswith(bind.inside.rstrip("/") + "/"):
            return bind.host + word.removeprefix(bind.inside.rstrip("/"))
    return word


def _limit(limits: Limits) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds = math.ceil(limits.cpu_s) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_mb << 20, limits.file_mb << 20))


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _sweep(tag: str) -> None:
    """Kill what left the group but kept the mark in its environment."""
    mark = f"{_TAG}={tag}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue
