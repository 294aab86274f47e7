# SPDX-License-Identifier: Apache-2.0
"""Existing Python tests may grow, and no trick removes, weakens or switches one off."""

# ruff: noqa: E501  a line of the tables is one edit

from __future__ import annotations

import pytest

from redfirst.patches.existing_python import python_faults

OLD = '''import pytest
import unittest

CASES = [(1, 2), (3, 4)]


def helper(x):
    return x


def check(x):
    assert x > 0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 2),
        ("x", []),
    ],
)
def test_table(a, b):
    """Says what it is."""
    assert b


@pytest.mark.parametrize("a", [-1, 101])
def test_row(a):
    # a comment
    assert a


@pytest.mark.parametrize("a, b", CASES)
def test_cases(a, b):
    for x in [1, 2]:
        assert x
        if x:
            assert a
    with pytest.raises(ValueError):
        int("x")
    assert b


class TestThing:
    def test_one(self):
        assert 1

    def test_two(self):
        assert 2


class Other(unittest.TestCase):
    def test_three(self):
        self.assertEqual(1, 1)
'''


def changed(*pairs: str) -> bytes:
    """OLD with each first text replaced by the one after it."""
    text = OLD
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text.encode()


def faults(new: bytes, path: str = "tests/test_a.py", old: bytes | None = OLD.encode()) -> list[str]:
    return python_faults(path, old, new)


TEST_ONE = "    def test_one(self):\n        assert 1\n"
LAST = "        self.assertEqual(1, 1)\n"
END = LAST + "\n\n"


@pytest.mark.parametrize(
    "new",
    [
        changed(),
        changed("        (\"x\", []),\n", "        (\"x\", []),\n        (5, 6),\n"),
        changed("        (1, 2),\n        (\"", "        (1, 2),\n        (0, 1),\n        (\""),
        changed("[-1, 101]", "[-1, 101, 150]"),
        changed("[-1, 101]", "[-1, 50, 101]"),
        changed("[-1, 101]", "[\n    -1,\n    101,\n    150,\n]"),
        changed("[(1, 2), (3, 4)]", "[(1, 2), (3, 4), (5, 6)]"),
        changed("[1, 2]", "[1, 2, 3]"),
        changed("    assert b\n\n\nclass", "    assert b\n    assert a\n\n\nclass"),
        changed("        assert x\n", "        assert x\n        assert x > 0\n"),
        changed("        int(\"x\")\n", "        int(\"x\")\n    assert True\n"),
        changed(LAST, LAST + "        self.assertTrue(1)\n\n    def test_four(self):\n        self.assertEqual(2, 3)\n"),
        changed(LAST, LAST + "\n\ndef test_new():\n    assert 0\n"),
        changed(LAST, LAST + "\n\n@pytest.mark.skip\ndef test_new():\n    assert 0\n"),
        changed(LAST, LAST + "\n\ndef test_new():\n    pytest.skip('no')\n"),
        changed(LAST, LAST + "\n\nclass TestNew:\n    pytestmark = pytest.mark.skip\n\n    def test_x(self):\n        pass\n"),
        changed(LAST, LAST + "\n\n@pytest.fixture\ndef thing():\n    return 1\n"),
        changed(LAST, END + "globals()[name] = print\n"),
        changed(LAST, END + "class TestNew:\n    pass\n\n\nfor n in [1, 2]:\n    setattr(TestNew, f'test_{n}', print)\n"),
        changed(LAST, END + "unittest.TestCase.maxDiff = None\n"),
        changed(LAST, END + "plugin = __import__('pytest_asyncio')\n"),
        changed("import unittest\n", "import unittest\nfrom pkg import *\n"),
        changed("import unittest\n", "import unittest\nimport os\nfrom pkg import name\n"),
        changed("import pytest\n", "import os\nimport pytest\n"),
        changed("import unittest\n", "import unittest\nimport pytest_asyncio\n"),
        changed("    return x\n", "    return x + 1\n"),
        changed("def helper(x):\n    return x\n\n\n", ""),
        changed("    assert a\n\n\n@pytest.mark.parametrize(\"a, b\"", "    assert a\n    pytest_args = [a]\n\n\n@pytest.mark.parametrize(\"a, b\""),
        changed(TEST_ONE, TEST_ONE + "        for y in (1,):\n            if y:\n                break\n        assert y\n"),
        changed(TEST_ONE, "    def test_one(self):\n        def inner():\n            return 1\n\n        assert 1\n        assert inner()\n"),
        OLD.encode().replace(b"\n", b"\r\n"),
        OLD.encode().replace(TEST_ONE.encode(), b"") .replace(b"        assert 2\n", b"        assert 2\n\n" + TEST_ONE.encode()),
    ],
)  # fmt: skip
def test_growth_is_allowed(new: bytes) -> None:
    old = OLD.encode().replace(b"\n", b"\r\n") if b"\r\n" in new else OLD.encode()
    assert faults(new, old=old) == []


@pytest.mark.parametrize(
    "new",
    [
        changed(TEST_ONE + "\n", ""),
        changed("test_one", "test_uno"),
        changed("test_one", "check_one"),
        changed("class TestThing", "class TestOther"),
        changed("class TestThing:", "class Thing:"),
        changed("        assert 1\n", "        pass\n"),
        changed("        assert 1\n", "        assert 1 or True\n"),
        changed("        assert 1\n", "        assert 1, 'message'\n"),
        changed("    assert b\n\n\nclass", "\n\nclass"),
        changed("    assert b\n\n\nclass", "    if b:\n        assert b\n\n\nclass"),
        changed("    assert b\n\n\nclass", "    try:\n        assert b\n    except AssertionError:\n        pass\n\n\nclass"),
        changed("raises(ValueError)", "raises(Exception)"),
        changed("assertEqual(1, 1)", "assertTrue(1)"),
        changed("        (1, 2),\n        (\"", "        (\""),
        changed("        (1, 2),\n        (\"", "        (1, 3),\n        (\""),
        changed("(\"x\", [])", "(\"x\", [1])"),
        changed("[-1, 101]", "[-1]"),
        changed("[-1, 101]", "[-1, 102]"),
        changed("[-1, 101]", "[-1, 101][:1]"),
        changed("[(1, 2), (3, 4)]", "[(1, 2)]"),
        changed("[(1, 2), (3, 4)]", "[(1, 2), (3, 5)]"),
        changed("[(1, 2), (3, 4)]", "[]"),
        changed("CASES = [(1, 2), (3, 4)]\n", "CASES = [(1, 2), (3, 4)]\nCASES = []\n"),
        changed("CASES = [(1, 2), (3, 4)]\n", "CASES = [(1, 2), (3, 4)]\nCASES.pop()\n"),
        changed("[1, 2]", "[1]"),
        changed("[1, 2]", "[]"),
        changed("if x:", "if x > 5:"),
        changed("def test_row(a):", "def test_row(a, b=1):"),
        changed("    def test_one(self):\n", "    def test_one(self):\n        return\n"),
        changed("    def test_one(self):\n", "    def test_one(self):\n        if 1:\n            return\n"),
        changed("    def test_one(self):\n", "    def test_one(self):\n        raise SystemExit\n"),
        changed("    def test_one(self):\n", "    def test_one(self):\n        pytest.skip('x')\n"),
        changed("    def test_three(self):\n", "    def test_three(self):\n        self.skipTest('x')\n"),
        changed("    for x in [1, 2]:\n", "    for x in [1, 2]:\n        continue\n"),
        changed("            assert a\n", "            assert a\n            break\n"),
        changed("            assert a\n", "            assert a\n            return\n"),
        changed("    def test_one(self):\n", "    @pytest.mark.skip\n    def test_one(self):\n"),
        changed("    def test_one(self):\n", "    @pytest.mark.xfail\n    def test_one(self):\n"),
        changed("    def test_one(self):\n", "    @pytest.mark.slow\n    def test_one(self):\n"),
        changed("    def test_three(self):\n", "    @unittest.skip('x')\n    def test_three(self):\n"),
        changed("    def test_three(self):\n", "    @unittest.expectedFailure\n    def test_three(self):\n"),
        changed("class TestThing:\n", "@pytest.mark.skip\nclass TestThing:\n"),
        changed("class TestThing:\n", "class TestThing:\n    __test__ = False\n\n"),
        changed("class TestThing:\n", "class TestThing:\n    pytestmark = pytest.mark.skip\n\n"),
        changed("class TestThing:\n", "class TestThing:\n    def __init__(self):\n        pass\n\n"),
        changed("class TestThing:\n", "class TestThing:\n    test_one = None\n\n"),
        changed("class Other(unittest.TestCase):", "class Other:"),
        changed("class Other(unittest.TestCase):", "class Other(Base, unittest.TestCase):"),
        changed("class Other(unittest.TestCase):\n", "class Other(unittest.TestCase):\n    def run(self, result=None):\n        pass\n\n"),
        changed("class Other(unittest.TestCase):\n", "class Other(unittest.TestCase):\n    def assertEqual(self, a, b):\n        pass\n\n"),
        changed("class Other(unittest.TestCase):\n", "class Other(unittest.TestCase):\n    def setUp(self):\n        self.skipTest('x')\n\n"),
        changed(LAST, END + "def test_row():\n    pass\n"),
        changed(LAST, END + "test_row = None\n"),
        changed(LAST, END + "del test_row\n"),
        changed(LAST, END + "from pkg import test_row\n"),
        changed(LAST, END + "import pkg as test_row\n"),
        changed(LAST, END + "class TestThing:\n    def test_new(self):\n        pass\n"),
        changed(LAST, END + "TestThing = None\n"),
        changed(LAST, END + "TestThing.test_one = None\n"),
        changed(LAST, END + "del TestThing.test_one\n"),
        changed(LAST, END + "delattr(TestThing, 'test_one')\n"),
        changed(LAST, END + "setattr(TestThing, 'test_one', None)\n"),
        changed(LAST, END + "globals()['test_row'] = None\n"),
        changed(LAST, END + "globals().pop('test_row')\n"),
        changed(LAST, END + "globals().update(test_row=None)\n"),
        changed(LAST, END + "for test_row in []:\n    pass\n"),
        changed(LAST, END + "with open('x') as test_row:\n    pass\n"),
        changed(LAST, END + "if (test_row := None):\n    pass\n"),
        changed(LAST, END + "try:\n    def test_row(): pass\nexcept Exception:\n    pass\n"),
        changed(LAST, END + "def later():\n    global test_row\n    test_row = None\n\n\nlater()\n"),
        changed(LAST, END + "TestThing.__test__ = False\n"),
        changed(LAST, END + "try:\n    1 / 0\nexcept ZeroDivisionError as TestThing:\n    pass\n"),
        changed(LAST, END + "match 1:\n    case TestThing:\n        pass\n"),
        changed(LAST, END + "match [1]:\n    case [*test_row]:\n        pass\n"),
        changed(LAST, END + "match {}:\n    case {**test_row}:\n        pass\n"),
        changed(LAST, END + "from pkg import *\n"),
        changed(LAST, END + "for n in list(vars(TestThing)):\n    delattr(TestThing, n)\n"),
        changed(LAST, END + "setattr(TestThing, '__te' + 'st__', False)\n"),
        changed(LAST, END + "for n in list(globals()):\n    del globals()[n]\n"),
        changed(LAST, END + "[vars(pkg).pop(n) for n in dir()]\n"),
        changed(LAST, END + "import contextlib\n\npytest.raises = contextlib.suppress\n"),
        changed(LAST, END + "unittest.case._Outcome.x = 1\n"),
        changed(LAST, END + "@pytest.fixture\ndef thing(monkeypatch):\n    monkeypatch.setattr(pytest, 'raises', None)\n"),
        changed(LAST, END + "test_row.__test__ = False\n"),
        changed(LAST, END + "__test__ = False\n"),
        changed(LAST, END + "test_row.__code__ = (lambda a: None).__code__\n"),
        changed(LAST, END + "TestThing.anything = 1\n"),
        changed(LAST, END + "unittest.TestCase.assertEqual = lambda *rest: None\n"),
        changed(LAST, END + "exec('test_row = None')\n"),
        changed(LAST, END + "getattr(pytest.mark, 'skip')(test_row)\n"),
        changed(LAST, END + "pytestmark = pytest.mark.skip\n"),
        changed(LAST, END + "pytestmark = [pytest.mark.slow]\n"),
        changed(LAST, END + "test_row = pytest.mark.skip(test_row)\n"),
        changed(LAST, END + "pytest.skip('x', allow_module_level=True)\n"),
        changed(LAST, END + "raise unittest.SkipTest('x')\n"),
        changed(LAST, END + "pytest.importorskip('nothing')\n"),
        changed(LAST, END + "@pytest.fixture(autouse=True)\ndef off():\n    pytest.skip('x')\n"),
        changed(LAST, END + "def setup_module():\n    pytest.skip('x')\n"),
        changed(LAST, END + "def load_tests(loader, tests, pattern):\n    return tests\n"),
        changed(LAST, END + "def pytest_collection_modifyitems(items):\n    items.clear()\n"),
        changed("@pytest.mark.parametrize(\"a\", [-1, 101])", "@pytest.mark.parametrize(\"a\", [-1, 101], ids=str)"),
        changed("@pytest.mark.parametrize(\"a\", [-1, 101])\n", ""),
        changed("def check(x):\n    assert x > 0\n", "def check(x):\n    pass\n"),
        changed("class TestThing:\n    def test_one(self):\n        assert 1\n\n    def test_two(self):\n        assert 2\n",
                "if False:\n    class TestThing:\n        def test_one(self):\n            assert 1\n\n        def test_two(self):\n            assert 2\n"),
        changed("@pytest.mark.parametrize(\"a\", [-1, 101])\ndef test_row(a):\n    # a comment\n    assert a\n",
                "if False:\n    @pytest.mark.parametrize(\"a\", [-1, 101])\n    def test_row(a):\n        # a comment\n        assert a\n"),
        changed("def test_row(a):", "async def test_row(a):"),
        changed('    """Says what it is."""\n', ""),
        changed("    # a comment\n", ""),
        b"",
        b"import pytest\n",
        b"def test_broken(:\n",
    ],
)  # fmt: skip
def test_everything_else_is_a_fault(new: bytes) -> None:
    assert faults(new)


@pytest.mark.parametrize(
    "text",
    [
        "def pytest_runtest_makereport(item, call): pass",
        "async def pytest_runtest_makereport(item, call): pass",
        "pytest_runtest_makereport = print",
        "pytest_plugins = ['pytester']",
        "pytest_plugins: list[str] = ['pytester']",
        "from plugin import pytest_runtest_makereport",
        "from plugin import report as pytest_runtest_makereport",
        "from plugin import *",
        "globals()['pytest_runtest_makereport'] = print",
        "globals().update(pytest_runtest_makereport=print)",
        "class P:\n    def pytest_runtest_makereport(self): pass",
        "if True:\n    def pytest_configure(config): pass",
        "import pytest\n\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_call(item): yield",
        "def load_tests(loader, tests, pattern): return tests",
        "from x import load_tests",
        "load_tests = None",
        "collect_ignore = ['test_a.py']",
        "collect_ignore_glob = ['*']",
        "(pytest_plugins, other) = (['x'], 1)",
        "def f():\n    global pytest_plugins\n    pytest_plugins = []",
        "import pytest\n\n@pytest.fixture(autouse=True)\ndef off(): pytest.skip()",
        "globals().update({'pytest_runtest_setup': print})",
        "match print:\n    case pytest_runtest_setup:\n        pass",
        "try:\n    pass\nexcept OSError as pytest_plugins:\n    pass",
        "if (pytest_plugins := []): pass",
        "exec('pytest_runtest_setup = print')",
        "P = type('P', (), {'pytest_runtest_setup': print})",
        "import _pytest.python\n\n_pytest.python.Function.runtest = None",
        "import pytest\n\n@pytest.fixture(autouse=True)\ndef off(request):\n    request.node.runtest = print",
        "import pytest\n\n@pytest.fixture(autouse=True)\ndef off(request):\n    request.node.obj = print",
        "import pytest\n\n@pytest.fixture(autouse=True)\ndef off():\n    raise pytest.skip.Exception('x')",
        "import pytest\nfrom _pytest.outcomes import Skipped\n\n@pytest.fixture(autouse=True)\ndef off():\n    raise Skipped('x')",
    ],
)
@pytest.mark.parametrize("old", [None, b"import pytest\n"])
def test_hooks_in_every_form(text: str, old: bytes | None) -> None:
    assert faults(f"{text}\n".encode(), "tests/conftest.py", old)


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\n\n@pytest.fixture\ndef thing(): return 1",
        "import pytest_asyncio\nimport pytest_mock",
        "from pytest_mock import MockerFixture",
        "def make_pytest_file(): pass",
        "import pytest\n\n@pytest.fixture\ndef f(request):\n    pytest_version = 1\n    return pytest_version",
        "from pathlib import Path",
    ],
)
def test_fixture_files_without_hooks(text: str) -> None:
    assert faults(f"{text}\n".encode(), "tests/conftest.py", b"import pytest\n") == []
    assert faults(f"{text}\n".encode(), "tests/conftest.py", None) == []


def test_a_hook_that_base_has_may_stay() -> None:
    old = b"def pytest_configure(config):\n    pass\n"
    assert faults(old + b"\n\nx = 1\n", "tests/conftest.py", old) == []
    assert faults(old.replace(b"pass", b"config.x = 1"), "tests/conftest.py", old)


def test_a_new_file_may_skip_itself() -> None:
    text = (
        b"import pytest\n\npytestmark = pytest.mark.skip\n\n\ndef test_a():\n    pytest.importorskip('x')\n"
    )
    assert faults(text, "tests/test_new.py", None) == []


def test_an_existing_double_definition_may_stay() -> None:
    old = b"def test_a():\n    assert 1\n\n\ndef test_a():\n    assert 2\n"
    assert faults(old + b"\n\ndef test_b():\n    assert 0\n", old=old) == []
    assert faults(old.replace(b"assert 2", b"pass"), old=old)


def test_what_this_python_cannot_parse_is_judged_by_lines() -> None:
    old = b"def test_a():\n    print 'x'\n    assert 1\n"
    assert faults(old + b"    assert 2\n", old=old) == []
    assert faults(old.replace(b"    assert 1\n", b""), old=old)
    assert faults(old + b"def pytest_configure(c): pass\n", old=old)
    assert faults(old + b"pytestmark = x.skip\n", old=old)
    assert faults(old + b"def test_a():\n    pass\n", old=old)
    assert faults(old + b"test_a = None\n", old=old)
    assert faults(b"if 0:\n" + old.replace(b"def", b"  def").replace(b"    ", b"      "), old=old)


def test_what_is_nested_too_deeply_is_refused() -> None:
    deep = b"x = " + b"+".join([b"1"] * 2500) + b"\n"
    for old in (None, OLD.encode(), deep):
        assert faults((old or b"") + deep, old=old)


@pytest.mark.parametrize(
    "body", ["    if a != b:\n        raise AssertionError(a)\n", "    pytest.fail('x')\n"]
)
def test_a_helper_that_raises_keeps_its_statements(body: str) -> None:
    old = f"import pytest\n\n\ndef same(a, b):\n{body}".encode()
    assert faults(old + b"    return True\n", "tests/helpers.py", old) == []
    assert faults(old.replace(body.encode(), b"    return True\n"), "tests/helpers.py", old)


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\n\npytest.raises = None\n",
        "exec('pytest_plugins = []')\n",
        "x = {'load_tests': print}\n",
    ],
)
def test_a_new_file_leaves_the_runner_alone(text: str) -> None:
    assert faults(text.encode(), "tests/test_new.py", None)


def test_a_star_import_stays_above_the_tests() -> None:
    old = b"from pkg import *\n\n\ndef test_a():\n    assert 1\n"
    assert faults(old + b"\n\ndef test_b():\n    assert 0\n", old=old) == []
    assert faults(old.replace(b"from pkg import *\n\n\n", b"") + b"\n\nfrom pkg import *\n", old=old)


def test_a_case_around_a_test_stays_as_it_is() -> None:
    old = (
        b"import sys\n\nmatch sys.platform:\n    case 'linux':\n        def test_a():\n            assert 1\n"
    )
    assert faults(old + b"\n\ndef test_b():\n    assert 0\n", old=old) == []
    assert faults(old.replace(b"'linux'", b"'plan9'"), old=old)


def test_a_new_test_that_changes_the_runner_is_left_to_the_run() -> None:
    new = changed(LAST, END + "def test_new():\n    pytest.raises = None\n")
    assert faults(new) == []


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\n\nplugin = pytest.importorskip('pytest_asyncio')\n",
        "from unittest import mock\n\nthing = mock.Mock()\nthing.obj = 1\n",
        "import pytest\nimport typer\n\n\ndef test_exit():\n    with pytest.raises(typer.Exit):\n        raise typer.Exit\n",
        "import pytest\n\n\ndef test_environment(monkeypatch):\n    monkeypatch.setattr('pkg.name', 1)\n",
        "class TestMade:\n    pass\n\n\nfor n in [1, 2]:\n    setattr(TestMade, f'test_{n}', print)\n",
    ],
)
def test_new_files_that_are_as_they_should_be(text: str) -> None:
    assert faults(text.encode(), "tests/test_new.py", None) == []
