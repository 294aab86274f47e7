# SPDX-License-Identifier: Apache-2.0
"""Small pytest projects, each laid out in one way that real ones are, with the files that show it."""

from __future__ import annotations

from dataclasses import dataclass

from redfirst.core.kinds import FailureKind

COUNT = "def total(numbers):\n    return sum(numbers[1:])\n"


@dataclass(frozen=True)
class Layout:
    """``files``: the project. ``module``: where ``total`` is imported from. ``test``: the file that the patch adds.

    ``command``: how it is run, without the ids. ``below``: the folder that ids start from. ``fixture``: what the
    tests take. ``fails``, ``passes``: claims. ``kind``: of the verdict where the settings keep tests from running.
    """

    files: dict[str, str]
    module: str = "shelf.count"
    test: str = "tests/test_count.py"
    command: str = "pytest"
    below: str = ""
    fixture: str = ""
    fails: str = "total([1, 2]) == 3"
    passes: str = "total([1, 2]) == 2"
    kind: FailureKind = FailureKind.ASSERTION_FAILED

    @property
    def nodes(self) -> tuple[str, str]:
        """Full ids of the two tests: the one that fails, the one that passes."""
        return f"{self.test}::test_fails", f"{self.test}::test_passes"

    @property
    def line(self) -> str:
        """The whole command."""
        return " ".join((self.command, *(node.removeprefix(self.below) for node in self.nodes)))

    @property
    def patch(self) -> str:
        """A diff that adds the test file."""
        body = [f"from {self.module} import total"]
        for name, claim in (("fails", self.fails), ("passes", self.passes)):
            body += ["", "", f"def test_{name}({self.fixture}):", f"    assert {claim}"]
        head = ("--- /dev/null", f"+++ b/{self.test}", f"@@ -0,0 +1,{len(body)} @@")
        return "\n".join((*head, *(f"+{line}" for line in body), ""))


WARNS = """\
import warnings


def total(numbers):
    if len(numbers) == 2:
        warnings.warn("old", DeprecationWarning)
    return 3
"""
FIXTURE = """\
import pytest


@pytest.fixture
def numbers():
    return [1, 2]
"""
PATH = """\
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "src"))
"""
FLAT = {"shelf/__init__.py": "", "shelf/count.py": COUNT}
SRC = {"src/shelf/__init__.py": "", "src/shelf/count.py": COUNT}
ROOT = {"conftest.py": ""}
SHELF = '[project]\nname = "shelf"\nversion = "1"\n'


def settings(text: str, name: str = "pytest.ini") -> dict[str, str]:
    """A flat project with these lines in the ``[pytest]`` section."""
    return {**FLAT, name: f"[pytest]\npythonpath = .\n{text}\n"}


LAYOUTS = {
    "tests inside the package": Layout(
        {**FLAT, "shelf/tests/__init__.py": ""}, test="shelf/tests/test_count.py", module="..count"
    ),
    "tests inside the package, no package themselves": Layout(
        {**FLAT, **ROOT}, test="shelf/tests/test_count.py"
    ),
    "tests beside the code": Layout({**FLAT}, test="shelf/test_count.py"),
    "tests as a package": Layout(
        {**FLAT, "tests/__init__.py": "", "tests/unit/__init__.py": ""}, test="tests/unit/test_count.py"
    ),
    "python -m pytest finds a flat package": Layout({**FLAT}, command="python -m pytest"),
    "a namespace package": Layout(
        {"acme/shelf/count.py": COUNT, "pytest.ini": "[pytest]\npythonpath = .\n"}, module="acme.shelf.count"
    ),
    "a namespace package in src": Layout(
        {
            "src/acme/shelf/__init__.py": "",
            "src/acme/shelf/count.py": COUNT,
            "pytest.ini": "[pytest]\npythonpath = src\n",
        },
        module="acme.shelf.count",
    ),
    "a root conftest that sets the path and brings fixtures": Layout(
        {
            **SRC,
            "conftest.py": PATH + FIXTURE,
        },
        fixture="numbers",
        fails="total(numbers) == 3",
        passes="total(numbers) == 2",
    ),
    "a root below the checkout": Layout(
        {f"sub/{name}": text for name, text in SRC.items()}
        | {"sub/pyproject.toml": SHELF + '\n[tool.pytest.ini_options]\npythonpath = ["src"]\n', "README": ""},
        test="sub/tests/test_count.py",
        command="cd sub && pytest",
        below="sub/",
    ),
    "a root below the checkout, started from the top": Layout(
        {f"sub/{name}": text for name, text in SRC.items()}
        | {"sub/pyproject.toml": SHELF + '\n[tool.pytest.ini_options]\npythonpath = ["src"]\n', "README": ""},
        test="sub/tests/test_count.py",
    ),
    "settings in setup.cfg": Layout({**FLAT, "setup.cfg": "[tool:pytest]\npythonpath = .\n"}),
    "settings in tox.ini": Layout({**FLAT, "tox.ini": "[tox]\n[pytest]\npythonpath = .\n"}),
    "settings in pyproject.toml": Layout(
        {**FLAT, "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = "."\n'}
    ),
    "settings of pytest 9": Layout({**FLAT, "pyproject.toml": '[tool.pytest]\npythonpath = ["."]\n'}),
    "settings in .pytest.ini": Layout(settings("", ".pytest.ini")),
    "import mode importlib": Layout(
        {
            **settings("addopts = --import-mode=importlib"),
            "tests/a/test_count.py": "def test_a():\n    pass\n",
        },
        test="tests/b/test_count.py",
    ),
    "import mode append": Layout(settings("addopts = --import-mode=append")),
    "two files of one name": Layout(
        {**settings(""), "tests/a/test_count.py": "def test_a():\n    pass\n"}, test="tests/b/test_count.py"
    ),
    "other names of files and tests": Layout(
        settings("python_files = check_*.py\npython_functions = check_* test_*"), test="tests/check_count.py"
    ),
    "warnings as errors": Layout(
        {**settings("filterwarnings =\n    error"), "shelf/count.py": WARNS},
        passes="total([3]) == 3",
        kind=FailureKind.EXCEPTION_RAISED,
    ),
    "warnings as errors by the command": Layout(
        {**settings(""), "shelf/count.py": WARNS},
        command="pytest -W error",
        passes="total([3]) == 3",
        kind=FailureKind.EXCEPTION_RAISED,
    ),
    "workers by default": Layout(settings("addopts = -n auto --dist loadfile")),
    "stops, marks and plugins by default": Layout(
        settings(
            "addopts = -x --maxfail=1 --strict-markers --strict-config -p no:cacheprovider -ra -q\n"
            "xfail_strict = true"
        )
    ),
    "a report by default": Layout(settings("addopts = --junitxml=report.xml --basetemp=.tmp --tb=no")),
    "a terminal that is off": Layout(settings("addopts = -p no:terminal")),
    "set-up alone by default": Layout(settings("addopts = --setup-only")),
    "a plan of the set-up by default": Layout(settings("addopts = --setup-plan")),
    "a debugger by default": Layout(settings("addopts = --pdb --trace")),
    "failed first by default": Layout(settings("addopts = --ff --nf")),
    "doctests": Layout(
        {**settings("addopts = --doctest-modules --doctest-glob=*.rst"), "README.rst": ">>> 1\n1\n"}
    ),
    "left out by default": Layout(settings("addopts = -k nothing"), kind=FailureKind.NOT_RUN),
    "coverage that is not installed": Layout(
        settings("addopts = --cov=shelf --cov-report=term"), kind=FailureKind.ENVIRONMENT_ERROR
    ),
    "reruns that are not installed": Layout(
        settings("addopts = --reruns 3"), kind=FailureKind.ENVIRONMENT_ERROR
    ),
    "a plugin that is not installed": Layout(
        settings("addopts = -p pytest_nowhere"), kind=FailureKind.ENVIRONMENT_ERROR
    ),
    "a required plugin that is not installed": Layout(
        settings("required_plugins = pytest-nowhere"), kind=FailureKind.ENVIRONMENT_ERROR
    ),
    "a setting of a plugin that is not installed": Layout(
        settings("addopts = --strict-config\nasyncio_mode = auto"), kind=FailureKind.ENVIRONMENT_ERROR
    ),
    "fixtures from a plugin in the tree": Layout(
        {
            **settings(""),
            "conftest.py": 'pytest_plugins = ["shelf.fixtures"]\n',
            "shelf/fixtures.py": FIXTURE,
        },
        fixture="numbers",
        fails="total(numbers) == 3",
        passes="total(numbers) == 2",
    ),
    "a package of a monorepo": Layout(
        {
            "packages/a/pyproject.toml": SHELF + '\n[tool.pytest.ini_options]\npythonpath = ["src"]\n',
            "packages/a/src/shelf/__init__.py": "",
            "packages/a/src/shelf/count.py": COUNT,
            "packages/b/pyproject.toml": '[project]\nname = "other"\nversion = "1"\n',
            "packages/b/tests/test_count.py": "def test_b():\n    pass\n",
        },
        test="packages/a/tests/test_count.py",
        command="cd packages/a && pytest",
        below="packages/a/",
    ),
}
