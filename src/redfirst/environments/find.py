# SPDX-License-Identifier: Apache-2.0
"""The environment of a checkout: what the user names, what lies there, what is active, or a built one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from pathlib import Path

from redfirst.core.environment import Environment
from redfirst.core.errors import EnvironmentFailed, UsageError
from redfirst.environments.build import build_environment
from redfirst.environments.crates import with_crates
from redfirst.environments.interpreter import Interpreter, find_executable, probe
from redfirst.environments.members import read_project
from redfirst.environments.mounts import Placement, environment_of, place, within
from redfirst.environments.project import Project, from_record
from redfirst.environments.records import load, record_file, save
from redfirst.environments.suits import fit
from redfirst.environments.toolchains import toolchain_environment
from redfirst.patches.base import PreparedBase
from redfirst.sandbox.protocol import Sandbox

_ASK_S = 20


class Origin(StrEnum):
    """How a candidate came to be considered; the order of the search."""

    NAMED = "named"
    CHECKOUT = "checkout"
    MANAGER = "manager"
    ACTIVE = "active"
    OWN = "own"
    PATH = "path"


#: Kept for the project by its developers: a doubt is told, but does not send the search on.
_MEANT = (Origin.CHECKOUT, Origin.MANAGER, Origin.ACTIVE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One interpreter that was looked at, and what spoke against it; no reasons: it suits."""

    origin: Origin
    executable: str
    version: str = ""
    against: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    interpreter: Interpreter | None = None
    placement: Placement | None = None

    @property
    def suits(self) -> bool:
        """Whether nothing rules it out and, unless it was meant for this project, nothing is doubtful."""
        return not self.against and (not self.doubts or self.origin in _MEANT)


def _silent(_text: str) -> None:
    """The default for callers that show no progress."""


def find_environment(
    repo: Path,
    base: PreparedBase,
    *,
    python: str | None,
    cache: Path,
    sandbox: Sandbox,
    build: bool = True,
    log: Callable[[str], None] = _silent,
    runner: str | None = None,
) -> Environment:
    """The Python environment in which the tests of ``repo`` run; ``repo`` may lie below the top of ``base``.

    ``runner``: the runner's name where it is known; what it needs is asked for whatever the tree says.
    Raises UsageError when a named interpreter does not start, EnvironmentFailed when nothing suits and
    nothing could be built.
    """
    project = project_of(base, cache)
    looked: list[Candidate] = []
    for candidate in candidates(repo, base, python=python, cache=cache, project=project, runner=runner):
        if candidate.suits:
            return _environment(candidate, base.root)
        looked.append(candidate)
    doubtful = [item for item in looked if not item.against]
    if runner in ("pytest", "django"):
        # a project without tests yet gets the runner that its first test needs
        project = replace(project, uses_pytest=runner == "pytest")
    if build:
        try:
            return build_environment(base, project, cache=cache, sandbox=sandbox, log=log)
        except EnvironmentFailed as failure:
            if not doubtful:
                raise
            log(f"{failure.what}; using {doubtful[0].executable}")
    if doubtful:
        return _environment(doubtful[0], base.root)
    raise EnvironmentFailed(_told(looked), "make a .venv in the checkout, or name one with --python EXE")


def environment_for(
    runner: str,
    repo: Path,
    base: PreparedBase,
    *,
    python: str | None,
    cache: Path,
    sandbox: Sandbox,
    build: bool = True,
    log: Callable[[str], None] = _silent,
) -> Environment:
    """The environment for one runner by name: a toolchain for cargo and node, else Python.

    Raises as find_environment does.
    """
    language = {"cargo": "rust", "node": "node"}.get(runner)
    if language is not None:
        found = toolchain_environment(language, base, cache=cache)
        if language == "rust" and build:
            return with_crates(found, base, cache=cache, sandbox=sandbox, log=log)
        return found
    return find_environment(
        repo, base, python=python, cache=cache, sandbox=sandbox, build=build, log=log, runner=runner
    )


def project_of(base: PreparedBase, cache: Path) -> Project:
    """The facts of Base's tree, kept by its hash."""
    path = record_file(cache, "projects", base.tree, *(field.name for field in fields(Project)))
    known = load(path)
    if known is None:
        project = read_project(base.tree_dir)
        save(path, asdict(project), ())
        return project
    return from_record(known)


def candidates(
    repo: Path,
    base: PreparedBase,
    *,
    python: str | None,
    cache: Path,
    project: Project,
    runner: str | None = None,
) -> Iterator[Candidate]:
    """Every candidate in the order of the search, each looked at only when asked for.

    A named interpreter is the only one, and suits if it starts; UsageError when it does not.
    """
    named = python or project.python
    if named:
        yield _named(named, Path.cwd() if python else base.root, base, project, cache)
        return
    seen: set[str] = set()
    wanted = runner or project.runner
    for origin, executable in _places(tuple(dict.fromkeys((repo.absolute(), base.root))), project):
        if executable in seen:
            continue
        seen.add(executable)
        candidate = _look(origin, executable, base, project, cache, wanted)
        if candidate.interpreter is not None and candidate.interpreter.executable != executable:
            if candidate.interpreter.executable in seen:
                continue
            seen.add(candidate.interpreter.executable)
        yield candidate


def _named(text: str, folder: Path, base: PreparedBase, project: Project, cache: Path) -> Candidate:
    executable = find_executable(text, folder)
    if executable is None:
        raise UsageError(
            f"no interpreter at {text!r}", "name a Python executable, or its environment's folder"
        )
    if _committed(executable, base):
        raise UsageError(f"{text!r} is a file of the checkout itself", "name an interpreter outside of it")
    found = probe(executable, base.root, cache)
    if isinstance(found, str):
        raise UsageError(f"{executable} {found}", "name a Python that starts with --python EXE")
    placement = place(found, project, base.root)
    if placement.problem:
        raise EnvironmentFailed(f"{executable} cannot be used: {placement.problem}", "install it elsewhere")
    return Candidate(Origin.NAMED, executable, found.version, interpreter=found, placement=placement)


def _look(
    origin: Origin,
    executable: str,
    base: PreparedBase,
    project: Project,
    cache: Path,
    runner: str,
) -> Candidate:
    if _committed(executable, base):
        return Candidate(origin, executable, against=("it is a file of the checkout itself",))
    found = probe(executable, base.root, cache)
    if isinstance(found, str):
        return Candidate(origin, executable, against=(found,))
    placement = place(found, project, base.root)
    fitness = fit(found, project, own=placement.own is not None, runner=runner)
    problems = (placement.problem,) if placement.problem else ()
    return Candidate(
        origin, executable, found.version, (*problems, *fitness.against), fitness.doubts, found, placement
    )


def _committed(executable: str, base: PreparedBase) -> bool:
    """Whether the checkout's own content, at Base or checked out now, decides what would be started.

    An interpreter is asked outside the sandbox, so one that a commit brought is never a candidate. In a
    plain folder nothing is committed.
    """
    if base.commit is None:
        return False
    folder = os.path.dirname(os.path.dirname(executable))
    spots = (executable, folder, os.path.realpath(executable), os.path.realpath(folder))
    roots = (str(base.root), os.path.realpath(base.root))
    inside = {os.path.relpath(spot, root) for spot in spots for root in roots if within(spot, root)} - {"."}
    if not inside:
        return False
    if any(os.path.lexists(base.tree_dir / path) for path in inside):
        return True
    argv = ["git", "--literal-pathspecs", "-C", str(base.root), "ls-files", "-z", "--", *sorted(inside)]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_ASK_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 0 or bool(done.stdout)


def _environment(candidate: Candidate, repo: Path) -> Environment:
    if candidate.interpreter is None or candidate.placement is None:
        raise EnvironmentFailed(f"{candidate.executable} does not start", "name another with --python EXE")
    found = environment_of(candidate.interpreter, candidate.placement, repo, candidate.origin.value)
    return replace(found, notes=candidate.doubts)


def _told(looked: list[Candidate]) -> str:
    reasons = (f"{item.executable} ({'; '.join(item.against[:3])})" for item in looked[:4])
    return "no interpreter here can run these tests: " + (", ".join(reasons) or "none was found")


def _places(folders: tuple[Path, ...], project: Project) -> Iterator[tuple[Origin, str]]:
    """(origin, executable) of everything that is there; managers are asked only when nothing before suits.

    ``folders``: what the user named, and the top of its checkout.
    """
    for folder in folders:
        yield from (
            (Origin.CHECKOUT, str(found / "bin" / "python")) for found in _checkout_environments(folder)
        )
    yield from ((Origin.MANAGER, str(found / "bin" / "python")) for found in _managed(folders[0], project))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        active = os.environ.get(name)
        if active and (executable := find_executable(active, folders[0])):
            yield Origin.ACTIVE, executable
    yield Origin.OWN, sys.executable
    for name in ("python3", "python"):
        path = shutil.which(name)
        if path:
            yield Origin.PATH, path


def _checkout_environments(repo: Path) -> Iterator[Path]:
    """Virtual environments in the checkout, where uv, pdm, poetry, tox, nox and people put them."""
    names = [os.environ.get("UV_PROJECT_ENVIRONMENT", ""), ".venv", "venv", ".env", "env", ".virtualenv"]
    yield from (repo / name for name in names if name and (repo / name / "pyvenv.cfg").is_file())
    for parent in (".tox", ".nox", ".hatch"):
        found = sorted((repo / parent).glob("*/pyvenv.cfg"), reverse=True)
        yield from (path.parent for path in found)
    try:
        chosen = (repo / ".pdm-python").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return
    if os.path.isfile(chosen):
        yield Path(chosen).parent.parent


def _managed(repo: Path, project: Project) -> Iterator[Path]:
    """Environments that a manager keeps elsewhere; only managers on PATH that the project uses are asked."""
    commands = {
        "poetry": ["poetry", "env", "info", "-p"],
        "hatch": ["hatch", "env", "find", "default"],
        "pipenv": ["pipenv", "--venv"],
    }
    for tool in project.tools:
        if shutil.which(tool) is None:
            continue
        try:
            done = subprocess.run(
                commands[tool],
                cwd=repo,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_ASK_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        folder = done.stdout.decode("utf-8", "replace").strip()
        if done.returncode == 0 and os.path.isfile(os.path.join(folder, "pyvenv.cfg")):
            yield Path(folder)
