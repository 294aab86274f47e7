# SPDX-License-Identifier: Apache-2.0
"""`redfirst reproduce`: from a bug report to a qualified failing test."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from redfirst.surfaces.cli.gate import Expect, verdict_lines
from redfirst.surfaces.cli.output import print_json, print_line, print_lines, progress
from redfirst.surfaces.cli.session import open_session

if TYPE_CHECKING:
    from redfirst.agents.runs import RunFolder
    from redfirst.agents.task import QualifiedBundle, Refusal
    from redfirst.gate.session import GateSession

HELP = """Write a regression test that fails on the bug for the reason reported, and prove it.

ISSUE is a text file with the report, or - for standard input. The checkout is not written to
unless --apply is given; the test, its command and its contract are kept in the run's folder.

Examples:

  redfirst reproduce issue.md --repo .

  redfirst reproduce issue.md --repo . --apply

  redfirst reproduce - --repo . --json < issue.md

Exit: 0 a test qualified; 1 none could be written honestly, and why; 2 usage; 3 could not be decided.
"""


def reproduce(
    issue: str = typer.Argument(..., help="File with the bug report, or -."),
    repo: Path = typer.Option(Path("."), "--repo", help="Git checkout, or a plain folder."),
    base: str | None = typer.Option(None, "--base", help="Buggy commit (default: HEAD)."),
    strategy: str = typer.Option("snippet", "--strategy", help="snippet: without a model."),
    python: str | None = typer.Option(
        None, "--python", envvar="REDFIRST_PYTHON", help="Interpreter of the tests."
    ),
    limit: list[str] = typer.Option([], "--limit", metavar="NAME=VALUE", help="wall_s, cpu_s, memory_mb, …"),
    scratch: Path | None = typer.Option(None, "--scratch", help="Folder for temporary workspaces."),
    sandbox: str = typer.Option(
        "bubblewrap", "--sandbox", envvar="REDFIRST_SANDBOX", help="bubblewrap, or plain."
    ),
    out: Path | None = typer.Option(None, "--out", help="Folder in which the run's folder is made."),
    apply: bool = typer.Option(False, "--apply", help="Add the qualified test to the checkout."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object alone."),
    quiet: bool = typer.Option(False, "--quiet", help="No progress."),
) -> int:
    """Parse, run the strategy, keep the run, print; returns the exit code."""
    from redfirst.agents.gateway import SessionGate
    from redfirst.agents.runs import RunFolder
    from redfirst.agents.strategies import strategy_named
    from redfirst.agents.task import Task
    from redfirst.surfaces.cli.folders import state_folder

    chosen = strategy_named(strategy)
    data = read_issue(issue)
    tell = progress(quiet or as_json)
    session = open_session(
        repo, base, python=python, sandbox=sandbox, scratch=scratch, limits=limit, log=tell
    )
    name = "standard input" if issue == "-" else Path(issue).name
    run = RunFolder.create(out or state_folder() / "runs", Path(issue).stem if issue != "-" else "report")
    run.write("issue.md", data)
    run.event("started", {"strategy": strategy})
    task = Task(data, name, submitted=run.submission, log=tell)
    try:
        result = chosen.reproduce(task, SessionGate(session))
    except BaseException as error:
        run.event("stopped", {"error": type(error).__name__, "what": str(error)})
        raise
    return _finish(result, run, session, apply=apply, as_json=as_json)


def read_issue(issue: str) -> bytes:
    """The report's bytes. Raises UsageError where there are none to read."""
    from redfirst.core.errors import UsageError

    limit = 8 << 20
    if issue == "-":
        return sys.stdin.buffer.read(limit)
    path = Path(issue)
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a file", "name the file that holds the report")
    try:
        with path.open("rb") as handle:
            return handle.read(limit)
    except OSError as error:
        raise UsageError(f"cannot read the report {path} ({error.strerror})", "check the path") from None


def _finish(
    result: QualifiedBundle | Refusal, run: RunFolder, session: GateSession, *, apply: bool, as_json: bool
) -> int:
    from redfirst.agents.task import Refusal

    facts = _run_facts(session)
    found = {runner: asdict(environment) for runner, environment in session.environments.items()}
    run.record("environment.json", found)
    if isinstance(result, Refusal):
        record = {
            **facts,
            "qualified": False,
            "reason": result.reason,
            "tried": list(result.tried),
            "lacks": list(result.lacks),
        }
        run.record("run.json", record)
        run.event("refused", {"reason": result.reason})
        if as_json:
            print_json({**record, "run": str(run.path)})
        else:
            print_lines(_refusal_lines(result, run.path))
        return 1 if result.decided else 3
    return _finish_qualified(result, run, session, facts, apply=apply, as_json=as_json)


def _finish_qualified(
    result: QualifiedBundle,
    run: RunFolder,
    session: GateSession,
    facts: dict[str, object],
    *,
    apply: bool,
    as_json: bool,
) -> int:
    from redfirst.gate.bundles import save_bundle
    from redfirst.gate.wire import verdict_record
    from redfirst.surfaces.cli.apply import apply_test

    save_bundle(result.bundle, run.path / "bundle")
    run.record("evidence.json", verdict_record(result.verdict))
    frozen = session.settings.store / result.bundle.digest
    record = {
        **facts,
        "qualified": True,
        "kind": result.verdict.kind,
        "strength": result.strength,
        "asserted": [asdict(one) for one in result.asserted],
        "frozen": str(frozen),
    }
    run.record("run.json", record)
    run.event("qualified", {"bundle": result.bundle.digest})
    applied = apply_test(session, result.bundle, run.path / "bundle") if apply else ()
    if as_json:
        print_json(
            {
                **record,
                "applied": list(applied),
                "run": str(run.path),
                "verdict": verdict_record(result.verdict),
            }
        )
        return 0
    print_line("The test:", style="bold")
    print_lines("  " + line for line in (result.bundle.patch or b"").decode("utf-8", "replace").splitlines())
    if result.asserted:
        print_line("What it asserts:", style="bold")
        print_lines(_asserted_lines(result))
    print_line("On this tree:", style="bold")
    print_lines("  " + line for line in verdict_lines(result.verdict, Expect.FAIL))
    print_lines(f"  added to the checkout: {path}" for path in applied)
    print_lines(
        [
            "",
            f"run     {run.path}",
            "again   "
            + shlex.join(
                ["redfirst", "gate", str(run.path / "bundle"), "--repo", str(session.settings.repo)]
            ),
        ]
    )
    return 0


def _asserted_lines(result: QualifiedBundle) -> list[str]:
    """One line an assertion, its strength in front; what holds already is told as such."""
    width = max(len(one.strength) for one in result.asserted)
    return [
        f"  {one.strength:<{width}}  {' '.join(one.what.split())}"
        + ("  (holds already)" if one.guard else "")
        for one in result.asserted
    ]


def _refusal_lines(refusal: Refusal, folder: Path) -> list[str]:
    lines = [f"no test: {refusal.reason}"]
    lines += [f"  tried: {text}" for text in refusal.tried]
    lines += [f"  the report lacks: {text}" for text in refusal.lacks]
    return [*lines, "", f"run     {folder}"]


def _run_facts(session: GateSession) -> dict[str, object]:
    import redfirst
    from redfirst.agents.runs import RUN_SCHEMA

    return {
        "schema": RUN_SCHEMA,
        "command": "reproduce",
        "redfirst": redfirst.__version__,
        "repo": str(session.settings.repo),
        "base_tree": session.base.tree,
        "base_commit": session.base.commit,
        "sandbox": session.settings.sandbox,
    }
