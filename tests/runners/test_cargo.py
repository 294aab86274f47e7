# SPDX-License-Identifier: Apache-2.0
"""Keeps out a Rust verdict that rests on anything but what libtest itself reported and the system confirmed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.runners.toolchain_driver import Folder, copy_project, observe

from redfirst.core.errors import CommandRejected
from redfirst.core.evidence import Failure, PhaseOutcome, Place, RunReport, Trait
from redfirst.runners.cargo import CargoRunner
from redfirst.runners.command import parse_command
from redfirst.runners.protocol import Selection

RUNNER = CargoRunner()
needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not on PATH")


def recognised(line: str) -> Selection:
    selection = RUNNER.recognise(parse_command(line.encode()))
    assert selection is not None
    return selection


def test_exact_paths_are_recognised() -> None:
    found = recognised("cd crate && cargo test --test ring -q -- --exact a::b c --nocapture --test-threads=1")
    assert found.nodes == ("a::b", "c")
    assert found.files == ("crate/tests/ring.rs",)
    assert recognised("cargo test --lib a::b -- --exact").nodes == ("a::b",)
    assert RUNNER.recognise(parse_command(b"pytest a")) is None


@pytest.mark.parametrize(
    "line",
    [
        "cargo test",
        "cargo test a",
        "cargo test --lib",
        "cargo test -- --exact",
        "cargo test a b -- --exact",
        "cargo test a -- --exact --ignored",
        "cargo test a -- --exact --include-ignored",
        "cargo test a -- --exact --test-threads=0",
        "cargo test --release a -- --exact",
        "cargo test --config x=1 a -- --exact",
        "cargo test --no-run a -- --exact",
        "cargo test --doc a -- --exact",
        "cargo test --test '../x' a -- --exact",
        "cargo test 'a b' -- --exact",
        "cargo test a:: -- --exact",
        "cargo run",
        "cargo",
        "cargo +nightly test a -- --exact",
    ],
)
def test_wider_or_other_commands_are_rejected(line: str) -> None:
    with pytest.raises(CommandRejected):
        recognised(line)


def test_names_match_whole_or_by_their_last_part() -> None:
    assert RUNNER.matches("a::b::test_x", "a::b::test_x")
    assert RUNNER.matches("test_x", "a::b::test_x")
    assert RUNNER.matches("test_x", "tests/w.rs::a::test_x")
    assert RUNNER.matches("test_x", "a::test_x::case_1_small")
    assert not RUNNER.matches("x", "a::b::test_x")
    assert not RUNNER.matches("b::test_x", "a::b::test_x")
    assert not RUNNER.matches("tests/w.rs::test_x", "test_x")
    assert not RUNNER.matches("a::b", "a::b::test_x")


def call(report: RunReport, name: str) -> tuple[PhaseOutcome, Failure | None]:
    node = next(node for node in report.nodes if node.node == name)
    assert len(node.phases) == 1
    phase = node.phases[0]
    return phase.outcome, phase.failures[0] if phase.failures else None


@pytest.fixture(scope="module")
def tally(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return copy_project("tally", tmp_path_factory.mktemp("rust"))


@pytest.fixture(scope="module")
def words(tally: Folder) -> RunReport:
    names = "place_outside ignored panics_never returns_an_error disk_is_full prints_half_a_line"
    command = f"cargo test --test words empty_text -- --exact {names}"
    return observe(RUNNER, command, tally, patched=("tests/words.rs",))


@needs_cargo
def test_a_consistent_run_has_no_problems(words: RunReport) -> None:
    assert (words.problems, words.complete, words.collection_failures) == ((), True, ())
    assert len(words.nodes) == 7
    assert "leaves" in words.available
    assert "leaves" not in [node.node for node in words.nodes]


@needs_cargo
def test_outcomes_are_those_of_libtest(words: RunReport) -> None:
    assert call(words, "empty_text") == (PhaseOutcome.PASSED, None)
    assert call(words, "prints_half_a_line") == (PhaseOutcome.PASSED, None)
    assert call(words, "ignored") == (PhaseOutcome.SKIPPED, None)


@needs_cargo
def test_a_panic_in_source_has_its_real_place(words: RunReport) -> None:
    failure = call(words, "place_outside")[1]
    assert failure is not None
    assert failure.innermost is not None
    assert (failure.innermost.path, failure.innermost.place) == ("src/count.rs", Place.SOURCE)
    assert failure.traits == frozenset()
    assert "index out of bounds" in failure.message


@needs_cargo
def test_other_ways_to_fail_are_told_apart(words: RunReport) -> None:
    missing = call(words, "panics_never")[1]
    returned = call(words, "returns_an_error")[1]
    full = call(words, "disk_is_full")[1]
    assert missing is not None
    assert returned is not None
    assert full is not None
    assert missing.traits == {Trait.ASSERTION}
    assert (returned.type, returned.traits) == ("Err", frozenset())
    assert full.traits == {Trait.DISK}


@needs_cargo
def test_a_line_in_a_test_module_of_a_source_file_is_test_text(tally: Folder) -> None:
    names = "count::tests::claims_too_much count::tests::counts_words"
    report = observe(RUNNER, f"cargo test --lib -- --exact {names}", tally, patched=("src/count.rs",))
    failure = call(report, "count::tests::claims_too_much")[1]
    assert failure is not None
    assert failure.innermost is not None
    assert failure.innermost.place is Place.TEST
    assert failure.traits == {Trait.ASSERTION}
    assert report.available == ("count::tests::claims_too_much", "count::tests::counts_words")


@needs_cargo
@pytest.mark.parametrize("name", ["leaves", "aborts"])
def test_a_process_that_ends_inside_a_test_leaves_the_run_incomplete(tally: Folder, name: str) -> None:
    report = observe(RUNNER, f"cargo test --test words {name} -- --exact", tally)
    assert not report.complete
    assert [(node.node, node.finished) for node in report.nodes] == [(name, False)]


@needs_cargo
def test_results_that_a_test_prints_contradict_the_second_record(tally: Folder) -> None:
    report = observe(RUNNER, "cargo test --test words forges -- --exact", tally)
    assert any("log" in problem for problem in report.problems)


@needs_cargo
def test_a_target_that_is_not_there_runs_nothing(tally: Folder) -> None:
    report = observe(RUNNER, "cargo test --test nowhere a -- --exact", tally)
    assert (report.nodes, report.collection_failures, report.complete) == ((), (), True)


@needs_cargo
def test_collecting_lists_and_runs_nothing(tally: Folder) -> None:
    command = "cargo test --test words leaves -- --exact"
    report = observe(RUNNER, command, tally, patched=("tests/words.rs",), collect_only=True)
    assert report.nodes == ()
    assert "leaves" in report.available
    assert report.complete


@needs_cargo
def test_what_does_not_compile_is_not_collected(tmp_path: Path) -> None:
    folder = copy_project("tally", tmp_path)
    file = folder.root / "tests" / "words.rs"
    file.write_text(file.read_text() + "\n#[test]\nfn wrong() { let _: u8 = tally::count::count(3); }\n")
    report = observe(RUNNER, "cargo test --test words wrong -- --exact", folder)
    assert [failure.type for failure in report.collection_failures] == ["error[E0308]"] * 2
    place = report.collection_failures[0].innermost
    assert place is not None
    assert (place.path, place.place) == ("tests/words.rs", Place.TEST)
    file.write_text("use serde::Deserialize;\n#[test]\nfn wrong() {}\n")
    report = observe(RUNNER, "cargo test --test words wrong -- --exact", folder)
    assert Trait.MODULE_MISSING in report.collection_failures[0].traits


@needs_cargo
def test_two_targets_with_one_path_are_told_apart(tmp_path: Path) -> None:
    folder = copy_project("tally", tmp_path)
    (folder.root / "tests" / "words.rs").write_text("#[test]\nfn same() {}\n")
    (folder.root / "tests" / "more.rs").write_text("#[test]\nfn same() { assert!(false); }\n")
    report = observe(RUNNER, "cargo test same -- --exact", folder)
    ids = {node.node for node in report.nodes}
    assert ids == {"tests/words.rs::same", "tests/more.rs::same"}
    assert report.problems == ()
