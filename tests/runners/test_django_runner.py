# SPDX-License-Identifier: Apache-2.0
"""Each way in which a test of Django can end keeps its own phase, outcome and type, and no command selects more."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.runners.python_driver import observed

from redfirst.core.errors import CommandRejected
from redfirst.core.evidence import Phase, PhaseOutcome, RunReport
from redfirst.runners.command import parse_command
from redfirst.runners.django_command import ruling_files, wide_labels
from redfirst.runners.django_runner import DjangoRunner
from redfirst.runners.registry import recognise
from redfirst.sandbox.protocol import Completed

POLLS = Path(__file__).parent.parent / "projects" / "polls"
FILES = ("polls/tests.py",)
FAILED = PhaseOutcome.FAILED

#: test → (phase, outcome, exception type)
EXPECTED = {
    "Plain.test_passes": (Phase.CALL, PhaseOutcome.PASSED, ""),
    "Plain.test_awaits": (Phase.CALL, PhaseOutcome.PASSED, ""),
    "Plain.test_fails": (Phase.CALL, FAILED, "AssertionError"),
    "Plain.test_error": (Phase.CALL, FAILED, "ZeroDivisionError"),
    "Plain.test_subtests": (Phase.CALL, FAILED, "AssertionError"),
    "Plain.test_needs_a_feature": (Phase.CALL, PhaseOutcome.SKIPPED, ""),
    "Plain.test_expected": (Phase.CALL, PhaseOutcome.XFAILED, ""),
    "Emptied.test_fails": (Phase.CALL, FAILED, "AssertionError"),
    "WithoutDatabase.test_asks": (Phase.CALL, FAILED, "django.test.testcases.DatabaseOperationForbidden"),
    "WithoutDatabase.test_passes": (Phase.CALL, PhaseOutcome.PASSED, ""),
    "BadData.test_after": (Phase.SETUP, FAILED, "django.db.utils.IntegrityError"),
    "BadFixture.test_after": (Phase.SETUP, FAILED, "django.core.management.base.CommandError"),
}


def run(
    folder: Path, *names: str, options: tuple[str, ...] = (), **more: object
) -> tuple[RunReport, Completed]:
    """Run tests of the polls by dotted name."""
    shutil.copytree(POLLS, folder, dirs_exist_ok=True)
    argv = ("python", "manage.py", "test", *options, *(f"polls.{name}" for name in names))
    return observed(DjangoRunner(), folder, argv, patched=FILES, **more)


def test_every_ending_is_told_apart(tmp_path):
    names = [f"tests.{name}" for name in EXPECTED]
    report, completed = run(tmp_path, *names, options=("-v2", "--parallel", "1"))
    nodes = {node.node.removeprefix("polls.tests."): node for node in report.nodes}
    found = {}
    for name, (phase, outcome, _) in EXPECTED.items():
        parts = [part for part in nodes[name].phases if (part.phase, part.outcome) == (phase, outcome)]
        failures = [failure.type for part in parts for failure in part.failures]
        found[name] = (phase, outcome, failures[0] if failures else "") if parts else nodes[name]
    assert found == EXPECTED
    assert (report.problems, report.tampering, report.complete, completed.exit) == ((), (), True, 1)
    assert "polls.tests.Hostile.test_leaves" in report.available
    assert not list(tmp_path.glob("*.sqlite3"))
    assert report.notes[-1].startswith("django 5")


def test_another_order_keeps_djangos_groups(tmp_path):
    names = ["tests.Emptied.test_fails", "tests.Plain.test_passes", "tests.Plain.test_fails"]
    reports = [run(tmp_path, *names, seed=seed, shuffle=seed > 0)[0] for seed in (0, 1)]
    orders = [[name.removeprefix("polls.tests.") for name in report.selected] for report in reports]
    assert orders[0] == ["Plain.test_passes", "Plain.test_fails", "Emptied.test_fails"]
    assert orders[1] == ["Plain.test_fails", "Plain.test_passes", "Emptied.test_fails"]


def test_collecting_alone_runs_nothing(tmp_path):
    report, _ = run(tmp_path, "tests.Plain.test_passes", collect_only=True)
    assert (report.nodes, report.problems) == ((), ())
    assert {f"polls.tests.{name}" for name in EXPECTED} <= set(report.available)


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("test_leaves", "incomplete"),
        ("test_silences", "tampering"),
        ("test_writes", "tampering"),
    ],
)
def test_a_hostile_test_gets_no_clean_report(tmp_path, name, seen):
    report, _ = run(tmp_path, f"tests.Hostile.{name}")
    told = "tampering" if report.tampering else "incomplete" if not report.complete else ""
    assert told == seen


def test_an_answer_for_a_test_that_never_began_is_a_contradiction(tmp_path):
    report, _ = run(tmp_path, "tests.Hostile.test_answers_for_others", "tests.WithoutDatabase.test_asks")
    assert report.problems == (
        "polls.tests.WithoutDatabase.test_asks was reported as passed, but never began",
    )
    assert report.tampering


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [
        ("test_unloaded.X.test_x", (), "ModuleNotFoundError"),
        ("tests.Plain.test_passes", ("--settings=site_settings.nowhere",), "ModuleNotFoundError"),
    ],
)
def test_what_cannot_be_loaded_is_a_collection_failure(tmp_path, name, options, kind):
    report, _ = run(tmp_path, name, options=options)
    assert [failure.type for failure in report.collection_failures] == [kind]
    assert (report.nodes, report.problems) == ((), ())


def test_a_broken_migration_is_a_collection_failure(tmp_path):
    shutil.copytree(POLLS, tmp_path, dirs_exist_ok=True)
    migration = tmp_path / "polls/migrations/0001_start.py"
    migration.write_text(migration.read_text().replace('"votes"', '"choices"'))
    report, _ = run_in(tmp_path, "python manage.py test polls.tests.Plain.test_passes")
    assert [failure.type for failure in report.collection_failures] or report.nodes[0].phases[
        0
    ].phase is Phase.SETUP


def run_in(folder: Path, command: str) -> tuple[RunReport, Completed]:
    """Run a command in a folder as it is."""
    return observed(DjangoRunner(), folder, tuple(command.split()), patched=FILES)


def test_a_test_that_is_nowhere_is_not_found(tmp_path):
    report, _ = run(tmp_path, "tests.Plain.test_nowhere")
    assert report.not_found == ("polls.tests.Plain.test_nowhere",)
    assert (report.collection_failures, report.nodes, report.problems) == ((), (), ())


@pytest.mark.parametrize(
    "text",
    [
        "cd tests && python runtests.py mail.tests.MailTests.test_x",
        "python tests/runtests.py --settings=test_sqlite --parallel=1 -v 2 mail.tests.MailTests.test_x",
        "DJANGO_SETTINGS_MODULE=site.plain python -W error manage.py test --verbosity 0 -v1 a.tests.A.test_x",
        "cd backend && .venv/bin/python manage.py test --parallel 1 a.tests.test_b.A.test_x",
    ],
)
def test_a_command_that_names_tests_is_recognised(text):
    runner, selection = recognise(parse_command(text.encode()))
    assert (runner.name, len(selection.nodes)) == ("django", 1)


@pytest.mark.parametrize(
    "text",
    [
        "python tests/runtests.py",
        "python tests/runtests.py mail",
        "python tests/runtests.py mail.tests",
        "python tests/runtests.py tests/mail/tests.py",
        "python tests/runtests.py -k x mail.tests.MailTests.test_x",
        "python tests/runtests.py --parallel 2 mail.tests.MailTests.test_x",
        "python tests/runtests.py --parallel mail.tests.MailTests.test_x",
        "python tests/runtests.py --settings ../evil mail.tests.MailTests.test_x",
        "python tests/runtests.py --shuffle mail.tests.MailTests.test_x",
        "python tests/runtests.py --reverse mail.tests.MailTests.test_x",
        "python tests/runtests.py -v 4 mail.tests.MailTests.test_x",
        "python tests/runtests.py --settings",
        "python manage.py test --testrunner=x.Y a.tests.A.test_x",
        "python manage.py test --keepdb a.tests.A.test_x",
        "python manage.py test -p *.py a.tests.A.test_x",
        "python manage.py test -t . a.tests.A.test_x",
        "python manage.py test --tag=x a.tests.A.test_x",
        "python -X importtime manage.py test a.tests.A.test_x",
        "python manage.py shell a.tests.A.test_x",
        "python ../manage.py test a.tests.A.test_x",
        "python /srv/manage.py test a.tests.A.test_x",
        "./manage.py test a.tests.A.test_x",
        "python -m django test a.tests.A.test_x",
    ],
)
def test_wider_or_other_commands_are_rejected(text):
    with pytest.raises(CommandRejected):
        recognise(parse_command(text.encode()))


def test_a_class_or_module_is_wide_by_its_text():
    command = (
        "cd tests && python runtests.py mail.tests.MailTests mail.tests.MailTests.test_x mail.tests.test_a"
    )
    selection = recognise(parse_command(command.encode()))[1]
    files = {"tests/mail/tests.py": b"class MailTests: pass\n", "tests/mail/tests/test_a.py": b""}
    assert wide_labels(selection, files.get) == ["mail.tests.MailTests", "mail.tests.test_a"]
    assert selection.files == ("tests/mail.py", "tests/mail/tests.py")


def test_the_script_and_every_settings_module_that_is_named_rule_the_run():
    command = (
        "DJANGO_SETTINGS_MODULE=tests.other python app/manage.py test --settings tests.own a.tests.A.test_x"
    )
    selection = recognise(parse_command(command.encode()))[1]
    text = b'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.plain")'
    found = ruling_files(selection, {"app/manage.py": text}.get)
    assert {"app/manage.py", "app/tests/own.py", "tests/other/__init__.py", "tests/plain.py"} <= set(found)


def test_names_are_seen_from_the_folder_of_the_script():
    runner = DjangoRunner()
    text = b"class A(TestCase):\n  def test_a(self): pass\n"
    assert runner.declared_tests("tests/mail/tests.py", text) == ("mail.tests.A.test_a",)
    assert runner.declared_tests("polls/tests.py", text) == ("polls.tests.A.test_a",)
    assert runner.declared_tests("tests/test_a.py", text) == ("tests.test_a.A.test_a",)
    assert runner.matches("tests.mail.tests.A.test_a", "mail.tests.A.test_a")
    assert runner.matches("test_a", "mail.tests.A.test_a")
    assert not runner.matches("other.tests.A.test_a", "mail.tests.A.test_a")


@pytest.mark.parametrize(
    ("script", "argv"),
    [
        ("", ("python", "tests/runtests.py", "mail.tests.A.test_a")),
        ("site/manage.py", ("python", "site/manage.py", "test", "mail.tests.A.test_a")),
    ],
)
def test_full_ids_become_a_command_of_the_checkouts_script(script, argv):
    assert DjangoRunner().run_selection(["mail.tests.A.test_a"], script).command.argv == argv
