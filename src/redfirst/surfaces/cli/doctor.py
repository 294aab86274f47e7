# SPDX-License-Identifier: Apache-2.0
"""`redfirst doctor`: can a judgement be made here, and if not, what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from redfirst.surfaces.cli.output import print_error, print_json, print_line, print_table

if TYPE_CHECKING:
    from redfirst.surfaces.cli.examine import Examination

HELP = """Tell what is here, what the sandbox ensures, and how the tests of a checkout run.

The sandbox's promises are tried, and the environment is proven by collecting the test suite in it.

Examples:

  redfirst doctor --repo .

  redfirst doctor --repo . --python .venv/bin/python --json

Exit: 0 a judgement is possible; 2 usage; 3 it is not.
"""

_STYLES = {"ok": "green", "fails": "red", "chosen": "green", "missing": "yellow"}


def doctor(
    repo: Path = typer.Option(Path("."), "--repo", help="Git checkout, or a plain folder."),
    python: str | None = typer.Option(
        None, "--python", envvar="REDFIRST_PYTHON", help="Interpreter of the tests."
    ),
    sandbox: str = typer.Option(
        "bubblewrap", "--sandbox", envvar="REDFIRST_SANDBOX", help="bubblewrap, or plain."
    ),
    build: bool = typer.Option(True, "--build/--no-build", help="Build an environment if none suits."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object alone."),
) -> int:
    """Look, print; returns the exit code."""
    from redfirst.core.errors import UsageError
    from redfirst.surfaces.cli.examine import examine
    from redfirst.surfaces.cli.folders import cache_folder
    from redfirst.surfaces.cli.output import progress

    if not repo.is_dir():
        raise UsageError(f"there is no folder {repo}", "name the checkout with --repo")
    found = examine(
        repo.absolute(),
        python=python,
        sandbox_name=sandbox,
        build=build,
        cache=cache_folder(),
        log=progress(quiet=as_json),
    )
    if as_json:
        print_json(found.record())
    else:
        _show(found)
    if found.problem:
        if not as_json:
            print_error(f"no judgement is possible here: {found.problem}")
        return 3
    return 0


def _show(found: Examination) -> None:
    tools = [("redfirst", found.version, "")]
    tools += [(tool.name, tool.version or "missing", tool.path) for tool in found.tools]
    print_table(tools, title="Tools", styles=_STYLES)
    print_table(found.guarantees, title=f"Sandbox: {found.sandbox}")
    checks = [("ok" if item.holds else "fails", item.name, item.detail) for item in found.checks]
    print_table(checks, styles=_STYLES)
    for suite in found.suites:
        print_line(f"Tests: {suite.runner}", style="bold")
        rows = [("environment", suite.environment or "none"), ("fingerprint", suite.fingerprint[:16])]
        rows += [("mounted at", suite.mount), ("note", "; ".join(suite.notes))]
        rows.append(("collected", suite.told))
        print_table([row for row in rows if row[1]])
    if found.candidates:
        chosen = [
            ("chosen" if item.chosen else "", item.origin, item.executable, item.why)
            for item in found.candidates
        ]
        print_table(chosen, title="Interpreters, in the order of the search", styles=_STYLES)
    if not found.problem:
        print_line("A judgement is possible here.", style="green")
