# SPDX-License-Identifier: Apache-2.0
"""`redfirst gate`: judge one test bundle on one tree."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from redfirst.core.errors import UsageError
from redfirst.surfaces.cli.output import print_json, print_lines, progress
from redfirst.surfaces.cli.session import open_session

if TYPE_CHECKING:
    from redfirst.core.verdict import Verdict

HELP = """Judge one test bundle: what happens on this tree, and can the answer be trusted?

The bundle is a folder with test.patch, test_command and test_contract.json.

Examples:

  redfirst gate bundle --repo .                          must fail on Base (HEAD)

  redfirst gate bundle --repo . --source-patch fix.diff  must pass with the fix

  redfirst gate bundle --repo . --json > verdict.json    the verdict with its receipt

  redfirst gate bundle --repo . --verify-receipt verdict.json --rerun

Exit: 0 the wanted outcome, validly; 1 valid, the other outcome; 2 usage; 3 not valid.
"""


class Expect(StrEnum):
    """The outcome that is wanted."""

    FAIL = "fail"
    PASS = "pass"


def gate(
    bundle: Path = typer.Argument(..., help="Folder of the test bundle."),
    repo: Path = typer.Option(Path("."), "--repo", help="Git checkout, or a plain folder."),
    base: str | None = typer.Option(None, "--base", help="Commit to judge on (default: HEAD)."),
    source_patch: Path | None = typer.Option(
        None, "--source-patch", help="Diff of the source, relative to Base."
    ),
    expect: Expect | None = typer.Option(None, "--expect", help="Default: fail; pass with a source patch."),
    repeat: int = typer.Option(2, "--repeat", min=1, max=50, help="Runs that must agree."),
    python: str | None = typer.Option(
        None, "--python", envvar="REDFIRST_PYTHON", help="Interpreter of the tests."
    ),
    limit: list[str] = typer.Option([], "--limit", metavar="NAME=VALUE", help="wall_s, cpu_s, memory_mb, …"),
    scratch: Path | None = typer.Option(None, "--scratch", help="Folder for temporary workspaces."),
    sandbox: str = typer.Option(
        "bubblewrap", "--sandbox", envvar="REDFIRST_SANDBOX", help="bubblewrap, or plain."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the verdict object alone."),
    verify_receipt: Path | None = typer.Option(
        None, "--verify-receipt", help="Compare a saved verdict's digests."
    ),
    quiet: bool = typer.Option(False, "--quiet", help="No progress."),
    rerun: bool = typer.Option(False, "--rerun", help="With --verify-receipt: judge again and compare."),
) -> int:
    """Parse, judge, print; returns the exit code."""
    from redfirst.gate import load_bundle

    if rerun and verify_receipt is None:
        raise UsageError("--rerun needs --verify-receipt", "name the saved verdict")
    loaded = load_bundle(bundle)
    patch = read_input(source_patch, "source patch") if source_patch else None
    session = open_session(
        repo,
        base,
        python=python,
        sandbox=sandbox,
        scratch=scratch,
        limits=limit,
        repeat=repeat,
        log=progress(quiet or as_json),
    )
    if verify_receipt is not None:
        from redfirst.surfaces.cli.receipt import verify

        return verify(
            session, loaded, patch, read_input(verify_receipt, "receipt"), verify_receipt, rerun, as_json
        )
    verdict = session.judge(loaded, patch)
    return show(verdict, expect or (Expect.PASS if patch is not None else Expect.FAIL), as_json)


def show(verdict: Verdict, expect: Expect, as_json: bool) -> int:
    """Print a verdict and return the exit code for what was wanted."""
    from redfirst.gate.wire import verdict_record

    if as_json:
        print_json(verdict_record(verdict))
    else:
        print_lines(verdict_lines(verdict, expect))
    if not verdict.valid:
        return 3
    return 0 if verdict.outcome == expect.value else 1


def verdict_lines(verdict: Verdict, expect: Expect) -> list[str]:
    """A verdict for a person: kind first, then why, nodes, and the output where it helps."""
    word = verdict.outcome.upper() if verdict.outcome else "NOT VALID"
    lines = [f"{word}  {verdict.kind}", f"  {verdict.why}"]
    lines += [f"  also: {fault}" for fault in verdict.faults[1:6]]
    lines += [f"  {node.kind:<18} {node.node}" for node in verdict.nodes]
    if verdict.outcome is not None and verdict.outcome != expect.value:
        lines.append(f"  wanted: {expect.value}")
    receipt = verdict.receipt
    if receipt.runs:
        lines.append(
            f"  {len(receipt.runs)} run(s) in {receipt.seconds:.1f} s, sandbox {receipt.sandbox}, "
            f"environment {receipt.environment_kind}"
        )
        if receipt.sandbox == "plain":
            lines.append("  plain: nothing isolates the tests from this machine")
    if not verdict.valid and verdict.output:
        lines += ["", *("  | " + line for line in verdict.output.splitlines()[-40:])]
    return lines


def read_input(path: Path, what: str) -> bytes:
    """Content of an input file. Raises UsageError."""
    try:
        if path.exists() and not path.is_file() and path.parent != Path("/dev/fd"):
            raise UsageError(f"the {what} {path} is no file", "name a file")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the {what} {path} ({error.strerror})", "check the path") from None
