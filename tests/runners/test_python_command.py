# SPDX-License-Identifier: Apache-2.0
"""Of all ways to start pytest, only those that name single tests are recognised."""

from __future__ import annotations

import pytest

from redfirst.core.errors import CommandRejected
from redfirst.runners.protocol import Command
from redfirst.runners.pytest_runner import PytestRunner
from redfirst.runners.python_command import interpreter_path, wide_selectors
from redfirst.runners.unittest_runner import UnittestRunner

RUNNER = PytestRunner()
TEXT = b"""
class TestA:
    def test_x(self): pass
    class TestB:
        def test_y(self): pass

if True:
    class TestC: pass

def test_f(): pass
"""


def recognise(text, cd="."):
    return RUNNER.recognise(Command(cd, (), tuple(text.split(" "))))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("pytest t.py::x", ()),
        ("py.test t.py::x", ()),
        ("python -m pytest t.py::x", ()),
        ("python3.12 -X dev -W error -m pytest t.py::x", ()),
        ("python -Xdev -Werror -m pytest t.py::x", ()),
        (".venv/bin/python -m pytest t.py::x", ()),
        ("/opt/env/bin/pytest t.py::x", ()),
        ("pytest -q -vv --tb=short --no-header t.py::x", ("-q", "-vv", "--tb=short", "--no-header")),
        ("pytest t.py::x -xvs -rA --color no", ("-xvs", "-rA", "--color", "no")),
        ("pytest -W error::DeprecationWarning t.py::x", ("-W", "error::DeprecationWarning")),
        ("pytest --quiet --verbose -l --showlocals --full-trace --no-summary t.py::x",
         ("--quiet", "--verbose", "-l", "--showlocals", "--full-trace", "--no-summary")),
    ],
)  # fmt: skip
def test_allowed_forms(text, options):
    selection = recognise(text)
    assert selection.nodes == ("t.py::x",)
    assert selection.options == options


@pytest.mark.parametrize(
    "text",
    [
        "pytest", "pytest -q", "pytest tests", "pytest tests/t.py", "pytest tests/t.py -k x", "pytest .",
        "pytest t.py::x -k x", "pytest -m slow t.py::x", "pytest --lf t.py::x", "pytest --co t.py::x",
        "pytest --deselect t.py::y t.py::x", "pytest -p no:assertion t.py::x", "pytest -o addopts= t.py::x",
        "pytest -c other.ini t.py::x", "pytest --rootdir=/ t.py::x", "pytest --pyargs t.py::x",
        "pytest --pdb t.py::x", "pytest -n 2 t.py::x", "pytest --junitxml=r.xml t.py::x", "pytest --tb=odd t.py::x",
        "pytest t.py::", "pytest ::x", "pytest t.py::A::", "pytest @args::x", "pytest ../t.py::x",
        "pytest /abs/t.py::x", "pytest -- t.py::x", "pytest --capture=no t.py::x", "pytest t.py::x other.py",
        "python -B -m pytest t.py::x", "python -X importtime -m pytest t.py::x", "python -I -m pytest t.py::x",
    ],
)  # fmt: skip
def test_rejected_forms(text):
    with pytest.raises(CommandRejected):
        recognise(text)


@pytest.mark.parametrize(
    "text",
    [
        "cargo test",
        "python -c pytest",
        "python script.py -m pytest t.py::x",
        "ruby -m pytest",
        "pypy3 -m pytest x",
    ],
)
def test_other_commands_are_left_to_others(text):
    assert recognise(text) is None
    assert UnittestRunner().recognise(Command(".", (), tuple(text.split(" ")))) is None


def test_odd_ids_are_ids():
    nodes = ("a b/t.py::test_x[a b]", "t.py::test_x[x::y/z[1]]", "d[1]/t.py::C::test_ü[é]")
    selection = RUNNER.recognise(Command(".", (), ("pytest", *nodes)))
    assert selection.nodes == nodes
    assert selection.files == ("a b/t.py", "t.py", "d[1]/t.py")


def test_files_are_seen_from_the_checkout():
    assert recognise("pytest test_cart.py::X", cd="tests").files == ("tests/test_cart.py",)
    assert recognise("pytest ../test_cart.py::X", cd="tests/deep").files == ("tests/test_cart.py",)


def test_only_a_path_of_an_interpreter_is_told():
    assert interpreter_path(recognise("python3 -m pytest t.py::x")) is None
    assert interpreter_path(recognise("/usr/bin/python3 -m pytest t.py::x")) == "/usr/bin/python3"


@pytest.mark.parametrize(
    ("node", "wide"),
    [
        ("t.py::TestA", True), ("t.py::TestA::TestB", True), ("t.py::TestC", True), ("t.py::TestA::test_x", False),
        ("t.py::test_f", False), ("t.py::test_f[TestA]", False), ("t.py::TestUnknown", False), ("u.py::TestA", False),
    ],
)  # fmt: skip
def test_a_class_is_wide_by_its_text(node, wide):
    assert bool(wide_selectors(recognise(f"pytest {node}"), {"t.py": TEXT}.get)) is wide


@pytest.mark.parametrize(
    ("declared", "node", "same"),
    [
        ("test_x", "t/a.py::test_x", True),
        ("test_x", "t/a.py::C::test_x[1]", True),
        ("test_x[1]", "t/a.py::test_x[1]", True),
        ("test_x[1]", "t/a.py::test_x[2]", False),
        ("test_x[a::b]", "t/a.py::test_x[a::b]", True),
        ("test_x", "t/a.py::test_xy", False),
        ("C::test_x", "t/a.py::C::test_x[1]", True),
        ("D::test_x", "t/a.py::C::test_x", False),
        ("t/a.py::test_x", "t/a.py::test_x[x::y/z[1]]", True),
        ("t/a.py::test_x", "t/a.py::C::test_x", False),
        ("t/a.py::C::test_x", "t/a.py::C::test_x", True),
        ("a.py::test_x", "t/a.py::test_x", True),
        ("a.py::test_x", "t/ba.py::test_x", False),
        ("./t/a.py::test_x", "t/a.py::test_x", True),
        ("u/a.py::test_x", "t/a.py::test_x", False),
        ("t/a.py::test_x[1]", "t/a.py::test_x[1]", True),
        ("t/a.py::test_x[1]", "t/a.py::test_x[11]", False),
    ],
)
def test_declared_names_and_ids(declared, node, same):
    assert RUNNER.matches(declared, node) is same


@pytest.mark.parametrize(
    ("node", "base"),
    [
        ("t.py::a[1]", "t.py::a"),
        ("t.py::a[b[1]]", "t.py::a"),
        ("d[1]/t.py::a", "d[1]/t.py::a"),
        ("a[1]", "a"),
    ],
)
def test_the_id_without_its_case(node, base):
    assert RUNNER.base_of(node) == base


def test_tests_that_a_text_defines():
    text = TEXT + (
        b"import pytest\nfrom unittest import TestCase\n"
        b"async def test_g(): pass\n@pytest.fixture\ndef test_data(): pass\n"
        b"class TestNot:\n    def __init__(self): pass\n    def test_no(self): pass\n"
        b"class Case(TestCase):\n    def test_case(self): pass\n    def help(self): pass\n"
        b"class More(Case):\n    def test_more(self): pass\n"
        b"class Plain:\n    def test_no(self): pass\n"
    )
    assert set(RUNNER.declared_tests("t/test_a.py", text)) == {
        f"t/test_a.py::{name}"
        for name in (
            "TestA::test_x", "TestA::TestB::test_y", "test_f", "test_g",
            "Case::test_case", "More::test_case", "More::test_more",
        )
    }  # fmt: skip
    assert RUNNER.declared_tests("t/test_a.py", b"def test_x(:") is None
    assert RUNNER.declared_tests("t/test_a.py", b"\x00") is None
    assert RUNNER.declared_tests("t/conftest.py", b"def test_x(): pass") == ()
    assert RUNNER.declared_tests("t/data.json", b"{}") == ()


def test_full_ids_make_a_selection():
    selection = RUNNER.run_selection(["t/a.py::test_x", "t/a.py::test_y[1]"])
    assert selection.nodes == ("t/a.py::test_x", "t/a.py::test_y[1]")
    assert selection.files == ("t/a.py",)
