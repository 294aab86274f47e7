# SPDX-License-Identifier: Apache-2.0
"""What a Python run reports apart from its tests: writes, network, origins, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.environment import Bind, Environment
from redfirst.core.errors import EnvironmentFailed
from redfirst.core.evidence import Failure, NodeResult, Place, RunReport
from redfirst.runners.protocol import Plan, Project, Selection
from redfirst.runners.python_channel import Event, Stream
from redfirst.sandbox.protocol import Completed, End

HARNESS = Path(__file__).parent / "harness"
HARNESS_INSIDE = "/redfirst/harness"
#: Exit status of the harness when it can no longer write its report.
UNREPORTABLE = 119
_SEEDS = 2**32


def python_argv(environment: Environment, selection: Selection, runner: str) -> tuple[str, ...]:
    """The interpreter with the command's options and the harness. Raises EnvironmentFailed without one."""
    if environment.python is None:
        raise EnvironmentFailed("the environment has no Python interpreter", "name one with --python")
    start = f"{HARNESS_INSIDE}/start.py"
    return (environment.python, *selection.interpreter_options, start, runner, "--")


def harness_bind() -> Bind:
    """The harness, read-only."""
    return Bind(str(HARNESS), HARNESS_INSIDE)


def hash_seed(seed: int) -> tuple[tuple[str, str], ...]:
    """The variables by which repeats differ."""
    return (("PYTHONHASHSEED", str(seed % _SEEDS)),)


@dataclass(frozen=True, slots=True)
class RunnerEnd:
    """How the runner says that it ended: its exit status, and what it raised if it raised."""

    status: int
    raised: Event | None


def end_of(stream: Stream) -> RunnerEnd | None:
    """The runner's own end, or None if it never announced one."""
    for event in stream.of("end"):
        return RunnerEnd(event.number("status") or 0, event.record("raised"))
    return None


def tampering_seen(stream: Stream, project: Project) -> tuple[str, ...]:
    """Writes to what a test may not touch, and foreign lines in the report."""
    found = ["the report holds lines that the harness did not write"] if stream.forged else []
    for event in stream.of("write"):
        path = event.text("path")
        whose = _protected(path, project)
        if whose:
            found.append(f"{whose} was written while the tests ran: {event.text('what')} {path}")
    found += [
        f"a function of the runner was replaced: {event.text('name')}" for event in stream.of("altered")
    ]
    for event in stream.of("registered"):
        if project.place(event.text("file"))[1] is not Place.OUTSIDE:
            found.append(f"a test registered a plugin while it ran: {event.text('name')}")
    return tuple(found)


def _protected(path: str, project: Project) -> str:
    if path.startswith((HARNESS_INSIDE + "/", f"{HARNESS}/")):
        return "the harness"
    relative, place = project.place(path)
    if path.endswith(".pyc"):
        return "a bytecode cache"
    if place is Place.OUTSIDE:
        inside = bool(project.prefix) and path.startswith(f"{project.prefix}/")
        return "the environment" if inside or "-packages/" in path else ""
    if relative == ".git" or relative.startswith(".git/"):
        return "Git state"
    if place is Place.SOURCE and project.read(relative) is not None:
        return "source"
    return ""


def network_attempted(stream: Stream) -> bool:
    """Whether something outside the machine was asked for."""
    return bool(stream.of("network"))


def origins_of(stream: Stream, project: Project) -> tuple[tuple[str, str], ...]:
    """(module, file) of the imported modules whose top-level name is the project's."""
    pairs = [value.partition("\t") for event in stream.of("origins") for value in event.texts("values")]
    return tuple((name, file) for name, _, file in pairs if project.owns_module(name.partition(".")[0]))


def checked_report(
    stream: Stream,
    project: Project,
    *,
    nodes: tuple[NodeResult, ...],
    collection: tuple[Failure, ...],
    skips: tuple[str, ...],
    not_found: tuple[str, ...],
    interrupted: bool,
    complete: bool,
    problems: Iterable[str],
) -> RunReport:
    """The report of one run: what its adapter found out, and what every Python run tells in the same way."""
    return RunReport(
        nodes=nodes,
        selected=values(stream.of("selected")),
        deselected=values(stream.of("deselected")),
        available=values(stream.of("available")),
        collection_failures=collection,
        collection_skips=skips,
        not_found=not_found,
        interrupted=interrupted,
        complete=complete,
        problems=tuple(dict.fromkeys(problems)),
        tampering=tampering_seen(stream, project),
        network_attempted=network_attempted(stream),
        origins=origins_of(stream, project),
        notes=tuple(f"{e.text('name')} {e.text('version')}" for e in stream.of("runner")),
    )


def values(events: Iterable[Event]) -> tuple[str, ...]:
    """The texts of list events, each once, in order."""
    return tuple(dict.fromkeys(value for event in events for value in event.texts("values")))


def end_problems(
    completed: Completed, end: RunnerEnd | None, *, failed: bool, interrupted: bool
) -> list[str]:
    """Contradictions between what was reported and the status of the process.

    ``failed``: whether the report holds a failure. A process that a signal or a limit ended explains itself.
    """
    if completed.end is not End.EXITED:
        return []
    if completed.exit == UNREPORTABLE and end is None:
        return ["the report could not be written to its end"]
    if end is None or interrupted:
        return []
    problems = []
    if completed.exit != end.status:
        problems.append(f"the runner ended with status {end.status}, the process with {completed.exit}")
    if failed and completed.exit == 0:
        problems.append("a failure was reported, but the exit status is 0")
    if not failed and completed.exit == 1:
        problems.append("no failure was reported, but the exit status is 1")
    return problems


def plan_of(selection: Selection, argv: tuple[str, ...], seed: int, stdin: bytes, key: bytes) -> Plan:
    """The plan of one instrumented Python run."""
    return Plan(
        argv=argv,
        cwd=selection.command.cd or ".",
        env=hash_seed(seed),
        binds=(harness_bind(),),
        stdin=stdin,
        secret=key,
    )
