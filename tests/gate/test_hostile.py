# SPDX-License-Identifier: Apache-2.0
"""Tests that turn on their own judge: what they replace, poison or shadow is never a valid pass."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.gate.test_session import FILES, GOOD, bundle, git

from redfirst.core.bundle import TestBundle
from redfirst.core.kinds import FailureKind
from redfirst.gate import GateSession, GateSettings

FORGE = """\
import gc


def test_sum(request):
    for item in gc.get_objects():
        if type(item).__name__ == "Channel" and hasattr(item, "send_list"):
            real = item.send
            item.send = lambda kind, **fields: real(kind, **fields) if kind not in ("raised", "phase") else None
    assert total([1, 2]) == 3
"""
REPLACE = """\
import _pytest.python

_pytest.python.Function.runtest = lambda self: None


def test_sum():
    assert total([1, 2]) == 3
"""
WRAP = """\
import functools
import _pytest.runner

real = _pytest.runner.call_and_report
_pytest.runner.call_and_report = functools.partial(lambda *a, **k: real(*a, **k))


def test_sum():
    assert total([1, 2]) == 3
"""
POISON = """\
import importlib.util
import sys


def test_sum():
    import shelf.count

    path = importlib.util.cache_from_source(shelf.count.__file__)
    open(path, "wb").write(b"anything")
    assert total([1, 2]) == 3
"""
LATE_PLUGIN = """\
import gc


class Calm:
    pass


for found in gc.get_objects():
    if type(found).__name__ == "PytestPluginManager":
        found.register(Calm(), "calm")


def test_sum():
    assert total([1, 2]) == 3
"""


@pytest.fixture
def session(tmp_path: Path) -> GateSession:
    root = tmp_path / "shelf"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "base")
    settings = GateSettings(root, tmp_path / "cache", tmp_path / "store", python=sys.executable, repeat=1)
    return GateSession(settings)


def added(path: str, text: str) -> bytes:
    lines = text.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    return f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}".encode()


@pytest.mark.parametrize("body", [FORGE, REPLACE, WRAP, POISON, LATE_PLUGIN])
def test_what_a_test_does_to_its_judge_is_tampering(session, body):
    verdict = session.judge(bundle(body))
    assert not verdict.valid, verdict
    assert verdict.kind in (FailureKind.TAMPERING, FailureKind.PATCH_FORBIDDEN), verdict


def test_source_that_neuters_the_runner_is_tampering(session):
    patch = added(
        "src/shelf/calm.py", "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"
    )
    hook = b"--- a/src/shelf/__init__.py\n+++ b/src/shelf/__init__.py\n@@ -0,0 +1 @@\n+from . import calm\n"
    assert session.judge(GOOD, patch + hook).kind is FailureKind.TAMPERING


@pytest.mark.parametrize("name", ["difflib.py", "src/json/__init__.py"])
def test_source_may_not_lie_before_the_standard_library(session, name):
    assert session.judge(GOOD, added(name, "x = 1\n")).kind is FailureKind.SOURCE_PATCH_INVALID


def test_a_module_of_the_project_from_the_tests_own_folder_is_no_verdict(session):
    shadow = added("tests/shadow/shelf/count.py", "total = sum\n")
    shadow += added("tests/shadow/shelf/__init__.py", "x = 1\n")
    test = added(
        "tests/test_new.py",
        "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent / 'shadow'))\n"
        "from shelf.count import total\n\n\ndef test_sum():\n    assert total([1, 2]) == 3\n",
    )
    good = bundle("x", nodes=["tests/test_new.py::test_sum"], command="pytest tests/test_new.py::test_sum")
    verdict = session.judge(replace(good, patch=test + shadow))
    assert not verdict.valid, verdict


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (replace(GOOD, command=b"pytest " + b"a" * 600_000), FailureKind.COMMAND_REJECTED),
        (replace(GOOD, contract=b"9" * 10_000), FailureKind.CONTRACT_INVALID),
        (replace(GOOD, patch=added("tests/" + "n" * 300 + ".py", "x = 1\n")), FailureKind.PATCH_FORBIDDEN),
        (replace(GOOD, patch=added("tests/" + "d/" * 1500 + "x.py", "x = 1\n")), FailureKind.PATCH_FORBIDDEN),
    ],
)
def test_what_is_too_large_is_refused_in_its_own_stage(session, bad: TestBundle, kind):
    assert session.judge(bad).kind is kind
