# SPDX-License-Identifier: Apache-2.0
"""`redfirst check`: does a change prove what it fixes?"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from redfirst.core.errors import UsageError
from redfirst.surfaces.cli.output import print_json, progress
from redfirst.surfaces.cli.session import gate_settings

if TYPE_CHECKING:
    from redfirst.gate.check.report import CheckReport

HELP = """Check a change: did its tests fail without it, and do they pass with it?

The tests that the change adds or alters run twice: with base's source, and as head has them.

Examples:

  redfirst check --base origin/main                    HEAD against its merge base with origin/main

  redfirst check --base main --head topic --json       the report as one JSON object

  redfirst check --base main --require all             every touched test must have failed first

  redfirst check --base v1.2 --no-behaviour-change     a refactor: the tests pass on both sides

Exit: 0 it holds; 1 it validly does not; 2 usage; 3 it could not be decided.
"""


class Needed(StrEnum):
    """How many of the touched tests must have failed first."""

    ONE = "one"
    ALL = "all"


def check(
    base: str = typer.Option(..., "--base", metavar="REF", help="What the change is based on."),
    head: str = typer.Option("HEAD", "--head", metavar="REF", help="The change; only commits count."),
    repo: Path = typer.Option(Path("."), "--repo", help="Git checkout."),
    direct: bool = typer.Option(False, "--direct", help="Compare with REF itself, not with the merge base."),
    require: Needed = typer.Option(Needed.ONE, "--require", help="Touched tests that must fail on base."),
    allow_new_api: bool = typer.Option(
        False, "--allow-new-api", help="A test of a name that base lacks counts as a proof."
    ),
    no_behaviour_change: bool = typer.Option(
        False, "--no-behaviour-change", help="A refactor: touched tests must pass on both sides."
    ),
    repeat: int = typer.Option(2, "--repeat", min=1, max=50, help="Runs on each side that must agree."),
    python: str | None = typer.Option(
        None, "--python", envvar="REDFIRST_PYTHON", help="Interpreter of the tests, on both sides."
    ),
    limit: list[str] = typer.Option([], "--limit", metavar="NAME=VALUE", help="wall_s, cpu_s, memory_mb, …"),
    scratch: Path | None = typer.Option(None, "--scratch", help="Folder for temporary workspaces."),
    sandbox: str = typer.Option(
        "bubblewrap", "--sandbox", envvar="REDFIRST_SANDBOX", help="bubblewrap, or plain."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the report as one JSON object alone."),
    summary: Path | None = typer.Option(None, "--summary", help="Append the report as Markdown to a file."),
    junit: Path | None = typer.Option(None, "--junit", help="Write the report as JUnit XML to a file."),
    annotations: bool | None = typer.Option(
        None,
        "--annotations/--no-annotations",
        help="GitHub annotations on stderr (default: where GITHUB_ACTIONS is true).",
    ),
    quiet: bool = typer.Option(False, "--quiet", help="No progress."),
) -> int:
    """Compare, run, decide, print; returns the exit code."""
    from redfirst.gate.check.checking import Question, check_change
    from redfirst.gate.check.policy import Policy, Require

    if require is Needed.ALL and no_behaviour_change:
        raise UsageError("--require all and --no-behaviour-change exclude each other", "leave one out")
    _writable(summary, junit)
    settings = gate_settings(
        repo,
        None,
        python=python,
        sandbox=sandbox,
        scratch=scratch,
        limits=limit,
        repeat=repeat,
        log=progress(quiet or as_json),
    )
    policy = Policy(Require(require.value), allow_new_api, no_behaviour_change)
    report = check_change(settings, Question(base, head, direct, policy))
    _write(report, summary, junit)
    if annotations is None:
        annotations = os.environ.get("GITHUB_ACTIONS") == "true"
    _print(report, annotations, as_json)
    return report.exit_code


def _writable(*paths: Path | None) -> None:
    """Tell before the runs, not after them, that a report cannot be written."""
    for path in paths:
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise UsageError(f"cannot write {path}", "name a file in a folder that is there")


def _print(report: CheckReport, annotations: bool, as_json: bool) -> None:
    if annotations:
        from redfirst.surfaces.github.annotations import print_annotations

        print_annotations(report)
    if as_json:
        print_json(report.record())
    else:
        from redfirst.surfaces.cli.check_table import show

        show(report)


def _write(report: CheckReport, summary: Path | None, junit: Path | None) -> None:
    try:
        if summary is not None:
            from redfirst.surfaces.github.summary import markdown

            with summary.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(markdown(report))
        if junit is not None:
            from redfirst.surfaces.github.junit import write_junit

            write_junit(report, junit)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename} ({error.strerror})", "name another file") from None
