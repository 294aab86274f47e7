# SPDX-License-Identifier: Apache-2.0
"""Runs the plans of Python runners as plain processes, without any sandbox."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from redfirst.core.environment import Environment
from redfirst.core.evidence import Place, RunReport
from redfirst.runners.protocol import Command, Plan, Runner
from redfirst.sandbox.protocol import Completed, End, Isolation

TEST_FOLDERS = ("tests", "test")


@dataclass(frozen=True)
class FolderProject:
    """The patched tree as a folder; test paths by name alone."""

    root: Path
    prefix: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def mount(self) -> str:
        return str(self.root)

    def place(self, path: str) -> tuple[str, Place]:
        if not path.startswith(f"{self.root}/"):
            return path, Place.OUTSIDE
        relative = path[len(str(self.root)) + 1 :]
        parts = relative.split("/")
        is_test = any(part in TEST_FOLDERS for part in parts[:-1]) or parts[-1].startswith("test_")
        return relative, Place.TEST if is_test else Place.SOURCE

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def owns_module(self, name: str) -> bool:
        roots = [self.root, self.root / "src", self.root / "tests"]
        return any((root / name).is_dir() or (root / f"{name}.py").is_file() for root in roots)


def start(plan: Plan, root: Path, env: Mapping[str, str] | None = None, timeout: float = 60) -> Completed:
    """Run a plan as a plain process with a pipe for its report."""
    read, write = os.pipe()
    places = {bind.inside: bind.host for bind in plan.binds}
    argv = [_moved(word, places) for word in plan.argv]
    whole = {
        "PATH": os.environ["PATH"],
        "HOME": tempfile.gettempdir(),
        **dict(plan.env),
        **(env or {}),
        "REDFIRST_REPORT_FD": str(write),
    }
    before = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as given, os.fdopen(read, "rb") as report:
        given.write(plan.stdin)
        given.seek(0)
        child = subprocess.Popen(
            argv,
            cwd=root / plan.cwd,
            env=whole,
            stdin=given,
            stdout=out,
            stderr=out,
            pass_fds=(write,),
        )
        os.close(write)
        data = report.read()
        status = child.wait(timeout)
        out.seek(0)
        text = out.read()
    signalled = status < 0
    return Completed(
        End.SIGNALLED if signalled else End.EXITED,
        None if signalled else status,
        -status if signalled else None,
        text,
        b"",
        data,
        frozenset(),
        time.monotonic() - before,
        None,
        None,
        Isolation("none", ()),
    )


def _moved(word: str, places: Mapping[str, str]) -> str:
    for inside, host in places.items():
        if word.startswith(inside + "/"):
            return host + word[len(inside) :]
    return word


def environment(root: Path, python: str = sys.executable) -> Environment:
    """An environment for the driver; ``python`` runs the tests."""
    return Environment("test", python, None, str(root))


def observe(
    runner: Runner,
    root: Path,
    command: str,
    *,
    cd: str = ".",
    python: str = sys.executable,
    patched: tuple[str, ...] = (),
    seed: int = 0,
    shuffle: bool = False,
    collect_only: bool = False,
    env: Mapping[str, str] | None = None,
) -> RunReport:
    """Recognise, plan, run and parse one command (words split at spaces) in ``root``."""
    return observed(
        runner,
        root,
        tuple(command.split(" ")),
        cd=cd,
        python=python,
        patched=patched,
        seed=seed,
        shuffle=shuffle,
        collect_only=collect_only,
        env=env,
    )[0]


def observed(
    runner: Runner,
    root: Path,
    argv: tuple[str, ...],
    *,
    cd: str = ".",
    python: str = sys.executable,
    patched: tuple[str, ...] = (),
    seed: int = 0,
    shuffle: bool = False,
    collect_only: bool = False,
    env: Mapping[str, str] | None = None,
) -> tuple[RunReport, Completed]:
    """As `observe`, from an argv, with the finished process."""
    selection = runner.recognise(Command(cd, (), argv))
    assert selection is not None
    plan = runner.plan(
        selection,
        environment(root, python),
        seed=seed,
        shuffle=shuffle,
        patched=patched,
        collect_only=collect_only,
    )
    before = {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}
    completed = start(plan, root, env)
    return runner.parse(plan, completed, FolderProject(root, None, before)), completed


def interpreters() -> dict[str, str]:
    """Other Python interpreters of this machine that start, by version (``3.8``), oldest first."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    folders += [folder.parent / "bin" for folder in Path(sys.base_prefix).parent.glob("3.*/bin")]
    found = {}
    for minor in range(8, 15):
        for folder in folders:
            exe = folder / f"python3.{minor}"
            if f"3.{minor}" not in found and exe.is_file() and _starts(exe):
                found[f"3.{minor}"] = str(exe)
    return found


def _starts(exe: Path) -> bool:
    done = subprocess.run([exe, "-c", "import unittest, venv"], capture_output=True, check=False)
    return done.returncode == 0


def write_files(root: Path, files: Mapping[str, str]) -> Path:
    """Lay a small project into ``root``."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
