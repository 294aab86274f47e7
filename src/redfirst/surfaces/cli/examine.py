# SPDX-License-Identifier: Apache-2.0
"""Gathers what `redfirst doctor` tells: tools, sandbox, interpreters, and the collected suite."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import redfirst
from redfirst.core.environment import Bind, Environment
from redfirst.core.errors import EnvironmentFailed, SandboxError
from redfirst.core.limits import Limits
from redfirst.environments import collect_suite_path
from redfirst.environments.find import candidates, environment_for, project_of
from redfirst.environments.project import Project
from redfirst.environments.self_check import Check, check_sandbox
from redfirst.patches.base import PreparedBase, prepare_base
from redfirst.sandbox.protocol import Completed, End, Sandbox
from redfirst.sandbox.select import open_sandbox

SCHEMA_VERSION = 1
_TOOLS = (("git", "--version"), ("bwrap", "--version"), ("cargo", "--version"), ("node", "--version"))
_COLLECTOR = "/opt/redfirst/collect_suite.py"


@dataclass(frozen=True, slots=True)
class Tool:
    """A program on PATH; ``version`` is '' where it is missing."""

    name: str
    version: str
    path: str


@dataclass(frozen=True, slots=True)
class Looked:
    """An interpreter of the search; ``why`` it was not chosen, '' where it was or was not needed."""

    origin: str
    executable: str
    version: str
    chosen: bool
    why: str


@dataclass(frozen=True, slots=True)
class Suite:
    """The environment of one runner and what was collected in it. ``tests``: None if that is not known."""

    runner: str
    environment: str = ""
    kind: str = ""
    mount: str = ""
    fingerprint: str = ""
    notes: tuple[str, ...] = ()
    tests: int | None = None
    errors: int = 0
    told: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """All of it. ``problem``: the first thing that makes a judgement impossible, '' when there is none."""

    repo: str
    version: str
    tools: tuple[Tool, ...]
    sandbox: str
    guarantees: tuple[tuple[str, str], ...]
    checks: tuple[Check, ...]
    candidates: tuple[Looked, ...]
    suites: tuple[Suite, ...]
    problem: str

    def record(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"schema": SCHEMA_VERSION, "possible": not self.problem, **asdict(self)}


def examine(
    repo: Path,
    *,
    python: str | None,
    sandbox_name: str,
    build: bool,
    cache: Path,
    log: Callable[[str], None],
) -> Examination:
    """Look at everything once. Raises UsageError for what the caller named and cannot be."""
    tools = (Tool("python", sys.version.split()[0], sys.executable), *(_tool(*item) for item in _TOOLS))
    empty = Examination(str(repo), redfirst.__version__, tools, sandbox_name, (), (), (), (), "")
    try:
        base = prepare_base(repo, None, cache / "bases")
        project = project_of(base, cache)
        if python:
            list(candidates(repo, base, python=python, cache=cache, project=project))
        sandbox = open_sandbox(sandbox_name, scratch=None)
        checks = check_sandbox(sandbox, cache, base.tree_dir)
    except SandboxError as error:
        return replace(empty, problem=str(error))
    suites = tuple(
        _suite(runner, repo, base, python, cache, sandbox, build, log) for runner in _runners(project)
    )
    chosen = suites[0].environment if suites and suites[0].runner in ("pytest", "unittest", "django") else ""
    return replace(
        empty,
        guarantees=tuple(sandbox.guarantees()),
        checks=checks,
        candidates=tuple(_looked(repo, base, python, cache, project, chosen)) if chosen or not suites else (),
        suites=suites,
        problem=_problem(suites, () if sandbox_name == "plain" else checks),
    )


def _problem(suites: tuple[Suite, ...], checks: tuple[Check, ...]) -> str:
    """The first obstacle. Who asks for `plain` by name knows that it promises nothing."""
    broken = [item for item in checks if not item.holds and item.name in ("network", "variables", "scratch")]
    if broken:
        return f"the sandbox does not hold ({broken[0].name}: {broken[0].detail}): see the checks above"
    if not suites:
        return "no tests of a known kind are here: name another folder with --repo"
    return "" if any(not suite.problem for suite in suites) else suites[0].problem


def _tool(name: str, option: str) -> Tool:
    path = shutil.which(name)
    if path is None:
        return Tool(name, "", "")
    try:
        done = subprocess.run(
            [path, option], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return Tool(name, "", path)
    words = done.stdout.decode("utf-8", "replace").split()
    version = next((word.lstrip("v") for word in words if any(letter.isdigit() for letter in word)), "")
    return Tool(name, version, path)


def _runners(project: Project) -> tuple[str, ...]:
    """Which runners the checkout plainly has; Python's first."""
    names = {"python": project.runner, "rust": "cargo", "node": "node"}
    return tuple(names[language] for language in project.languages)


def _looked(
    repo: Path, base: PreparedBase, python: str | None, cache: Path, project: Project, chosen: str
) -> Iterator[Looked]:
    found = False
    for item in candidates(repo, base, python=python, cache=cache, project=project):
        executable = item.interpreter.executable if item.interpreter else item.executable
        mine = not found and executable == chosen
        found = found or mine
        reasons = (*item.against, *item.doubts)
        why = (
            "; ".join(reasons)
            if reasons
            else ""
            if mine
            else "not needed"
            if found
            else "another one was chosen"
        )
        yield Looked(item.origin.value, executable, item.version, mine, why)


def _suite(
    runner: str,
    repo: Path,
    base: PreparedBase,
    python: str | None,
    cache: Path,
    sandbox: Sandbox,
    build: bool,
    log: Callable[[str], None],
) -> Suite:
    try:
        environment = environment_for(
            runner, repo, base, python=python, cache=cache, sandbox=sandbox, build=build, log=log
        )
    except EnvironmentFailed as error:
        return Suite(runner, problem=str(error), told="not tried: there is no environment")
    log(f"collecting the {runner} tests")
    suite = Suite(
        runner,
        environment.python or environment.path[0],
        environment.kind,
        environment.mount,
        environment.fingerprint,
        environment.notes,
    )
    if runner == "node":
        return replace(suite, told="node has no way to collect without running")
    project = project_of(base, cache)
    if runner == "django":
        return _collected(suite, environment, base, sandbox, script=project.django_script)
    folders = [path.partition("[")[0] for path in project.members] if runner in ("pytest", "unittest") else []
    if not folders or "." in folders:
        return _collected(suite, environment, base, sandbox)
    return _together([_collected(suite, environment, base, sandbox, folder=name) for name in folders])


def _together(parts: list[Suite]) -> Suite:
    """One suite of the packages of a checkout, each collected in its own folder."""
    tests, errors = sum(part.tests or 0 for part in parts), sum(part.errors for part in parts)
    worst = next((part for part in parts if part.problem), parts[0])
    told = [f"{tests} tests, {errors} errors in {len(parts)} packages", *(p.told for p in parts if p.errors)]
    return replace(
        parts[0], tests=tests, errors=errors, told="; ".join(told), problem="" if tests else worst.problem
    )


def _collected(
    suite: Suite,
    environment: Environment,
    base: PreparedBase,
    sandbox: Sandbox,
    *,
    script: str = "",
    folder: str = ".",
) -> Suite:
    limits = Limits()
    collector = Bind(str(collect_suite_path()), _COLLECTOR)
    argv = [environment.python or "", _COLLECTOR, suite.runner, *([script] if script else [])]
    if suite.runner == "cargo":
        argv = ["cargo", "test", "--no-run", "--offline", "--quiet"]
    workspace = sandbox.fresh(
        base.tree_dir,
        mount=environment.mount,
        layer=Path(environment.layer) if environment.layer else None,
        binds=(*environment.binds, collector),
        limits=limits,
    )
    try:
        env = {**dict(environment.variables), "PATH": os.pathsep.join(environment.path)}
        done = workspace.run(argv, cwd=folder, env=env, limits=limits)
    finally:
        workspace.close()
    return _compiled(suite, done) if suite.runner == "cargo" else _counted(suite, done)


def _compiled(suite: Suite, done: Completed) -> Suite:
    if done.end is End.EXITED and done.exit == 0:
        return replace(suite, told="the tests compile")
    problem = f"the tests do not compile ({_last(done)}): try cargo test --no-run --offline"
    return replace(suite, told="the tests do not compile", problem=problem)


def _counted(suite: Suite, done: Completed) -> Suite:
    try:
        report = json.loads(done.report)
        tests, errors, first = (
            int(report["tests"]),
            int(report["errors"]),
            [str(item) for item in report["first"]],
        )
    except (ValueError, KeyError, TypeError):
        problem = f"the suite cannot be collected ({_last(done)}): see whether {suite.runner} works by hand"
        return replace(suite, told="nothing", problem=problem)
    told = f"{tests} tests, {errors} errors"
    problem = ""
    if tests == 0:
        problem = f"no test was collected ({first[0] if first else 'none found'}): see --python, or --repo"
    return replace(suite, tests=tests, errors=errors, told="; ".join((told, *first)), problem=problem)


def _last(done: Completed) -> str:
    lines = (done.out + b"\n" + done.err).decode("utf-8", "replace").strip().splitlines()
    ending = done.problem or (lines[-1].strip()[:200] if lines else "")
    return ending or (f"exit status {done.exit}" if done.end is End.EXITED else done.end.value)
