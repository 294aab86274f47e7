# SPDX-License-Identifier: Apache-2.0
"""Keeps `redfirst reproduce` honest: a bundle that the gate qualified, or a refusal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.journeys.shop import Shop

ROOT = Path(__file__).resolve().parents[2]
REPORT = """\
# split loses a cent

Sharing a bill loses money.

```python
>>> from till import split
>>> sum(split(100, 3))
99
```

I expected 100.
"""


def test_a_report_with_code_becomes_a_bundle_that_the_fix_passes(shop: Shop) -> None:
    report = shop.file("report.md", REPORT)
    runs = shop.folder / "runs"
    done = shop.call("reproduce", report, "--repo", ".", "--python", sys.executable, "--out", str(runs))
    assert done.exit == 0, done
    bundle = next(runs.glob("*/bundle"))
    kept = {path.name for path in bundle.parent.iterdir()}
    assert kept >= {
        "issue.md",
        "run.json",
        "environment.json",
        "events.jsonl",
        "evidence.json",
        "submissions",
    }
    environment = json.loads((bundle.parent / "environment.json").read_text())
    assert environment["pytest"]["python"] == sys.executable
    assert {path.name for path in bundle.iterdir()} >= {"test.patch", "test_command", "test_contract.json"}
    fix = shop.fix()
    judged = shop.call(
        "gate", str(bundle), "--python", sys.executable, "--json", "--source-patch", fix, "--repeat", "1"
    )
    assert (judged.exit, judged.verdict["kind"]) == (0, "passed"), judged
    assert shop.git("status", "--porcelain") == ""


def test_the_test_is_added_only_when_asked(shop: Shop) -> None:
    report = shop.file("report.md", REPORT)
    words = (
        "reproduce",
        report,
        "--repo",
        ".",
        "--python",
        sys.executable,
        "--out",
        str(shop.folder / "runs"),
    )
    assert shop.call(*words).exit == 0
    assert shop.git("status", "--porcelain") == ""
    done = shop.call(*words, "--apply")
    assert done.exit == 0, done
    changed = shop.git("status", "--porcelain").split()
    assert len(changed) == 2, changed
    assert changed[1].startswith("tests/")
    assert changed[1] in done.out


GUARDED = """\
# split loses a cent

```python
from till import split

sum(split(100, 3))  # gives 99, should be 100
sum(split(99, 3))  # correct
```
"""


def test_how_strong_each_assertion_is_and_which_holds_already_is_told(shop: Shop) -> None:
    report = shop.file("report.md", GUARDED)
    words = (
        "reproduce",
        report,
        "--repo",
        ".",
        "--python",
        sys.executable,
        "--out",
        str(shop.folder / "runs"),
    )
    told = json.loads(shop.call(*words, "--json").out)
    assert told["strength"] == "exact"
    assert told["asserted"] == [
        {"what": "100", "strength": "exact", "guard": False},
        {"what": "99", "strength": "exact", "guard": True},
    ]
    assert json.loads((Path(told["run"]) / "run.json").read_text())["asserted"] == told["asserted"]
    lines = shop.call(*words).out.splitlines()
    at = lines.index("What it asserts:")
    assert lines[at + 1 : at + 3] == ["  exact  100", "  exact  99  (holds already)"]


def test_an_assertion_that_only_rules_out_the_wrong_result_is_told_as_weak(shop: Shop) -> None:
    report = shop.file("report.md", REPORT.replace("I expected 100.", "That is wrong."))
    done = shop.call(
        "reproduce",
        report,
        "--repo",
        ".",
        "--python",
        sys.executable,
        "--out",
        str(shop.folder / "runs"),
        "--json",
    )
    assert json.loads(done.out)["strength"] == "not-this-value", done


def test_a_file_with_work_in_it_is_not_written_over(shop: Shop) -> None:
    report = shop.file("report.md", REPORT)
    words = (
        "reproduce",
        report,
        "--repo",
        ".",
        "--python",
        sys.executable,
        "--out",
        str(shop.folder / "runs"),
    )
    assert shop.call(*words, "--apply").exit == 0
    before = shop.git("diff")
    done = shop.call(*words, "--apply")
    assert done.exit == 2, done
    assert "by hand" in done.err
    assert shop.git("diff") == before


def test_a_report_of_what_does_not_happen_is_refused(shop: Shop) -> None:
    report = shop.file("report.md", REPORT.replace("99", "98").replace("split(100, 3)", "split(99, 3)"))
    done = shop.call(
        "reproduce", report, "--repo", ".", "--python", sys.executable, "--out", str(shop.folder)
    )
    assert done.exit == 1, done
    assert "Traceback" not in done.err


def test_a_report_in_prose_alone_is_refused(shop: Shop) -> None:
    report = shop.file("report.md", "Sharing a bill loses money. Please fix.\n")
    done = shop.call(
        "reproduce", report, "--repo", ".", "--python", sys.executable, "--out", str(shop.folder)
    )
    assert done.exit == 1, done
    assert "Traceback" not in done.err


def test_doctor_proves_the_environment(shop: Shop) -> None:
    done = shop.call("doctor", "--repo", ".", "--python", sys.executable)
    assert done.exit == 0, done


@pytest.mark.slow
def test_the_demo_ends_well(tmp_path: Path) -> None:
    reach = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "-d", str(tmp_path), "iniconfig"]
    if subprocess.run(reach, capture_output=True).returncode != 0:
        pytest.skip("pip cannot reach a package index")
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py")], capture_output=True, text=True, cwd="/"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Red on the bug, green on the fix." in done.stdout
