# SPDX-License-Identifier: Apache-2.0
"""Keeps `redfirst bench` honest: what is measured, what is kept over a kill, and what is never counted."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from tests.bench.tally import PROSE, Tally, add_bug


@pytest.fixture
def three(tally: Tally) -> Tally:
    """A bug that qualifies, a report without code, and a release that is not there."""
    add_bug(tally.bugs, "tally-1.0-last")
    add_bug(tally.bugs, "tally-1.0-prose", PROSE)
    add_bug(tally.bugs, "tally-9.9-gone", base_version="9.9")
    return tally


def test_a_run_measures_each_bug_and_reports_it(three: Tally) -> None:
    code, out, err = three.call("run", "--dataset", three.dataset, "--out", "run", "--jobs", "2")
    assert code == 3, (out, err)
    found = three.results("run")
    good = found["tally-1.0-last"]
    assert good["qualified"], (good, err)
    assert (good["kind"], good["fail_to_pass"]) == ("assertion_failed", True)
    assert good["accepted"] == ["gold", "correct", "wrong-1"]
    assert (good["rejected"], good["undecided"]) == (["wrong-2"], ["wrong-3"])
    assert good["balanced_accuracy"] == pytest.approx((1 + 1 / 3) / 2)
    assert 0 < good["seconds"] < 60
    kept = three.folder / "run" / good["run"]
    assert json.loads((kept / "audit" / "wrong-3.json").read_text())["kind"] == "source_patch_invalid"
    assert (kept / "bundle" / "test.patch").is_file()
    prose, gone = found["tally-1.0-prose"], found["tally-9.9-gone"]
    assert (prose["qualified"], prose["error"], bool(prose["refusal"])) == (False, None, True)
    assert (gone["qualified"], gone["refusal"]) == (False, None)
    assert "pip download" in gone["error"] or "tally==9.9" in gone["error"]
    _report_says(three)
    _again_is_nothing_new(three)


def _report_says(three: Tally) -> None:
    code, out, _ = three.call("report", "run", "--json")
    summary = json.loads(out)["summary"]
    assert code == 0
    assert (summary["fail_to_pass"]["count"], summary["fail_to_pass"]["total"]) == (1, 3)
    assert (summary["refusals"], summary["errors"], summary["undecided"]) == (1, 1, 1)
    assert summary["over_all"]["value"] == pytest.approx((2 / 3 + 0.5 + 0) / 3)
    code, text, _ = three.call("report", "run")
    assert code == 0
    assert "1 of 3 rejected" in text
    assert "median" in text
    code, table, _ = three.call("report", "run", "--markdown")
    assert table.startswith("| bug | test |")


def _again_is_nothing_new(three: Tally) -> None:
    before = (three.folder / "run" / "results.jsonl").read_bytes()
    code, _, err = three.call("run", "--dataset", three.dataset, "--out", "run")
    assert (code, "[1/" in err) == (3, False)
    assert (three.folder / "run" / "results.jsonl").read_bytes() == before
    code, _, err = three.call("run", "--dataset", three.dataset, "--out", "run", "--retry-errors")
    assert (code, "[1/1] tally-9.9-gone" in err) == (3, True)
    other = three.call("run", "--dataset", three.dataset, "--out", "run", "--limit", "wall_s=60")
    assert (other[0], "another limits" in other[2]) == (2, True)


def _wait_for(what: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not what.exists():
        assert time.monotonic() < end, what
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_is_finished_survives_a_stop(tally: Tally, number: signal.Signals) -> None:
    add_bug(tally.bugs, "a-prose", PROSE)
    add_bug(tally.bugs, "b-last")
    process = tally.start("run", "--dataset", tally.dataset, "--out", "run", "--jobs", "1")
    _wait_for(tally.folder / "run" / "bugs" / "b-last" / "issue.md")
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == (130 if number is signal.SIGINT else -signal.SIGKILL)
    assert list(tally.results("run")) == ["a-prose"]
    with (tally.folder / "run" / "results.jsonl").open("ab") as file:
        file.write(b'{"instance_id": "b-la')
    code, _, err = tally.call("run", "--dataset", tally.dataset, "--out", "run", "--jobs", "1")
    assert (code, "[1/1] b-last: fail-to-pass" in err) == (0, True), err
    assert tally.results("run")["b-last"]["fail_to_pass"]


def test_a_bug_that_takes_too_long_is_an_error_not_a_refusal(tally: Tally) -> None:
    endless = "It hangs\n\n```python\nimport time\nwhile True:\n    time.sleep(1)\n```\n\nIt should end.\n"
    add_bug(tally.bugs, "a-endless", endless)
    code, _, err = tally.call("run", "--dataset", tally.dataset, "--out", "run", "--timeout", "1")
    found = tally.results("run")["a-endless"]
    assert (code, found["refusal"]) == (3, None), err
    assert "longer than 1 s" in found["error"]


def test_the_hidden_side_is_not_needed_before_the_audit(tally: Tally) -> None:
    """The strategy's process works while the hidden files are gone; only the audit misses them."""
    folder = add_bug(tally.bugs, "a-last")
    for name in ("hidden.json", "wrong_patches.json", "correct_patch.diff"):
        os.remove(folder / name)
    code, _, _ = tally.call("run", "--dataset", tally.dataset, "--out", "run")
    found = tally.results("run")["a-last"]
    assert (code, found["qualified"]) == (3, False)
    assert "hidden.json" in found["error"]
    assert (tally.folder / "run" / "bugs" / "a-last" / "bundle" / "test.patch").is_file()


def test_code_of_a_report_cannot_read_the_data_set(tally: Tally) -> None:
    """The report's own code looks for the hidden file; where it could read it, its claim would hold."""
    folder = tally.bugs / "a-look"
    report = (
        "total() is wrong\n\n```python\n>>> import os\n"
        f">>> os.path.exists({str(folder / 'hidden.json')!r})\nTrue\n```\n\nI expected False.\n"
    )
    add_bug(tally.bugs, "a-look", report)
    tally.call("run", "--dataset", tally.dataset, "--out", "run")
    found = tally.results("run")["a-look"]
    assert (found["qualified"], found["error"]) == (False, None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--dataset", "bugs", "--out", "run"], "no data set 'bugs'"),
        (["run", "--dataset", "pypi-releases:none", "--out", "run"], "no folder at none"),
        (["run", "--dataset", "pypi-releases:bugs", "--out", "run"], "bugs has no bugs"),
        (["run", "--dataset", "pypi-releases:bugs", "--out", "run", "--strategy", "x"], "no strategy 'x'"),
        (["report", "none"], "has no results"),
    ],
)
def test_what_cannot_be_is_said(tally: Tally, words: list[str], said: str) -> None:
    code, _, err = tally.call(*words)
    assert (code, said in err) == (2, True), err


def test_bugs_are_listed_by_pattern(three: Tally) -> None:
    code, out, _ = three.call("list", "--dataset", three.dataset, "--only", "1.0", "--json")
    assert code == 0
    assert [bug["instance_id"] for bug in json.loads(out)] == ["tally-1.0-last", "tally-1.0-prose"]
