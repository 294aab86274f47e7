# SPDX-License-Identifier: Apache-2.0
"""Keeps apart what a Python test says itself, what it rests on, and what merely lies beside it."""

from __future__ import annotations

import pytest

from redfirst.gate.check.change import ChangeSet, Role
from redfirst.gate.check.nodes import Touch, touched_by_text
from redfirst.gate.check.python_text import Texts
from redfirst.patches.apply import TreeChange
from redfirst.runners.protocol import Runner
from redfirst.runners.registry import runner_named

PATH = "tests/test_a.py"
BASE = '''
import pytest
from pkg import thing
from .helping import build as made

LIMIT = 3


def near():
    return LIMIT


@pytest.fixture
def given():
    return near()


@pytest.fixture(autouse=True)
def always():
    yield


def test_plain():
    """Says."""
    assert thing() == 1  # so


def test_by_helper():
    assert near()


def test_by_fixture(given):
    assert given


def test_by_import():
    assert made()


@pytest.mark.parametrize("x", [1, 2])
def test_table(x):
    assert x


class TestOne:
    size = 1

    def setup_method(self):
        self.it = thing()

    def wide(self):
        return self.size

    def test_inside(self):
        assert self.wide()

    def test_alone(self):
        assert 1


class TestTwo(TestOne):
    def test_second(self):
        assert 2
'''
HELPER = "def build():\n    return rest()\n\n\ndef rest():\n    return 1\n\n\ndef other():\n    return 2\n"
BY_HELPER = {"test_by_helper", "test_by_fixture"}
EVERY = {"test_plain", "test_by_import", "test_table", "test_inside", "test_alone", "test_second"} | BY_HELPER


def touched(head: str, helper: str = HELPER) -> dict[str, Touch]:
    """Touch by the last name of each test, with a helper file that may change."""
    old = {PATH: BASE.encode(), "tests/helping.py": HELPER.encode()}
    new = {PATH: head.encode(), "tests/helping.py": helper.encode()}
    changes = tuple(TreeChange(path, "M", "100644", "100644", old[path], new[path]) for path in old)
    changed = ChangeSet(changes, tuple((path, Role.TESTS) for path in old))

    def runner_of(path: str, _text: bytes | None) -> Runner | None:
        return runner_named("pytest") if path == PATH else None

    helpers = ("tests/helping.py",)
    found = touched_by_text(changed, runner_of, Texts(old.get, helpers), Texts(new.get, helpers))
    return {test.node.rpartition("::")[2]: test.touch for test in found.tests}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("# so", "# otherwise", {}),
        ('"""Says."""', '"""Says more."""', {}),
        ("assert thing() == 1", "assert  (thing()  == 1)", {}),
        ("assert thing() == 1", "assert thing() == 2", {"test_plain": Touch.ALTERED}),
        ("LIMIT = 3", "LIMIT = 4", dict.fromkeys(BY_HELPER, Touch.REACHED)),
        ("return near()", "return 9", {"test_by_fixture": Touch.REACHED}),
        ("    yield", "    yield 1", dict.fromkeys(EVERY, Touch.REACHED)),
        ("[1, 2]", "[1, 2, 3]", {"test_table": Touch.TABLE}),
        ("size = 1", "size = 2", {"test_inside": Touch.REACHED}),
        (
            "self.it = thing()",
            "self.it = 1",
            dict.fromkeys(("test_inside", "test_alone", "test_second"), Touch.REACHED),
        ),
        (
            "from pkg import thing",
            "from pkg import other as thing",
            dict.fromkeys(("test_plain", "test_inside", "test_alone", "test_second"), Touch.REACHED),
        ),
        ("class TestTwo(TestOne)", "class TestTwo(TestOne, object)", {"test_second": Touch.REACHED}),
    ],
)
def test_what_a_change_of_text_touches(old: str, new: str, expected: dict[str, Touch]) -> None:
    assert old in BASE
    found = touched(BASE.replace(old, new, 1))
    inherited = {"test_inside", "test_alone"}
    assert {name: touch for name, touch in found.items() if name not in inherited - set(expected)} == expected


def test_only_the_used_part_of_a_helper_counts() -> None:
    assert touched(BASE, HELPER.replace("return 2", "return 3")) == {}
    assert touched(BASE, HELPER.replace("return 1", "return 3")) == {"test_by_import": Touch.REACHED}


def test_added_renamed_and_deleted() -> None:
    assert touched(BASE + "\n\ndef test_new():\n    assert 5\n") == {"test_new": Touch.ADDED}
    assert touched(BASE.replace("def test_by_helper", "def test_with_helper")) == {
        "test_with_helper": Touch.MOVED
    }
    assert touched(BASE.replace("def test_plain", "def plain_no_test")) == {}


def test_a_file_that_does_not_parse_is_said() -> None:
    change = TreeChange(PATH, "M", "100644", "100644", BASE.encode(), b"def test_(")
    changed = ChangeSet((change,), ((PATH, Role.TESTS),))
    texts = Texts({}.get)
    found = touched_by_text(changed, lambda *_: runner_named("pytest"), texts, texts)
    assert found.unjudged == ((PATH, "it does not parse"),)
