# SPDX-License-Identifier: Apache-2.0
"""Keeps out a JavaScript verdict from a title that did not run, a hook, a mark, or a process that left early."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.runners.toolchain_driver import Folder, copy_project, observe, start

from redfirst.core.environment import Environment
from redfirst.core.errors import CommandRejected
from redfirst.core.evidence import Failure, Phase, PhaseOutcome, Place, RunReport, Trait
from redfirst.runners.command import parse_command
from redfirst.runners.node import NodeRunner
from redfirst.runners.protocol import Selection

RUNNER = NodeRunner()
FILE = "test/clock.test.js"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not on PATH")


def recognised(line: str) -> Selection:
    selection = RUNNER.recognise(parse_command(line.encode()))
    assert selection is not None
    return selection


def test_anchored_titles_are_recognised() -> None:
    found = recognised(r"cd pkg && node --test --test-name-pattern '^a \(b\) 1.5$' test/x.test.mjs")
    assert found.nodes == ("a (b) 1.5",)
    assert found.files == ("pkg/test/x.test.mjs",)
    assert RUNNER.recognise(parse_command(b"pytest a")) is None


@pytest.mark.parametrize(
    "line",
    [
        "node --test t.js",
        "node --test --test-name-pattern=^a$",
        "node --test-name-pattern=^a$ t.js",
        "node --test --test-name-pattern=a t.js",
        "node --test --test-name-pattern=^a t.js",
        "node --test --test-name-pattern='^a.*$' t.js",
        "node --test --test-name-pattern='^a|b$' t.js",
        "node --test --test-name-pattern='^[ab]$' t.js",
        r"node --test --test-name-pattern='^\w$' t.js",
        r"node --test --test-name-pattern='^a\$' t.js",
        "node --test --test-name-pattern=^a$ test/",
        "node --test --test-name-pattern=^a$ '*.js'",
        "node --test --test-name-pattern=^a$ ../t.js",
        "node --test --test-name-pattern=^a$ /t.js",
        "node --test --test-reporter=tap --test-name-pattern=^a$ t.js",
        "node --test --import=x --test-name-pattern=^a$ t.js",
        "node t.js",
    ],
)
def test_wider_or_other_commands_are_rejected(line: str) -> None:
    with pytest.raises(CommandRejected):
        recognised(line)


def test_names_match_whole_or_by_their_innermost_title() -> None:
    assert RUNNER.matches("a > b", "a > b")
    assert RUNNER.matches("b", "a > b")
    assert RUNNER.matches("b", "test/x.test.js::a > b")
    assert not RUNNER.matches("a", "a > b")
    assert not RUNNER.matches("test/x.test.js::b", "b")


def run(folder: Folder, *titles: str) -> RunReport:
    patterns = " ".join(f'--test-name-pattern="^{title}$"' for title in titles)
    return observe(RUNNER, f"node --test {patterns} {FILE}", folder, patched=(FILE,))


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return copy_project("clock", tmp_path_factory.mktemp("node"))


FAILURES = {
    "claims too much": (Place.TEST, {Trait.ASSERTION}),
    "no time at all": (Place.SOURCE, set()),
    "an unknown name": (Place.TEST, {Trait.NAME}),
    "a name the module lacks": (Place.TEST, {Trait.PROJECT_NAME_MISSING}),
    "throws itself": (Place.TEST, {Trait.RAISED_BY_TEXT}),
    "imports what is not there": (None, {Trait.MODULE_MISSING}),
    "imports its own that is not there": (None, {Trait.PROJECT_NAME_MISSING}),
    "evaluates nonsense": (Place.TEST, {Trait.EVALUATED_SYNTAX}),
    "a full disk in the cause": (Place.TEST, {Trait.RAISED_BY_TEXT, Trait.DISK}),
    "text that looks like a frame": (Place.TEST, {Trait.RAISED_BY_TEXT}),
    "waits too long": (None, {Trait.ASSERTION}),
    "has parts": (Place.TEST, {Trait.ASSERTION}),
}


@pytest.fixture(scope="module")
def failed(clock: Folder) -> RunReport:
    return run(clock, *FAILURES)


@needs_node
@pytest.mark.parametrize("title", FAILURES)
def test_a_failure_has_its_place_and_traits(failed: RunReport, title: str) -> None:
    node = next(node for node in failed.nodes if node.node == title)
    phase = node.phases[0]
    assert (phase.phase, phase.outcome) == (Phase.CALL, PhaseOutcome.FAILED)
    failure: Failure = phase.failures[0]
    place = failure.innermost.place if failure.innermost else None
    assert (place, failure.traits) == FAILURES[title]


@needs_node
def test_only_selected_tests_are_nodes(failed: RunReport) -> None:
    assert sorted(node.node for node in failed.nodes) == sorted(FAILURES)
    assert "a group > deeper > further inside" in failed.available
    assert (failed.problems, failed.tampering, failed.complete) == ((), (), True)


@needs_node
def test_marks_and_hooks_are_no_outcome_of_the_call(clock: Folder) -> None:
    titles = ("skipped", "to do", "needs set-up", "needs tear-down", "needs the group", "leaves the group")
    report = run(clock, "inside", "never runs", *titles)
    seen = {
        node.node.rpartition(" > ")[2]: {(phase.phase, phase.outcome) for phase in node.phases}
        for node in report.nodes
    }
    assert seen["inside"] == {(Phase.CALL, PhaseOutcome.PASSED)}
    assert seen["skipped"] == {(Phase.CALL, PhaseOutcome.SKIPPED)}
    assert seen["to do"] == {(Phase.CALL, PhaseOutcome.XFAILED)}
    assert seen["needs set-up"] == {(Phase.SETUP, PhaseOutcome.FAILED)}
    assert seen["needs tear-down"] == {(Phase.TEARDOWN, PhaseOutcome.FAILED)}
    assert (Phase.SETUP, PhaseOutcome.FAILED) in seen["needs the group"]
    assert (Phase.TEARDOWN, PhaseOutcome.FAILED) in seen["leaves the group"]
    assert "a skipped group > never runs" in report.deselected


@needs_node
def test_a_process_that_ends_inside_a_test_leaves_the_run_incomplete(clock: Folder) -> None:
    report = run(clock, "leaves")
    assert not report.complete
    assert all(not node.finished for node in report.nodes)


@needs_node
def test_a_title_that_nothing_has_runs_nothing(clock: Folder) -> None:
    report = run(clock, "no such title")
    assert (report.nodes, report.complete, report.problems) == ((), True, ())


@needs_node
def test_collecting_lists_and_runs_nothing(clock: Folder) -> None:
    command = f"node --test --test-name-pattern=^leaves$ {FILE}"
    report = observe(RUNNER, command, clock, patched=(FILE,), collect_only=True)
    assert report.nodes == ()
    assert "leaves" in report.available
    assert "a group > inside" in report.available


LOADING = {
    'import { nothing } from "../src/clock.js";': set(),
    'import "a-package-nobody-installed";': {Trait.MODULE_MISSING},
    'import "../src/nothing.js";': {Trait.PROJECT_NAME_MISSING},
    "const = 1;": set(),
    'throw new Error("at once");': {Trait.RAISED_BY_TEXT},
}


@needs_node
@pytest.mark.parametrize("line", LOADING)
def test_a_file_that_does_not_load_is_not_collected(tmp_path: Path, line: str) -> None:
    folder = copy_project("clock", tmp_path)
    text = f'import {{ test }} from "node:test";\n{line}\ntest("reads", () => {{}});\n'
    (folder.root / FILE).write_text(text)
    report = run(folder, "reads")
    assert report.nodes == ()
    assert [failure.traits for failure in report.collection_failures] == [LOADING[line]]


@needs_node
def test_what_goes_wrong_after_the_tests_is_their_tear_down(tmp_path: Path) -> None:
    folder = copy_project("clock", tmp_path)
    late = 'setTimeout(() => { throw new Error("late"); }, 20);'
    for body, hook in ((late, ""), ("", 'after(() => { throw new Error("last"); });')):
        text = f'import {{ after, test }} from "node:test";\n{hook}\ntest("reads", () => {{ {body} }});\n'
        (folder.root / FILE).write_text(text)
        phases = run(folder, "reads").nodes[0].phases
        assert [phase.phase for phase in phases] == [Phase.CALL, Phase.TEARDOWN]
    (folder.root / FILE).write_text(
        'import { test } from "node:test";\ntest("reads", () => { process.exitCode = 3; });\n'
    )
    assert run(folder, "reads").problems


@needs_node
def test_a_line_in_the_pipe_that_is_not_signed_is_tampering(clock: Folder) -> None:
    selection = recognised(f'node --test --test-name-pattern="^reads a time$" {FILE}')
    environment = Environment("toolchain", None, None, "/workspace")
    plan = RUNNER.plan(selection, environment, seed=0, shuffle=False, patched=())
    completed = start(plan, clock)
    forged = replace(completed, report=completed.report + b'00 {"type":"end"}\n')
    assert RUNNER.parse(plan, completed, clock).tampering == ()
    assert RUNNER.parse(plan, forged, clock).tampering
