# SPDX-License-Identifier: Apache-2.0
"""Runs a toolchain's plan as a plain process, so that a runner can be tried apart from any sandbox."""

from __future__ import annotations

import os
import posixpath
import shutil
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.environment import Environment
from redfirst.core.evidence import Place, RunReport
from redfirst.runners.command import parse_command
from redfirst.runners.protocol import Plan, Runner
from redfirst.sandbox.protocol import Completed, End, Isolation

PROJECTS = Path(__file__).parents[1] / "projects"
_ENVIRONMENT = Environment("toolchain", None, None, "/workspace")


@dataclass(frozen=True, slots=True)
class Folder:
    """A project in a folder of its own; what lies in `tests/` or `test/` is test text."""

    root: Path
    prefix: str | None = None

    @property
    def mount(self) -> str:
        return str(self.root)

    def place(self, path: str) -> tuple[str, Place]:
        whole = posixpath.normpath(path)
        if not whole.startswith(f"{self.mount}/"):
            return path, Place.OUTSIDE
        relative = whole.removeprefix(f"{self.mount}/")
        return relative, Place.TEST if relative.split("/")[0] in ("test", "tests") else Place.SOURCE

    def read(self, path: str) -> bytes | None:
        try:
            return (self.root / path).read_bytes()
        except OSError:
            return None

    def owns_module(self, name: str) -> bool:
        return (self.root / f"{name}.py").exists()


def copy_project(name: str, folder: Path) -> Folder:
    """A private copy of one of the projects."""
    shutil.copytree(PROJECTS / name, folder / name)
    return Folder(folder / name)


def start(plan: Plan, folder: Folder, timeout: float = 100) -> Completed:
    """Run a plan to its end, all its processes included."""
    scratch = folder.root.parent / "tmp"
    scratch.mkdir(exist_ok=True)
    read, write = os.pipe()
    pieces: list[bytes] = []
    reader = threading.Thread(target=_drain, args=(read, pieces))
    reader.start()
    variables = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = subprocess.Popen(
        plan.argv,
        cwd=folder.root / plan.cwd,
        env={**variables, "TMPDIR": str(scratch), "REDFIRST_REPORT_FD": str(write), **dict(plan.env)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[write],
        start_new_session=True,
    )
    os.close(write)
    end = End.EXITED
    try:
        out, err = process.communicate(plan.stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        end = End.WALL
        out, err = process.communicate()
    reader.join()
    os.close(read)
    status = process.returncode
    if status < 0 and end is End.EXITED:
        end = End.SIGNALLED
    number = -status if status < 0 else None
    isolation = Isolation("none", ())
    return Completed(
        end,
        status if status >= 0 else None,
        number,
        out,
        err,
        b"".join(pieces),
        frozenset(),
        0.0,
        None,
        None,
        isolation,
    )


def _drain(handle: int, pieces: list[bytes]) -> None:
    while piece := os.read(handle, 65536):
        pieces.append(piece)


def observe(
    runner: Runner, command: str, folder: Folder, *, patched: tuple[str, ...] = (), collect_only: bool = False
) -> RunReport:
    """The report of one command in this folder."""
    selection = runner.recognise(parse_command(command.encode()))
    assert selection is not None
    plan = runner.plan(
        selection, _ENVIRONMENT, seed=0, shuffle=False, patched=patched, collect_only=collect_only
    )
    return runner.parse(plan, start(plan, folder), folder)
