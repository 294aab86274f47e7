# SPDX-License-Identifier: Apache-2.0
"""Keeps a bench run's folder readable: each line whole, the last one of a bug counts, nothing is mixed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redfirst.bench.audit import audited
from redfirst.bench.metrics import summarise
from redfirst.bench.record import Answer, BugResult, Judgement, line_of, result_of
from redfirst.bench.report import markdown_table, record_of, remarks, rows, totals
from redfirst.bench.results import RESULTS_FILE, BenchFolder
from redfirst.core.errors import UsageError

texts = st.text(st.characters(codec="utf-8"), max_size=20)
judgements = st.builds(
    Judgement,
    patch=texts,
    answer=st.sampled_from(list(Answer)),
    kind=texts,
    why=texts,
    seconds=st.floats(0, 1000),
)
results = st.builds(
    BugResult,
    instance_id=texts,
    qualified=st.booleans(),
    kind=st.none() | texts,
    accepted=st.lists(texts, max_size=2).map(tuple),
    balanced_accuracy=st.none() | st.floats(0, 1),
    refusal=st.none() | texts,
    judgements=st.lists(judgements, max_size=2).map(tuple),
)


@given(results)
def test_a_line_gives_the_same_result_back(result: BugResult) -> None:
    line = line_of(result)
    assert "\n" not in line
    assert result_of(json.loads(line), "here") == result


def test_the_last_line_of_a_bug_counts_and_a_cut_one_does_not(tmp_path: Path) -> None:
    folder = BenchFolder(tmp_path)
    folder.add(BugResult("a", error="no network"))
    folder.add(BugResult("b", refusal="no code"))
    folder.add(BugResult("a", refusal="no code"))
    path = tmp_path / RESULTS_FILE
    path.write_bytes(path.read_bytes() + line_of(BugResult("c")).encode()[:40])
    assert {name: item.error for name, item in folder.results().items()} == {"a": None, "b": None}
    folder.add(BugResult("c"))
    assert list(folder.results()) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b'{"schema": 99}', b'{"schema": 1, "instance_id": "a", "new": 1}']
)
def test_a_line_that_is_no_result_is_told_with_its_place(tmp_path: Path, line: bytes) -> None:
    (tmp_path / RESULTS_FILE).write_bytes(line + b"\n")
    with pytest.raises(UsageError, match=r"results\.jsonl:1"):
        BenchFolder(tmp_path).results()


def test_two_benches_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        BenchFolder(tmp_path).held(),
        pytest.raises(UsageError, match="another bench"),
        BenchFolder(tmp_path).held(),
    ):
        pass


def test_other_settings_are_refused(tmp_path: Path) -> None:
    folder = BenchFolder(tmp_path)
    folder.settle({"strategy": "snippet", "dataset": "x"})
    folder.settle({"strategy": "snippet", "dataset": "x"})
    with pytest.raises(UsageError, match="another dataset"):
        folder.settle({"strategy": "snippet", "dataset": "y"})


def test_a_report_marks_what_is_no_clean_success() -> None:
    pairs = [("gold", Answer.REJECTED), ("correct", Answer.ACCEPTED), ("wrong-1", Answer.REJECTED)]
    pairs.append(("wrong-2", Answer.UNDECIDED))
    seen = tuple(Judgement(name, answer, "kind", "its | reason", 1.0) for name, answer in pairs)
    weak = audited(BugResult("weak", qualified=True, kind="assertion_failed", seconds=2.0), seen, 4.0)
    found = [weak, BugResult("none", refusal="no code", seconds=1.0), BugResult("lost", error="no sdist")]
    table = rows(found)
    assert table[1] == (
        "weak",
        "! assertion_failed",
        "rejected",
        "accepted",
        "1 of 2 rejected",
        "0.50",
        "2.0",
    )
    assert [row[1] for row in table[2:]] == ["refused", "error"]
    notes = remarks(found)
    assert notes[0].startswith(
        "weak: not fail-to-pass; gold rejected (kind: its | reason); wrong-2 undecided"
    )
    assert markdown_table(table)[1].startswith("| --- |")
    summary = summarise(found)
    assert "qualified 1 of 3 = 0.33 [0.06, 0.79]" in totals(summary)
    assert set(record_of(found, summary)) == {"summary", "bugs"}
