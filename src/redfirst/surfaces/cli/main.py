# SPDX-License-Identifier: Apache-2.0
"""The `redfirst` command: its list of commands; each lives in a file of its own."""

from __future__ import annotations

import typer

import redfirst
from redfirst.surfaces.cli import bench as bench_command
from redfirst.surfaces.cli import check as check_command
from redfirst.surfaces.cli import doctor as doctor_command
from redfirst.surfaces.cli import gate as gate_command
from redfirst.surfaces.cli import reproduce as reproduce_command
from redfirst.surfaces.cli.guard import guarded

app = typer.Typer(
    name="redfirst",
    help="From a bug report to a test that fails first, to a fix that is proven by it.\n\n"
    "Exit codes: 0 what was asked for holds; 1 it validly does not; 2 usage or configuration; "
    "3 could not be decided; 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"redfirst {redfirst.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Options that stand before a command."""


app.command("gate", help=gate_command.HELP, no_args_is_help=True)(guarded(gate_command.gate))
app.command("reproduce", help=reproduce_command.HELP, no_args_is_help=True)(
    guarded(reproduce_command.reproduce)
)
app.command("check", help=check_command.HELP, no_args_is_help=True)(guarded(check_command.check))
app.command("doctor", help=doctor_command.HELP)(guarded(doctor_command.doctor))

bench = typer.Typer(help=bench_command.HELP, no_args_is_help=True, rich_markup_mode=None)
bench.command("run", help=bench_command.RUN_HELP, no_args_is_help=True)(guarded(bench_command.run))
bench.command("report", help=bench_command.REPORT_HELP, no_args_is_help=True)(guarded(bench_command.report))
bench.command("list", help=bench_command.LIST_HELP, no_args_is_help=True)(guarded(bench_command.list_bugs))
app.add_typer(bench, name="bench")


def main() -> None:
    """Entry point of the installed command."""
    app(prog_name="redfirst")
