# SPDX-License-Identifier: Apache-2.0
"""Tests of Django are judged by Django's own runner, started by the checkout's script with the checkout's settings."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from redfirst.agents.gateway import SessionGate
from redfirst.core.bundle import TestBundle
from redfirst.core.kinds import FailureKind
from redfirst.core.verdict import Verdict
from redfirst.gate import GateSession, GateSettings

POLLS = Path(__file__).parent.parent / "projects" / "polls"
CONTRACT = {
    "entrypoint": "Question.leader",
    "trigger": "two answers with different votes",
    "expected_output": "the one with more votes",
    "issue_evidence": ["the leader is the loser"],
    "alternative_hypotheses": ["votes could be counted down"],
    "non_assertions": ["who leads when votes are equal"],
}
TEST = """\
from django.test import TestCase

from polls.models import Answer, Question


class LeaderTests(TestCase):
    def test_leader(self):
        question = Question.objects.create(text="tea?")
        Answer.objects.create(question=question, text="no", votes=1)
        yes = Answer.objects.create(question=question, text="yes", votes=3)
        self.assertEqual(question.leader(), yes)

    def test_nobody(self):
        self.assertIsNone(Question.objects.create(text="tea?").leader())
"""
FIX = """\
--- a/polls/models.py
+++ b/polls/models.py
@@ -10,2 +10,2 @@
         \"\"\"The answer with the most votes.\"\"\"
-        return self.answers.order_by("votes").first()
+        return self.answers.order_by("-votes").first()
"""
NODES = ("polls.test_leader.LeaderTests.test_leader", "polls.test_leader.LeaderTests.test_nobody")


def new_file(path: str, text: str) -> str:
    lines = text.splitlines()
    return "\n".join(
        (f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@", *(f"+{x}" for x in lines), "")
    )


def commit(repo: Path) -> Path:
    for words in (("init", "-q"), ("add", "-A", "-f"), ("commit", "-q", "-m", "base")):
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        subprocess.run(["git", *identity, "-C", repo, *words], check=True, capture_output=True)
    return repo


def bundle(patch: str, command: str, nodes: tuple[str, ...]) -> TestBundle:
    contract = json.dumps({**CONTRACT, "test_nodes": nodes})
    return TestBundle(patch.encode(), command.encode(), contract.encode())


def session_for(repo: Path, folder: Path, python: str | None = sys.executable) -> GateSession:
    return GateSession(GateSettings(repo, folder / "cache", folder / "store", python=python))


@pytest.fixture
def session(tmp_path: Path) -> GateSession:
    """A gate over a project whose ``manage.py`` lies below the top."""
    shutil.copytree(POLLS, tmp_path / "repo" / "site", ignore=shutil.ignore_patterns("__pycache__"))
    return session_for(commit(tmp_path / "repo"), tmp_path)


def judge(session: GateSession, command: str, *more: str, source: str = "") -> Verdict:
    patch = new_file("site/polls/test_leader.py", TEST) + "".join(more)
    return session.judge(bundle(patch, command, NODES), source.encode())


def test_a_test_fails_on_base_and_passes_on_the_fix(session):
    command = f"cd site && python manage.py test -v 2 --parallel=1 {' '.join(NODES)}"
    verdict = judge(session, command)
    kinds = [node.kind for node in verdict.nodes]
    assert kinds == [FailureKind.ASSERTION_FAILED, FailureKind.PASSED], verdict.why
    assert judge(session, command, source=FIX.replace("polls/", "site/polls/")).kind is FailureKind.PASSED
    assert SessionGate(session).runner == "django"


def test_any_tree_is_run_by_its_own_script(session):
    ids = ("polls.tests.Plain.test_passes", "polls.tests.Plain.test_error")
    verdict = session.run(ids, runner="django")
    assert [node.kind for node in verdict.nodes] == [FailureKind.PASSED, FailureKind.EXCEPTION_RAISED]


@pytest.mark.parametrize("named", ["--settings polls.tests.other", "--settings=polls.tests.other"])
def test_settings_that_the_patch_brings_are_refused(session, named):
    settings = new_file("site/polls/tests/other.py", "from site_settings.plain import *\n")
    verdict = judge(session, f"python site/manage.py test {named} {NODES[0]}", settings)
    assert (verdict.kind, "polls/tests/other.py" in verdict.why) == (FailureKind.COMMAND_REJECTED, True)


@pytest.mark.slow
def test_djangos_own_suite_runs_in_an_environment_that_is_built_for_it(tmp_path):
    argv = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "django==5.2"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("Django's source distribution cannot be had here")
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    repo = commit(next(path for path in tmp_path.iterdir() if path.is_dir()))
    session = session_for(repo, tmp_path, python=None)
    assert SessionGate(session).runner == "django"
    text = "from django.test import SimpleTestCase\n\n\nclass SumTests(SimpleTestCase):\n"
    text += "    def test_sum(self):\n        self.assertEqual(1 + 1, 3)\n"
    command = "cd tests && python runtests.py mail.test_sum.SumTests.test_sum"
    patch = new_file("tests/mail/test_sum.py", text)
    verdict = session.qualify(bundle(patch, command, ("mail.test_sum.SumTests.test_sum",))).verdict
    assert verdict.kind is FailureKind.ASSERTION_FAILED, verdict.why
    known = "mail.tests.MailTests.test_ascii"
    assert session.run((known,), runner="django").kind is FailureKind.PASSED
