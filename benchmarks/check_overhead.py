# SPDX-License-Identifier: Apache-2.0
"""What `redfirst check` takes on a change with ten tests, against running those tests bare.

A repository with one commit and a fix with ten tests, in two files. The bare command is ``pytest`` with the ten
ids on head; "bare, twice" is two of them for each side, as check runs each side twice. Both are timed in turn with
a warm environment and the start of the installed command included; the figures are medians. ``--test-seconds``
makes every test take time, since fixed costs weigh most on tests that take none. Printed as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import redfirst

COMMAND = Path(sys.executable).parent / "redfirst"
TESTS = 10
BROKEN = "def double(number):\n    return number + number % 7\n"
FIXED = "def double(number):\n    return 2 * number\n"
SETTINGS = '[project]\nname = "pair"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n'


def tests(first: int, seconds: float) -> str:
    """A file with five tests that fail without the fix."""
    lines = ["import time", "", "from pair.double import double", ""]
    for number in range(first, first + TESTS // 2):
        wait = [f"    time.sleep({seconds})"] if seconds else []
        lines += [
            "",
            f"def test_{number}():",
            *wait,
            f"    assert double({number + 10}) == {2 * (number + 10)}",
            "",
        ]
    return "\n".join(lines)


def repository(folder: Path, seconds: float) -> list[str]:
    """Two commits in ``folder``; the ids of the ten tests."""
    for name, text in {
        "pyproject.toml": SETTINGS,
        "pair/__init__.py": "",
        "pair/double.py": BROKEN,
        "tests/test_old.py": "def test_old():\n    assert True\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    (folder / "pair" / "double.py").write_text(FIXED, "utf-8")
    ids = []
    for file, first in (("tests/test_a.py", 0), ("tests/test_b.py", TESTS // 2)):
        (folder / file).write_text(tests(first, seconds), "utf-8")
        ids += [f"{file}::test_{number}" for number in range(first, first + TESTS // 2)]
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "fix")
    return ids


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def bare(folder: Path, ids: list[str]) -> float:
    """Seconds of one bare run of the ten tests."""
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *ids]
    began = time.perf_counter()
    done = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    spent = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"the ten tests should pass on head: {done.stdout.decode()}")
    return spent


def checked(folder: Path) -> tuple[float, float]:
    """Seconds of one check as the command takes them, and as its report counts them without its own start."""
    argv = [str(COMMAND), "check", "--base", "HEAD~1", "--python", sys.executable, "--json"]
    began = time.perf_counter()
    done = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    spent = time.perf_counter() - began
    report = json.loads(done.stdout or "{}")
    if done.returncode or report["labels"]["fail-to-pass"] != TESTS:
        sys.exit(f"the check should hold with ten proofs: {done.stdout.decode()}{done.stderr.decode()}")
    return spent, float(report["seconds"])


def main() -> int:
    """Prepare, measure in turn, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--test-seconds", type=float, default=0.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="redfirst-bench-") as name:
        work = Path(name)
        for variable in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
            os.environ[variable] = str(work / variable.lower())
        folder = work / "pair"
        ids = repository(folder, options.test_seconds)
        # two bare runs a side are four; one is timed before and one after each check
        rounds = [(bare(folder, ids), checked(folder), bare(folder, ids)) for _ in range(options.rounds + 1)][
            1:
        ]
    one = [(before + after) / 2 for before, _, after in rounds]
    whole = [seconds for _, (seconds, _), _ in rounds]
    inside = [seconds for _, (_, seconds), _ in rounds]
    print(
        json.dumps(
            {
                "benchmark": "check_overhead",
                "redfirst": redfirst.__version__,
                "machine": {
                    "python": platform.python_version(),
                    "cpus": os.cpu_count(),
                    "load": [round(value, 1) for value in os.getloadavg()],
                    "system": platform.platform(),
                },
                "rounds": options.rounds,
                "tests": TESTS,
                "seconds_a_test": options.test_seconds,
                "bare_once_s": round(statistics.median(one), 3),
                "bare_twice_on_each_side_s": round(4 * statistics.median(one), 3),
                "check_s": round(statistics.median(whole), 3),
                "check_without_start_s": round(statistics.median(inside), 3),
                "ratio": round(statistics.median(c / (4 * b) for c, b in zip(whole, one, strict=True)), 3),
                "ratio_to_two_runs": round(
                    statistics.median(c / (2 * b) for c, b in zip(whole, one, strict=True)), 3
                ),
            },
            indent=2,
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
