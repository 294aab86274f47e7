# SPDX-License-Identifier: Apache-2.0
"""`redfirst check` on repositories of two commits, made from releases with a bug and their fixes.

Takes a folder of bugs (each with ``instance.json`` and ``hidden.json``), fetches the source distributions, builds
one repository for each scenario and one with a longer history, and compares what check says with what is expected.
Prints a table, or JSON with ``--json``; exit 1 if anything is not as expected.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from redfirst.bench.dataset import Workshop
from redfirst.bench.releases import release_folder
from redfirst.sandbox.select import open_sandbox

COMMAND = Path(sys.executable).parent / "redfirst"
IDLE = "\n\ndef test_that_never_failed():\n    assert {package}.__name__ == {package!r}\n"
FLAKY = (
    "\n\ndef test_of_an_order():\n    import {package}\n\n"
    "    assert ''.join({{{words}}}) == {order!r}, {package}.__name__\n"
)
NEW_NAME = "\n\ndef newly_made(value):\n    return [value, value]\n"


@dataclass(frozen=True, slots=True)
class Bug:
    """One bug of the folder as a checkout of the release that has it, and the files that fix it."""

    name: str
    package: str
    checkout: Path
    fixed: Path
    gold: tuple[str, ...]
    oracle: str
    tests: str

    def git(self, *words: str) -> None:
        who = ["-c", "user.name=maker", "-c", "user.email=maker@localhost", "-c", "core.autocrlf=false"]
        subprocess.run(["git", *who, *words], cwd=self.checkout, check=True, capture_output=True)

    def write(self, path: str, text: str, *, more: bool = False) -> None:
        """Write a file of the checkout, or add to it."""
        target = self.checkout / path
        target.parent.mkdir(parents=True, exist_ok=True)
        old = target.read_text("utf-8") if more and target.is_file() else ""
        target.write_text(old + text, "utf-8")

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def fix(self) -> None:
        """Lay the fixed release's files over the checkout."""
        for path in self.gold:
            target = self.checkout / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.fixed / path, target)

    @property
    def some_test_file(self) -> str:
        """The first plain file of tests."""
        found = sorted((self.checkout / self.tests).rglob("test_*.py"), key=lambda path: path.stat().st_size)
        plain = [path for path in found if b"\ndef test_" in path.read_bytes()]
        return str(plain[0].relative_to(self.checkout))


@dataclass(frozen=True, slots=True)
class Scenario:
    """One change and what check must say of it."""

    name: str
    bug: str
    change: Callable[[Bug], None]
    exit: int
    label: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What check said."""

    scenario: str
    bug: str
    exit: int
    expected_exit: int
    labels: dict[str, int]
    expected_label: str
    why: str
    seconds: float

    @property
    def right(self) -> bool:
        wanted = not self.expected_label or self.labels.get(self.expected_label, 0) > 0
        nothing = bool(self.expected_label) or not self.labels
        return self.exit == self.expected_exit and wanted and nothing


def good_test(bug: Bug) -> None:
    """A fix with a test that fails without it."""
    bug.fix()
    bug.write(f"{bug.tests}/test_of_the_fix.py", bug.oracle)


def idle_test(bug: Bug) -> None:
    """A fix with a test that passes without it."""
    bug.fix()
    text = f"import {bug.package}\n" + IDLE.format(package=bug.package)
    bug.write(f"{bug.tests}/test_of_the_fix.py", text)


def no_test(bug: Bug) -> None:
    """A fix alone."""
    bug.fix()


def new_api(bug: Bug) -> None:
    """A feature with its test."""
    bug.write(bug.gold[0], NEW_NAME, more=True)
    module = bug.gold[0].removeprefix("src/").removesuffix(".py").replace("/", ".")
    test = (
        f"from {module} import newly_made\n\n\ndef test_newly_made():\n    assert newly_made(1) == [1, 1]\n"
    )
    bug.write(f"{bug.tests}/test_newly_made.py", test)


def flaky_test(bug: Bug) -> None:
    """A fix with a test that turns on the order of a set."""
    bug.fix()
    listed = ", ".join(repr(word) for word in "abcdefgh")
    script = f"print(*{{{listed}}}, sep='')"
    argv, env = [sys.executable, "-c", script], {"PYTHONHASHSEED": "0"}
    order = subprocess.run(argv, env=env, capture_output=True, check=True).stdout.decode().strip()
    text = FLAKY.format(package=bug.package, words=listed, order=order)
    bug.write(f"{bug.tests}/test_of_the_fix.py", text.lstrip())


def refactor(bug: Bug) -> None:
    """Another layout of the same behaviour, with one existing test file altered."""
    path = bug.gold[0]
    bug.write(path, "\n\n_unused_now = object()\n", more=True)
    path = bug.some_test_file
    text = (bug.checkout / path).read_text("utf-8")
    at = text.index("\ndef test_")
    body = text.index(":\n", at) + 2
    bug.write(path, text[:body] + "    assert object() is not None\n" + text[body:])


def moved_tests(bug: Bug) -> None:
    """A fix beside which a test file only moves."""
    bug.fix()
    path = bug.some_test_file
    (bug.checkout / bug.tests / "moved").mkdir()
    package = Path(path).parent / "__init__.py"
    if (bug.checkout / package).is_file():
        bug.write(f"{bug.tests}/moved/__init__.py", "")
    bug.git("mv", path, f"{bug.tests}/moved/{Path(path).name}")


def settings_before(bug: Bug) -> None:
    """The runner's settings make a warning of the project's callers an error."""
    bug.write("pytest.ini", "[pytest]\nfilterwarnings =\n    error::UserWarning\n")


def settings_fixed(bug: Bug) -> None:
    """The fix edits configuration alone."""
    bug.write("pytest.ini", "[pytest]\nfilterwarnings =\n    default::UserWarning\n")
    test = f"import warnings\n\nimport {bug.package}\n\n\ndef test_a_warning_is_no_error():\n"
    test += f"    warnings.warn({bug.package}.__name__, UserWarning, stacklevel=1)\n"
    bug.write(f"{bug.tests}/test_settings.py", test)


SCENARIOS = (
    Scenario("good test", "sqlparse-0.5.0-split-multiple-case", good_test, 0, "fail-to-pass"),
    Scenario("test that never failed", "packaging-23.2-epoch-prefix-match", idle_test, 1, "pass-to-pass"),
    Scenario("no test", "boltons-26.1.0-reverse-lines-encoding", no_test, 1, ""),
    Scenario("new API", "boltons-26.1.0-reverse-lines-encoding", new_api, 1, "new API"),
    Scenario(
        "new API, allowed",
        "boltons-26.1.0-reverse-lines-encoding",
        new_api,
        0,
        "new API",
        ("--allow-new-api",),
    ),
    Scenario("flaky test", "mistune-3.1.3-heading-wide-space", flaky_test, 1, "flaky"),
    Scenario("refactor as a fix", "packaging-23.2-epoch-prefix-match", refactor, 1, "pass-to-pass"),
    Scenario(
        "refactor",
        "packaging-23.2-epoch-prefix-match",
        refactor,
        0,
        "pass-to-pass",
        ("--no-behaviour-change",),
    ),
    Scenario("tests moved", "tomlkit-0.13.2-array-remove-comma", moved_tests, 1, "pass-to-pass"),
    Scenario("fix of configuration", "mistune-3.1.3-heading-wide-space", settings_fixed, 0, "fail-to-pass"),
    Scenario("good test, all", "click-8.2.0-flag-with-explicit-type", good_test, 0, "fail-to-pass"),
)


def history_documents(bug: Bug) -> None:
    bug.write("README.rst", "\nOne more line.\n", more=True)


def history_tests(bug: Bug) -> None:
    text = f"import {bug.package}\n" + IDLE.format(package=bug.package)
    bug.write(f"{bug.tests}/test_more.py", text)


#: (message, change, exit, label): one project, commit after commit.
HISTORY: tuple[tuple[str, Callable[[Bug], None], int, str], ...] = (
    ("documents", history_documents, 0, ""),
    ("more tests", history_tests, 0, "pass-to-pass"),
    ("the fix with its test", good_test, 0, "fail-to-pass"),
    ("a feature", new_api, 1, "new API"),
    ("a refactor", refactor, 1, "pass-to-pass"),
)


def prepared(name: str, bugs: Path, workshop: Workshop, folder: Path) -> Bug:
    """A repository of one bug with one commit and an environment that it is installed in."""
    public = json.loads((bugs / name / "instance.json").read_text("utf-8"))
    hidden = json.loads((bugs / name / "hidden.json").read_text("utf-8"))
    buggy = release_folder(public["package"], public["base_version"], workshop)
    fixed = release_folder(public["package"], hidden["fixed_version"], workshop)
    shutil.copytree(buggy, folder, symlinks=True)
    oracle = (bugs / name / "oracle_test.py").read_text("utf-8")
    bug = Bug(
        name,
        public["import_name"],
        folder,
        fixed,
        tuple(hidden["gold"]["files"]),
        oracle,
        public["test_paths"][0],
    )
    bug.git("init", "-q", "-b", "main")
    (folder / ".git" / "info" / "exclude").write_text(".venv/\n*.egg-info/\n_version.py\n", "utf-8")
    _install(folder, public)
    return bug


def _install(folder: Path, public: dict[str, Any]) -> None:
    """The environment in the checkout, where check finds it by itself."""
    python = folder / ".venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", folder / ".venv"], check=True)
    pip = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    env = {**os.environ, **(public.get("install_env") or {})}
    for words in (public["requirements"], public["pip_install"].split()):
        subprocess.run([*pip, *words], cwd=folder, env=env, check=True, stdin=subprocess.DEVNULL)


def check(bug: Bug, options: Sequence[str], base: str = "HEAD~1") -> tuple[int, dict[str, Any], float]:
    """Run the installed command; exit code, report, seconds."""
    began = time.monotonic()
    argv = [str(COMMAND), "check", "--base", base, "--repo", str(bug.checkout), "--json", *options]
    done = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL)
    seconds = time.monotonic() - began
    if not done.stdout:
        sys.exit(done.stderr.decode())
    return done.returncode, json.loads(done.stdout), seconds


def outcome(name: str, bug: Bug, expected: tuple[int, str], options: Sequence[str]) -> Outcome:
    """Check the last commit of a repository."""
    code, report, seconds = check(bug, options)
    labels = {label: count for label, count in report["labels"].items() if count}
    return Outcome(
        name, bug.name, code, expected[0], labels, expected[1], report["why"][0], round(seconds, 1)
    )


def scenarios(bugs: Path, workshop: Workshop, work: Path) -> list[Outcome]:
    """Every scenario, the checkout of a bug made once and brought back for the next."""
    made: dict[str, Bug] = {}
    found: list[Outcome] = []
    for scenario in SCENARIOS:
        if scenario.bug not in made:
            made[scenario.bug] = prepared(scenario.bug, bugs, workshop, work / scenario.bug)
            made[scenario.bug].commit("the release with the bug")
        bug = made[scenario.bug]
        bug.git("switch", "-q", "-c", f"try-{len(found)}", "main")
        if scenario.change is settings_fixed:
            settings_before(bug)
            bug.commit("settings")
        scenario.change(bug)
        bug.commit(scenario.name)
        found.append(outcome(scenario.name, bug, (scenario.exit, scenario.label), scenario.options))
        bug.git("switch", "-q", "main")
    return found


def history(bugs: Path, workshop: Workshop, work: Path) -> list[Outcome]:
    """One project, each commit checked against the one before, and all of them against the first."""
    bug = prepared("sqlparse-0.5.0-split-multiple-case", bugs, workshop, work / "history")
    bug.commit("the release with the bug")
    found = []
    for message, change, code, label in HISTORY:
        change(bug)
        bug.commit(message)
        found.append(outcome(f"history: {message}", bug, (code, label), ()))
    code, report, seconds = check(bug, ("--allow-new-api",), base=f"HEAD~{len(HISTORY)}")
    labels = {label: count for label, count in report["labels"].items() if count}
    whole = Outcome(
        "history: all of it", bug.name, code, 0, labels, "fail-to-pass", report["why"][0], round(seconds, 1)
    )
    return [*found, whole]


def table(found: Sequence[Outcome]) -> str:
    """Aligned columns."""
    rows = [("scenario", "bug", "exit", "labels", "s", "")]
    for one in found:
        labels = ", ".join(f"{count} {label}" for label, count in one.labels.items()) or "none"
        verdict = "as expected" if one.right else f"WRONG: {one.why}"
        rows.append((one.scenario, one.bug, str(one.exit), labels, str(one.seconds), verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def main() -> int:
    """Make, check, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("bugs", type=Path, help="folder of bugs")
    parser.add_argument("--cache", type=Path, help="where releases are kept (default: a temporary folder)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="redfirst-check-") as name:
        work = Path(name)
        cache = options.cache or work / "cache"
        tell = lambda text: print(text, file=sys.stderr)  # noqa: E731
        workshop = Workshop(cache=cache, sandbox=open_sandbox(), log=tell)
        found = [*scenarios(options.bugs, workshop, work), *history(options.bugs, workshop, work)]
    if options.json:
        print(json.dumps([{**asdict(one), "right": one.right} for one in found], indent=2))
    else:
        print(table(found))
    return 0 if all(one.right for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
