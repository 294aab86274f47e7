# SPDX-License-Identifier: Apache-2.0
"""Each way in which a unittest method can end keeps its own phase, outcome and traits."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from tests.runners.python_driver import observed

from redfirst.core.errors import CommandRejected
from redfirst.core.evidence import Phase, PhaseOutcome, Place, RunReport, Trait
from redfirst.runners.protocol import Command
from redfirst.runners.python_command import wide_selectors
from redfirst.runners.unittest_runner import UnittestRunner
from redfirst.sandbox.protocol import Completed

ZOO = Path(__file__).parent.parent / "projects" / "zoo"
MODULE = "tests.test_cases"
SOURCE = {"PYTHONPATH": "src"}
FAILED = PhaseOutcome.FAILED

#: test → (phase, outcome, exception type, place of the innermost own frame)
EXPECTED = {
    "Plain.test_fails": (Phase.CALL, FAILED, "AssertionError", Place.TEST),
    "Plain.test_error": (Phase.CALL, FAILED, "KeyError", Place.SOURCE),
    "Plain.test_subtests": (Phase.CALL, FAILED, "AssertionError", Place.TEST),
    "Plain.test_cleanup": (Phase.TEARDOWN, FAILED, "KeyError", Place.SOURCE),
    "BadSetUp.test_after": (Phase.SETUP, FAILED, "KeyError", Place.SOURCE),
    "BadTearDown.test_before": (Phase.TEARDOWN, FAILED, "KeyError", Place.SOURCE),
    "BadClass.test_after": (Phase.SETUP, FAILED, "KeyError", Place.SOURCE),
    "BadClassEnd.test_before": (Phase.TEARDOWN, FAILED, "KeyError", Place.SOURCE),
    "Awaited.test_awaits": (Phase.CALL, FAILED, "AssertionError", Place.TEST),
    "AwaitedSetUp.test_awaits": (Phase.SETUP, FAILED, "KeyError", Place.SOURCE),
    "Plain.test_passes": (Phase.CALL, PhaseOutcome.PASSED, "", None),
    "Plain.test_skips": (Phase.CALL, PhaseOutcome.SKIPPED, "", None),
    "Plain.test_skip_marked": (Phase.CALL, PhaseOutcome.SKIPPED, "", None),
    "Plain.test_expected": (Phase.CALL, PhaseOutcome.XFAILED, "", None),
    "Plain.test_unexpected": (Phase.CALL, PhaseOutcome.XPASSED, "", None),
    "SkippedClass.test_after": (Phase.SETUP, PhaseOutcome.SKIPPED, "", None),
}


def run(
    folder: Path, *names: str, python: str = sys.executable, **more: object
) -> tuple[RunReport, Completed]:
    """Run tests of the zoo by dotted name."""
    shutil.copytree(ZOO, folder, dirs_exist_ok=True)
    argv = ("python", "-m", "unittest", *(f"{MODULE}.{name}" for name in names))
    files = ("tests/test_cases.py",)
    return observed(UnittestRunner(), folder, argv, python=python, patched=files, env=SOURCE, **more)


def check(report: RunReport) -> list[str]:
    """Everything about a report of all of EXPECTED that is not as it must be."""
    nodes = {node.node.removeprefix(f"{MODULE}."): node for node in report.nodes}
    faults = [*report.problems, *report.tampering]
    for name, (phase, outcome, kind, place) in EXPECTED.items():
        found = [p for p in nodes[name].phases if p.phase is phase and p.outcome is outcome]
        failures = found[0].failures if found else ()
        first = failures[0] if failures else None
        owner = first.owner if first else None
        if (
            not found
            or (first.type if first else "") != kind
            or (owner.place if owner else None) is not place
        ):
            faults.append(f"{name}: {nodes[name]}")
    return faults


def test_every_ending_is_told_apart(tmp_path):
    report, completed = run(tmp_path, *EXPECTED)
    assert check(report) == []
    assert report.complete
    assert completed.exit == 1
    assert len(next(n for n in report.nodes if n.node.endswith("subtests")).phases[0].failures) == 2
    assert f"{MODULE}.Hostile.test_leaves" in report.available
    assert set(report.origins) >= {("zoo", str(tmp_path / "src/zoo/__init__.py"))}


def test_another_order_holds_the_same_tests(tmp_path):
    report, _ = run(tmp_path, "Plain.test_passes", "Plain.test_error", seed=1, shuffle=True)
    assert report.selected == (f"{MODULE}.Plain.test_error", f"{MODULE}.Plain.test_passes")


def test_collecting_alone_runs_nothing(tmp_path):
    report, _ = run(tmp_path, "Plain.test_passes", collect_only=True)
    assert report.nodes == ()
    assert f"{MODULE}.BadClass.test_after" in report.available
    assert report.problems == ()


def test_a_silenced_failure_contradicts_itself(tmp_path):
    report, completed = run(tmp_path, "Hostile.test_silences")
    assert completed.exit == 0
    assert report.problems


def test_closed_descriptors_leave_the_failure(tmp_path):
    report, _ = run(tmp_path, "Hostile.test_closes")
    assert (report.problems, report.tampering, report.complete) == ((), (), True)
    assert Trait.ASSERTION in report.nodes[0].phases[0].failures[0].traits


def test_a_forked_child_is_silent(tmp_path):
    report, _ = run(tmp_path, "Hostile.test_forks")
    assert (report.problems, report.tampering, report.complete) == ((), (), True)
    assert len(report.nodes[0].phases[0].failures) == 1


def test_leaving_cuts_the_report(tmp_path):
    report, _ = run(tmp_path, "Hostile.test_leaves")
    assert (report.complete, report.nodes[0].finished, report.problems) == (False, False, ())


def test_an_interrupt_is_one(tmp_path):
    report, completed = run(tmp_path, "Hostile.test_interrupted")
    assert (report.interrupted, report.problems) == (True, ())
    assert completed.signal == 2


@pytest.mark.parametrize(
    ("name", "kind", "trait"),
    [
        ("tests.test_broken_import.X.test_x", "ModuleNotFoundError", Trait.MODULE_MISSING),
        ("tests.test_broken_syntax.X.test_x", "SyntaxError", None),
    ],
)
def test_a_module_that_does_not_load_is_a_collection_failure(tmp_path, name, kind, trait):
    shutil.copytree(ZOO, tmp_path, dirs_exist_ok=True)
    report, _ = observed(UnittestRunner(), tmp_path, ("python", "-m", "unittest", name), env=SOURCE)
    assert [failure.type for failure in report.collection_failures] == [kind]
    assert trait is None or trait in report.collection_failures[0].traits
    assert (report.nodes, report.problems, report.not_found) == ((), (), ())


def test_a_module_that_skips_itself(tmp_path):
    shutil.copytree(ZOO, tmp_path, dirs_exist_ok=True)
    argv = ("python", "-m", "unittest", "tests.test_left_out.X.test_x")
    report, _ = observed(UnittestRunner(), tmp_path, argv, env=SOURCE)
    assert report.collection_skips == ("tests.test_left_out.X.test_x: not here",)
    assert (report.collection_failures, report.problems) == ((), ())


@pytest.mark.parametrize("name", ["Plain.test_nowhere", "Nowhere.test_x"])
def test_a_test_that_is_nowhere_is_not_found(tmp_path, name):
    report, _ = run(tmp_path, name)
    assert report.not_found == (f"{MODULE}.{name}",)
    assert (report.collection_failures, report.nodes, report.problems) == ((), (), ())


@pytest.mark.parametrize(
    "text",
    [
        "python -m unittest",
        "python -m unittest discover -s tests",
        "python -m unittest tests.test_cases",
        "python -m unittest tests/test_cases.py",
        "python -m unittest -k x tests.test_cases.Plain.test_x",
        "python -m unittest --verbose tests.test_cases.Plain.test_x",
        "python -B -m unittest tests.test_cases.Plain.test_x",
    ],
)
def test_wider_or_other_commands_are_rejected(text):
    with pytest.raises(CommandRejected):
        UnittestRunner().recognise(Command(".", (), tuple(text.split())))


def test_a_dotted_class_is_wide_by_its_text():
    command = Command(
        ".", (), ("python3", "-m", "unittest", "-v", "a.tests.test_b.C", "a.tests.test_b.C.test_x")
    )
    selection = UnittestRunner().recognise(command)
    files = {"a/tests/test_b.py": b"class C:\n    def test_x(self): pass\n"}
    assert wide_selectors(selection, files.get) == ["a.tests.test_b.C"]
    assert selection.files[-1] == "a/tests/test_b.py"


def test_names_are_compared_from_any_folder():
    runner = UnittestRunner()
    assert runner.matches("test_x", "tests.test_a.C.test_x")
    assert runner.matches("tests.test_a.C.test_x", "test_a.C.test_x")
    assert runner.matches("C.test_x", "tests.test_a.C.test_x")
    assert not runner.matches("D.test_x", "tests.test_a.C.test_x")
    assert not runner.matches("x", "tests.test_a.C.test_x")
    text = b"import unittest\nclass A(unittest.TestCase):\n  def test_a(self): pass\n"
    text += b"class B(A):\n  def test_b(self): pass\n"
    assert runner.declared_tests("tests/test_a.py", text) == (
        "tests.test_a.A.test_a",
        "tests.test_a.B.test_a",
        "tests.test_a.B.test_b",
    )
