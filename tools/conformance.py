# SPDX-License-Identifier: Apache-2.0
"""Runs conformance cases through the public command and compares each verdict with what a case expects.

A folder of cases holds ``repos/NAME`` (plain folders), ``fixes/`` and one folder per case with ``case.json``
and ``bundle/``. A case conforms when the kind is an expected one, ``valid`` and ``outcome`` are those of that
kind, the exit code agrees, the checkout is as it was, and, where the case names a fix, the same bundle passes
with it. Usage: ``python tools/conformance.py CASES [--only core.json] [-k TEXT] [--jobs N] [--keep]``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redfirst.core.kinds import FailureKind

CALL_SECONDS = 600
SANDBOX_TOOLS = ("bwrap", "docker", "podman", "unshare")
HOLDERS = frozenset({"bwrap", "unshare", "nsenter"})
GIT = ("git", "-c", "core.autocrlf=false", "-c", "core.fileMode=true", "-c", "commit.gpgSign=false")
WHO = ("-c", "user.name=conformance", "-c", "user.email=conformance@localhost")
EXIT_WANTED, EXIT_OTHER, EXIT_INVALID = 0, 1, 3


@dataclass(frozen=True, slots=True)
class Case:
    """One ``case.json`` with the folder it lies in; ``fix`` is a path below the folder of cases."""

    name: str
    folder: Path
    repo: str
    kinds: tuple[str, ...]
    source_patch: str | None
    wants: tuple[str, ...]
    limits: tuple[tuple[str, float], ...] = ()
    fix: str | None = None
    inject: str | None = None
    plant: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call of the command said; ``problem`` where it said nothing that can be read."""

    exit: int | None
    kind: str = "?"
    valid: bool | None = None
    outcome: str | None = None
    why: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; ``faults`` is empty when the case conforms."""

    case: Case
    got: str
    seconds: float
    faults: tuple[str, ...] = ()
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for all cases of one invocation."""

    cases: Path
    work: Path
    python: str
    command: tuple[str, ...]
    allow_missing: bool
    keep: bool


# Reading cases


def load(folder: Path) -> Case:
    """Read one case; unknown fields are ignored, a missing one raises KeyError."""
    data = json.loads((folder / "case.json").read_text("utf-8"))
    expect = data["expect"]
    return Case(
        name=folder.name,
        folder=folder,
        repo=data["repo"],
        kinds=(expect["kind"], *expect.get("kinds_ok", ())),
        source_patch=data.get("source_patch"),
        wants=tuple(data.get("wants", ())),
        limits=tuple(data.get("limits", {}).items()),
        fix=data.get("fix"),
        inject=data.get("inject"),
        plant=data.get("plant", {}),
    )


def chosen(cases: Path, only: str | None, text: str) -> list[Case]:
    """The cases to run, by name; ``only`` is a JSON list of names beside the cases or anywhere."""
    names = {path.parent.name for path in cases.glob("*/case.json")}
    if only is not None:
        listed = Path(only) if Path(only).is_file() else cases / only
        names &= set(json.loads(listed.read_text("utf-8")))
    return [load(cases / name) for name in sorted(names) if text in name]


# Comparing


def disagreements(answer: Answer, kinds: tuple[str, ...], wanted: tuple[str, ...]) -> list[str]:
    """Everything in which an answer is not what was expected; ``wanted`` holds the outcomes asked for."""
    if answer.problem:
        return [answer.problem]
    faults = []
    if answer.kind not in kinds:
        faults.append(f"kind {answer.kind}, expected {' or '.join(kinds)}: {answer.why}")
    if answer.kind not in {kind.value for kind in FailureKind}:
        return [*faults, f"{answer.kind} is no kind"]
    kind = FailureKind(answer.kind)
    outcome = None if kind.outcome is None else kind.outcome.value
    if (answer.valid, answer.outcome) != (kind.valid, outcome):
        faults.append(f"valid {answer.valid} and outcome {answer.outcome} do not belong to {kind}")
    exits = (
        {EXIT_INVALID} if outcome is None else {EXIT_WANTED if w == outcome else EXIT_OTHER for w in wanted}
    )
    if answer.exit not in exits:
        faults.append(f"exit {answer.exit}, expected {' or '.join(map(str, sorted(exits)))}")
    return faults


def wanted_outcomes(source_patch: Path | None) -> tuple[str, ...]:
    """What the command takes as wanted by default; both for an empty patch, which is Base."""
    if source_patch is None:
        return ("fail",)
    return ("pass",) if source_patch.read_bytes().strip() else ("fail", "pass")


# Preparing a checkout


def git(checkout: Path, *args: str) -> str:
    """Run git quietly in the checkout; raises CalledProcessError."""
    env = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run([*GIT, *WHO, *args], cwd=checkout, env=env, check=True, capture_output=True)
    return done.stdout.decode()


def prepare(case: Case, cases: Path, place: Path) -> Path:
    """Copy the repository below ``place``, commit everything once, and plant what the case asks for."""
    checkout = place / "checkout"
    shutil.copytree(cases / "repos" / case.repo, checkout, symlinks=True)
    for path in (checkout, *checkout.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o600)
    git(checkout, "init", "-q", "-b", "main")
    git(checkout, "config", "core.autocrlf", "false")
    git(checkout, "add", "-A", "-f")
    git(checkout, "commit", "-q", "-m", "base")
    for name, content in case.plant.get("beside_checkout", {}).items():
        (place / name).write_text(content, "utf-8")
    if "git_future" in case.plant:
        plant_future(checkout, cases / case.plant["git_future"])
    if case.inject == "base_object_missing":
        blob = git(checkout, "rev-parse", "HEAD:src/pyshop/cart.py").strip()
        (checkout / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    return checkout


def plant_future(checkout: Path, patch: Path) -> None:
    """Leave the fix on a branch, a tag and in the reflog, and return to Base."""
    git(checkout, "checkout", "-q", "-b", "fixed")
    git(checkout, "apply", str(patch.resolve()))
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "fixed")
    git(checkout, "tag", "v9.9")
    git(checkout, "checkout", "-q", "main")


def state(checkout: Path) -> tuple[str, str]:
    """What the gate may not change of a user's checkout: commit and status."""
    return git(checkout, "rev-parse", "HEAD"), git(checkout, "status", "--porcelain", "--ignored")


# Bringing faults about


def path_without_sandbox(place: Path) -> str:
    """A PATH of one folder with links to every program except the sandbox tools."""
    folder = place / "bin"
    folder.mkdir()
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        if not entry or not Path(entry).is_dir():
            continue
        for program in Path(entry).iterdir():
            link = folder / program.name
            if not link.is_symlink() and not program.name.startswith(SANDBOX_TOOLS):
                link.symlink_to(program.absolute())
    return str(folder)


def full_scratch(argv: list[str], scratch: Path) -> list[str]:
    """Wrap a command so that it sees a tmpfs of 16 KiB at ``scratch``; no one else does."""
    scratch.mkdir()
    flags = ["-m"] if os.geteuid() == 0 else ["-Urm"]
    script = 'mount -t tmpfs -o size=16k tmpfs "$0" && exec "$@"'
    return ["unshare", *flags, "sh", "-c", script, str(scratch), *argv, "--scratch", str(scratch)]


def processes() -> Iterator[tuple[int, int, str]]:
    """Every process as (pid, parent, name); what ends while it is read is left out."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                name, _, rest = (entry / "stat").read_text("utf-8", "replace").rpartition(")")
            except OSError:
                continue
            yield int(entry.name), int(rest.split()[1]), name.partition("(")[2]


def outermost_sandbox(gate: int) -> int | None:
    """The sandbox process nearest to the gate among its descendants, or None."""
    children: dict[int, list[tuple[int, str]]] = {}
    for pid, parent, name in processes():
        children.setdefault(parent, []).append((pid, name))
    level = children.get(gate, [])
    while level:
        for pid, name in level:
            if name in HOLDERS:
                return pid
        level = [child for pid, _ in level for child in children.get(pid, [])]
    return None


def kill_sandbox(gate: subprocess.Popen[bytes]) -> None:
    """SIGKILL the outermost sandbox process that has lived for two seconds; returns when the gate ends."""
    seen: int | None = None
    since = time.monotonic()
    while gate.poll() is None:
        pid = outermost_sandbox(gate.pid)
        if pid != seen:
            seen, since = pid, time.monotonic()
        elif pid is not None and time.monotonic() - since >= 2:
            os.kill(pid, signal.SIGKILL)
            return
        time.sleep(0.05)


# Asking the gate


def ask(case: Case, settings: Settings, checkout: Path, source_patch: Path | None) -> Answer:
    """Run ``redfirst gate`` once and read its JSON."""
    place = checkout.parent
    argv = [*settings.command, "gate", str(case.folder / "bundle"), "--repo", str(checkout), "--json"]
    argv += ["--python", settings.python]
    if source_patch is not None:
        argv += ["--source-patch", str(source_patch)]
    for name, value in case.limits:
        argv += ["--limit", f"{name}={value}"]
    env = {**os.environ, **case.plant.get("env", {})}
    env |= {"XDG_CACHE_HOME": str(settings.work / "cache"), "XDG_STATE_HOME": str(settings.work / "state")}
    if case.inject == "sandbox_tool_missing":
        env["PATH"] = path_without_sandbox(place)
    if case.inject == "scratch_full":
        argv = full_scratch(argv, place / "scratch")
    gate = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=place
    )
    if case.inject == "sandbox_killed":
        threading.Thread(target=kill_sandbox, args=(gate,), daemon=True).start()
    try:
        out, err = gate.communicate(timeout=CALL_SECONDS)
    except subprocess.TimeoutExpired:
        gate.kill()
        gate.communicate()
        return Answer(None, problem=f"no answer in {CALL_SECONDS} s")
    return read_answer(gate.returncode, out, err)


def read_answer(exit_code: int, out: bytes, err: bytes) -> Answer:
    """The verdict object that must be alone on standard output."""
    try:
        data = json.loads(out.decode("utf-8"))
        return Answer(exit_code, data["kind"], data["valid"], data["outcome"], str(data.get("why", "")))
    except (ValueError, KeyError, TypeError) as error:
        tail = (out + err).decode("utf-8", "replace").strip()[-400:]
        return Answer(exit_code, problem=f"exit {exit_code}, no verdict ({error!r}): {tail}")


def run_case(case: Case, settings: Settings) -> Row:
    """Prepare, ask, compare; with a fix ask again with it."""
    started = time.monotonic()
    missing = [tool for tool in ("cargo", "node", "git") if tool in case.wants and shutil.which(tool) is None]
    if missing:
        fault = f"{', '.join(missing)} is not installed"
        return Row(case, "-", 0.0, (fault,), skipped=settings.allow_missing)
    place = settings.work / case.name
    place.mkdir()
    checkout = prepare(case, settings.cases, place)
    before = None if case.inject == "base_object_missing" else state(checkout)
    patch = case.folder / case.source_patch if case.source_patch else None
    answer = ask(case, settings, checkout, patch)
    faults = disagreements(answer, case.kinds, wanted_outcomes(patch))
    if case.fix is not None:
        fixed = ask(case, settings, checkout, settings.cases / case.fix)
        faults += [f"with the fix: {fault}" for fault in disagreements(fixed, ("passed",), ("pass",))]
    if before is not None and state(checkout) != before:
        faults.append("the checkout was changed")
    if not settings.keep:
        shutil.rmtree(place, ignore_errors=True)
    return Row(case, answer.kind, time.monotonic() - started, tuple(faults))


def guarded(case: Case, settings: Settings) -> Row:
    """A case that cannot be prepared or read is a failed row, not the end of the table."""
    try:
        return run_case(case, settings)
    except (OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
        return Row(case, "-", 0.0, (f"the case could not be run: {error!r}",))


# The command line


def show(row: Row) -> None:
    """One line for a row, and one for each fault."""
    mark = "skip" if row.skipped else "FAIL" if row.faults else "ok"
    print(f"{mark:4}  {row.case.name:46} {row.case.kinds[0]:21} {row.got:21} {row.seconds:6.1f}", flush=True)
    for fault in row.faults:
        print(f"      {fault}", flush=True)


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", type=Path, help="folder of cases")
    parser.add_argument("--only", help="JSON list of case names, e.g. core.json")
    parser.add_argument("-k", default="", metavar="TEXT", help="only cases whose name contains TEXT")
    parser.add_argument(
        "--jobs", type=int, default=max(1, min(4, os.cpu_count() or 1)), help="cases at a time"
    )
    parser.add_argument("--python", default=sys.executable, help="interpreter of the projects' tests")
    parser.add_argument("--keep", action="store_true", help="keep the prepared checkouts and say where")
    parser.add_argument("--allow-missing", action="store_true", help="a missing cargo or node is no failure")
    return parser.parse_args(argv)


def command() -> tuple[str, ...]:
    """The installed command beside this interpreter, else the one on PATH."""
    beside = Path(sys.executable).parent / "redfirst"
    found = str(beside) if beside.is_file() else shutil.which("redfirst")
    if found is None:
        sys.exit("the redfirst command is not installed: make test installs it in .venv")
    return (found,)


def main(argv: list[str] | None = None) -> int:
    """Run the chosen cases and print the table; 1 if any failed, 2 if there is none."""
    options = parse(argv)
    cases = options.cases.resolve()
    todo = chosen(cases, options.only, options.k)
    if not todo:
        print(f"no case in {options.cases} was chosen", file=sys.stderr)
        return 2
    work = Path(tempfile.mkdtemp(prefix="redfirst-conformance-"))
    settings = Settings(
        cases=cases,
        work=work,
        python=options.python,
        command=command(),
        allow_missing=options.allow_missing,
        keep=options.keep,
    )
    print(f"{'':4}  {'case':46} {'expected':21} {'got':21} {'s':>6}")
    rows = []
    try:
        with ThreadPoolExecutor(options.jobs) as pool:
            for row in pool.map(lambda case: guarded(case, settings), todo):
                show(row)
                rows.append(row)
    finally:
        if options.keep:
            print(f"kept: {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    failed = sum(1 for row in rows if row.faults and not row.skipped)
    skipped = sum(1 for row in rows if row.skipped)
    passed = len(rows) - failed - skipped
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
