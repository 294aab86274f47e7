# SPDX-License-Identifier: Apache-2.0
"""`redfirst bench`: a strategy on data sets of real bugs, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from redfirst.surfaces.cli.output import print_json, print_line, print_lines, print_table, progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redfirst.bench.record import BugResult
    from redfirst.bench.run import Progress

HELP = """Measure a strategy on real bugs: run it, audit its tests, report.

A data set is named SCHEME:PLACE. There is pypi-releases:DIR, one folder a bug (docs/bench.md).
"""
RUN_HELP = """Reproduce every bug of a data set, and audit each qualified test.

The strategy sees a bug's report and its buggy release alone. A test that qualified is then judged on the
true fix, on another correct patch and on wrong ones. Results are one line a bug in RUN/results.jsonl;
called again with the same --out, only what is missing is run.

Examples:

  redfirst bench run --dataset pypi-releases:bugs --strategy snippet --out runs/first

  redfirst bench run --dataset pypi-releases:bugs --out runs/click --only 'click-*' --jobs 4

  redfirst bench run --dataset pypi-releases:bugs --out runs/first --retry-errors

Exit: 0 every bug was measured; 2 usage; 3 some could not be measured; 130 interrupted, results kept.
"""
REPORT_HELP = """Print the table of a bench run, with 95 % intervals.

Examples:

  redfirst bench report runs/first

  redfirst bench report runs/first --markdown > table.md

  redfirst bench report runs/first --json

Exit: 0 printed; 2 usage.
"""
LIST_HELP = """List the bugs of a data set.

Example:

  redfirst bench list --dataset pypi-releases:bugs

Exit: 0 printed; 2 usage.
"""

DATASET = typer.Option(..., "--dataset", metavar="SCHEME:PLACE", help="pypi-releases:DIR.")
ONLY = typer.Option(
    [], "--only", metavar="PATTERN", help="Ids to take: part of one, or with * and ?. Repeatable."
)
JSON = typer.Option(False, "--json", help="Print one JSON object alone.")


def run(
    dataset: str = DATASET,
    out: Path = typer.Option(..., "--out", metavar="RUN", help="Folder of the results, made or resumed."),
    strategy: str = typer.Option("snippet", "--strategy", help="snippet: without a model."),
    only: list[str] = ONLY,
    jobs: int = typer.Option(
        0, "--jobs", min=0, show_default="half of the processors", help="Bugs at a time."
    ),
    timeout: float = typer.Option(
        900, "--timeout", min=1, help="Seconds for reproducing one bug, and for auditing it."
    ),
    retry_errors: bool = typer.Option(False, "--retry-errors", help="Run bugs again that ended in an error."),
    limit: list[str] = typer.Option(
        [], "--limit", metavar="NAME=VALUE", help="Of each test run: wall_s, cpu_s, memory_mb, …"
    ),
    sandbox: str = typer.Option(
        "bubblewrap", "--sandbox", envvar="REDFIRST_SANDBOX", help="bubblewrap, or plain."
    ),
    as_json: bool = JSON,
    quiet: bool = typer.Option(False, "--quiet", help="No progress."),
) -> int:
    """Run, then print the totals; returns the exit code."""
    from redfirst.agents.strategies import strategy_named
    from redfirst.bench.dataset import open_dataset
    from redfirst.bench.run import BenchSettings, run_bench
    from redfirst.core.limits import Limits
    from redfirst.sandbox.select import open_sandbox
    from redfirst.surfaces.cli.folders import cache_folder, state_folder

    strategy_named(strategy)
    open_sandbox(sandbox)
    Limits().with_settings(limit)
    settings = BenchSettings(
        strategy=strategy,
        out=out,
        cache=cache_folder(),
        store=state_folder() / "bundles",
        sandbox=sandbox,
        limits=tuple(limit),
        jobs=jobs,
        seconds=timeout,
        only=tuple(only),
        retry_errors=retry_errors,
    )
    results = run_bench(open_dataset(dataset), settings, _teller(progress(quiet or as_json)))
    _print(results, as_json=as_json, table=False)
    if not as_json:
        print_lines(["", f"results  {out / 'results.jsonl'}", f"table    redfirst bench report {out}"])
    return 3 if any(item.error is not None for item in results) else 0


def report(
    folder: Path = typer.Argument(..., metavar="RUN", help="Folder of a bench run."),
    markdown: bool = typer.Option(False, "--markdown", help="A Markdown table."),
    as_json: bool = JSON,
) -> int:
    """Read the results and print them; returns the exit code."""
    from redfirst.bench.results import RESULTS_FILE, BenchFolder
    from redfirst.core.errors import UsageError

    results = sorted(BenchFolder(folder).results().values(), key=lambda item: item.instance_id)
    if not results:
        raise UsageError(f"{folder / RESULTS_FILE} has no results", "run `redfirst bench run --out` first")
    _print(results, as_json=as_json, table=True, markdown=markdown)
    return 0


def list_bugs(dataset: str = DATASET, only: list[str] = ONLY, as_json: bool = JSON) -> int:
    """Print id, release and runner of every bug; returns the exit code."""
    from redfirst.bench.dataset import open_dataset
    from redfirst.bench.run import chosen

    data = open_dataset(dataset)
    bugs = [data.instance(name) for name in chosen(data, only)]
    if as_json:
        print_json(
            [
                {
                    "instance_id": bug.instance_id,
                    "package": bug.package,
                    "base_version": bug.base_version,
                    "runner": bug.runner,
                    "title": bug.report.splitlines()[0],
                }
                for bug in bugs
            ]
        )
    else:
        print_table([(bug.instance_id, bug.runner, bug.report.splitlines()[0]) for bug in bugs])
    return 0


def _print(results: Sequence[BugResult], *, as_json: bool, table: bool, markdown: bool = False) -> None:
    from redfirst.bench.metrics import summarise
    from redfirst.bench.report import markdown_table, record_of, remarks, rows, totals

    summary = summarise(results)
    if as_json:
        print_json(record_of(results, summary))
        return
    if markdown:
        print_lines([*markdown_table(rows(results)), ""])
        print_lines(f"- {line}" for line in [*totals(summary), *remarks(results)])
        return
    if table:
        print_table(rows(results), title="Bugs")
        print_line()
    print_line("Totals, with 95 % intervals", style="bold")
    print_lines("  " + line for line in totals(summary))
    if table and (notes := remarks(results)):
        print_line("Notes", style="bold")
        print_lines("  " + line for line in notes)


def _teller(tell: Callable[[str], None]) -> Callable[[Progress], None]:
    def told(step: Progress) -> None:
        result = step.result
        if result.error is not None:
            text = f"error: {result.error}"
        elif result.refusal is not None:
            text = f"refused: {result.refusal}"
        else:
            text = "fail-to-pass" if result.fail_to_pass else "qualified, not fail-to-pass"
            text += f", balanced accuracy {result.balanced_accuracy or 0:.2f}"
        seconds = "" if result.seconds is None else f" ({result.seconds:.1f} s)"
        tell(f"[{step.number}/{step.total}] {result.instance_id}: {text[:200]}{seconds}")

    return told
