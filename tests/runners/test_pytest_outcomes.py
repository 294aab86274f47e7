# SPDX-License-Identifier: Apache-2.0
"""Each way in which a pytest test can end keeps its own phase, outcome and traits."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.runners.python_driver import observe, observed

from redfirst.core.evidence import Phase, PhaseOutcome, Place, RunReport, Trait
from redfirst.runners.pytest_runner import PytestRunner

ZOO = Path(__file__).parent.parent / "projects" / "zoo"
FILE = "tests/test_zoo.py"

FAILED, SKIPPED = PhaseOutcome.FAILED, PhaseOutcome.SKIPPED

#: test → (phase, outcome, exception type, traits that must be there, place of the innermost own frame)
EXPECTED = {
    "test_asserts": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.TEST),
    "test_source_raises": (Phase.CALL, FAILED, "KeyError", set(), Place.SOURCE),
    "test_source_asserts": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.SOURCE),
    "test_fail_call": (Phase.CALL, FAILED, "Failed", {Trait.ASSERTION}, Place.TEST),
    "test_did_not_raise": (Phase.CALL, FAILED, "Failed", {Trait.ASSERTION}, Place.TEST),
    "test_raises_itself": (Phase.CALL, FAILED, "ValueError", {Trait.RAISED_BY_TEXT}, Place.TEST),
    "test_helper_raises": (Phase.CALL, FAILED, "ValueError", {Trait.RAISED_BY_TEXT}, Place.TEST),
    "test_raise_assertion": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.TEST),
    "test_name": (Phase.CALL, FAILED, "NameError", {Trait.NAME}, Place.TEST),
    "test_evaluated": (Phase.CALL, FAILED, "SyntaxError", {Trait.EVALUATED_SYNTAX}, Place.TEST),
    "test_own_exit": (Phase.CALL, FAILED, "SystemExit", {Trait.SYSTEM_EXIT, Trait.RAISED_BY_TEXT}, Place.TEST),
    "test_source_exit": (
        Phase.CALL, FAILED, "SystemExit", {Trait.SYSTEM_EXIT, Trait.RAISED_BY_TEXT}, Place.SOURCE,
    ),
    "test_missing_attribute": (Phase.CALL, FAILED, "AttributeError", {Trait.PROJECT_NAME_MISSING}, Place.TEST),
    "test_missing_keyword": (Phase.CALL, FAILED, "TypeError", {Trait.PROJECT_NAME_MISSING}, Place.TEST),
    "test_missing_import": (Phase.CALL, FAILED, "ImportError", {Trait.PROJECT_NAME_MISSING}, Place.TEST),
    "test_missing_project_module": (
        Phase.CALL, FAILED, "ModuleNotFoundError", {Trait.PROJECT_NAME_MISSING}, Place.TEST,
    ),
    "test_missing_module": (Phase.CALL, FAILED, "ModuleNotFoundError", {Trait.MODULE_MISSING}, Place.TEST),
    "test_missing_name_of_stdlib": (Phase.CALL, FAILED, "ImportError", {Trait.MODULE_MISSING}, Place.TEST),
    "test_chained_missing": (
        Phase.CALL, FAILED, "RuntimeError", {Trait.MODULE_MISSING, Trait.RAISED_BY_TEXT}, Place.SOURCE,
    ),
    "test_network": (Phase.CALL, FAILED, "OSError", {Trait.NETWORK_DENIED, Trait.RAISED_BY_TEXT}, Place.SOURCE),
    "test_look_up": (
        Phase.CALL, FAILED, "socket.gaierror", {Trait.NETWORK_DENIED, Trait.RAISED_BY_TEXT}, Place.SOURCE,
    ),
    "test_refused": (Phase.CALL, FAILED, "ConnectionRefusedError", {Trait.RAISED_BY_TEXT}, Place.SOURCE),
    "test_memory": (Phase.CALL, FAILED, "MemoryError", {Trait.MEMORY, Trait.RAISED_BY_TEXT}, Place.TEST),
    "test_disk": (Phase.CALL, FAILED, "OSError", {Trait.DISK, Trait.RAISED_BY_TEXT}, Place.SOURCE),
    "test_file_size": (Phase.CALL, FAILED, "OSError", {Trait.FILE_SIZE, Trait.RAISED_BY_TEXT}, Place.SOURCE),
    "test_cross_device": (Phase.CALL, FAILED, "OSError", {Trait.CROSS_DEVICE, Trait.RAISED_BY_TEXT}, Place.SOURCE),
    "test_again_is_behaviour": (Phase.CALL, FAILED, "BlockingIOError", {Trait.RAISED_BY_TEXT}, Place.SOURCE),
    "test_thread": (Phase.CALL, FAILED, "RuntimeError", {Trait.PROCESSES, Trait.RAISED_BY_TEXT}, Place.TEST),
    "test_recursion": (Phase.CALL, FAILED, "RecursionError", set(), Place.SOURCE),
    "test_xfail_other": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.TEST),
    "test_setup": (Phase.SETUP, FAILED, "KeyError", set(), Place.SOURCE),
    "test_teardown": (Phase.TEARDOWN, FAILED, "KeyError", set(), Place.SOURCE),
    "test_both": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.TEST),
    "test_cases[zèbre]": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.TEST),
    "test_cases[a/b[c]::d]": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.TEST),
    "TestPlain::test_inside": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.TEST),
    "TestPlain::TestInner::test_deeper": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.TEST),
    "Case::test_method": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.TEST),
    "Case::test_error": (Phase.CALL, FAILED, "KeyError", set(), Place.SOURCE),
    "Case::test_subtests": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.TEST),
    "BadSetUp::test_after": (Phase.SETUP, FAILED, "KeyError", set(), Place.SOURCE),
    "BadTearDown::test_before": (Phase.TEARDOWN, FAILED, "KeyError", set(), Place.SOURCE),
    "BadClass::test_after": (Phase.SETUP, FAILED, "KeyError", set(), Place.SOURCE),
    "Awaited::test_awaits": (Phase.CALL, FAILED, "AssertionError", {Trait.ASSERTION}, Place.TEST),
    "AwaitedSetUp::test_awaits": (Phase.SETUP, FAILED, "KeyError", set(), Place.SOURCE),
}  # fmt: skip

#: test → (phase, outcome) where nothing is raised that counts
WITHOUT_FAILURE = {
    "test_skips": (Phase.CALL, SKIPPED),
    "test_skip_marked": (Phase.SETUP, SKIPPED),
    "test_xfail": (Phase.CALL, PhaseOutcome.XFAILED),
    "test_xpass": (Phase.CALL, PhaseOutcome.XPASSED),
    "test_xpass_strict": (Phase.CALL, PhaseOutcome.XPASSED),
    "Case::test_skipped": (None, SKIPPED),
    "Case::test_expected": (Phase.CALL, PhaseOutcome.XFAILED),
    "Case::test_unexpected": (Phase.CALL, PhaseOutcome.XPASSED),
}
#: only the interpreter from 3.10 on tells whose object lacks the attribute
FROM_3_10 = {"test_missing_method": Trait.PROJECT_NAME_MISSING}
UNKNOWN = {
    "test_unknown_fixture": {Trait.UNKNOWN_FIXTURE},
    "test_plugin_fixture": {Trait.UNKNOWN_FIXTURE, Trait.PLUGIN_MISSING},
}
EVERY = [
    *EXPECTED, *WITHOUT_FAILURE, *FROM_3_10, *UNKNOWN, "test_passes", "test_async",
    "test_cases[lion]", "test_cases[goat ]",
]  # fmt: skip


def run_zoo(folder: Path, python: str | None = None) -> RunReport:
    """One session over every test of the zoo."""
    shutil.copytree(ZOO, folder, dirs_exist_ok=True)
    ascii_only = [name.encode("ascii", "backslashreplace").decode() for name in EVERY]
    argv = ("pytest", "-q", "-W", "ignore", *(f"{FILE}::{name}" for name in ascii_only))
    more = {"python": python} if python else {}
    return observed(PytestRunner(), folder, argv, patched=(FILE,), **more)[0]


def check_zoo(report: RunReport, *, tells_owner: bool) -> list[str]:
    """Everything about a report of the zoo that is not as it must be."""
    nodes = {node.node.removeprefix(f"{FILE}::"): node for node in report.nodes}
    faults = [f"{problem}" for problem in (*report.problems, *report.tampering)]
    for name, (phase, outcome, kind, traits, place) in EXPECTED.items():
        node = nodes[name.encode("ascii", "backslashreplace").decode()]
        found = [p for p in node.phases if p.phase is phase and p.outcome is outcome and p.failures]
        if not found:
            faults.append(f"{name}: {node}")
            continue
        first = found[0].failures[0]
        seen = set(first.traits) - (set() if tells_owner else {Trait.PROJECT_NAME_MISSING})
        want = traits - (set() if tells_owner else {Trait.PROJECT_NAME_MISSING})
        if first.type != kind or seen != want or first.owner is None or first.owner.place is not place:
            faults.append(f"{name}: {first.type} {first.traits} {first.owner}")
    for name, (phase, outcome) in WITHOUT_FAILURE.items():
        if not any(
            (phase in (None, p.phase)) and p.outcome is outcome and not p.failures for p in nodes[name].phases
        ):
            faults.append(f"{name}: {nodes[name]}")
    for name, traits in UNKNOWN.items():
        if nodes[name].phases[0].failures[0].traits != traits:
            faults.append(f"{name}: {nodes[name]}")
    waiting = [p for p in nodes["test_async"].phases if p.failures]
    if not waiting or Trait.PLUGIN_MISSING not in waiting[0].failures[0].traits:
        faults.append(f"test_async: {nodes['test_async']}")
    if [p.outcome for p in nodes["test_passes"].phases] != [PhaseOutcome.PASSED] * 3:
        faults.append(f"test_passes: {nodes['test_passes']}")
    return faults


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return run_zoo(tmp_path_factory.mktemp("zoo"))


def test_every_ending_is_told_apart(report):
    assert check_zoo(report, tells_owner=True) == []
    assert report.complete
    assert not report.interrupted
    assert report.selected == tuple(node.node for node in report.nodes)


def test_a_missing_method_of_the_project_is_its_name(report):
    node = next(node for node in report.nodes if node.node.endswith("::test_missing_method"))
    assert Trait.PROJECT_NAME_MISSING in node.phases[1].failures[0].traits


def test_a_deep_stack_keeps_its_ends(report):
    node = next(node for node in report.nodes if node.node.endswith("::test_recursion"))
    frames = node.phases[1].failures[0].frames
    assert len(frames) == 60
    assert frames[-1].function == "deep"
    assert any(frame.function == "test_recursion" for frame in frames[:20])


def test_all_subtests_count(report):
    node = next(node for node in report.nodes if node.node.endswith("Case::test_subtests"))
    assert len(node.phases[1].failures) == 2


def test_available_holds_the_unselected_too(report):
    names = {name.removeprefix(f"{FILE}::") for name in report.available}
    assert {"TestOther::test_unselected", "TestOther::test_unselected_cases[2]", "test_cases[lion]"} <= names
    assert len(report.available) == len(report.selected) + 3


def test_origins_are_the_projects_own(report):
    assert {name for name, _ in report.origins} == {"zoo", "tests"}


def test_collecting_alone_runs_nothing(tmp_path):
    shutil.copytree(ZOO, tmp_path, dirs_exist_ok=True)
    found = observe(
        PytestRunner(), tmp_path, f"pytest {FILE}::test_passes", patched=(FILE,), collect_only=True
    )
    assert found.nodes == ()
    assert f"{FILE}::TestOther::test_unselected_cases[1]" in found.available
    assert found.problems == ()
