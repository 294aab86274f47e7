# SPDX-License-Identifier: Apache-2.0
"""Keeps out: facts about a project that are guessed, or that need its code to run."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.environments.checkouts import write

from redfirst.environments.members import read_project
from redfirst.environments.project import from_record, poetry_specifier


def test_pyproject_is_read(tmp_path: Path) -> None:
    text = """
[build-system]
requires = ["setuptools", "setuptools_scm"]
[project]
name = "Acme.Wrap"
dynamic = ["version"]
requires-python = ">=3.9"
dependencies = ["leftpad>=2", "colours; sys_platform == 'win32'"]
[project.optional-dependencies]
test = ["pytest-mock"]
docs = ["mkdocs"]
[dependency-groups]
dev = [{include-group = "lint"}, "coverage"]
lint = ["ruff", {include-group = "dev"}]
[tool.setuptools_scm]
version_file = "src/acme/_version.py"
[tool.redfirst]
python = "env/bin/python"
"""
    tree = write(tmp_path, {"pyproject.toml": text, "src/acme/__init__.py": ""})
    found = read_project(tree)

    assert (found.name, found.requires_python) == ("Acme.Wrap", ">=3.9")
    assert found.dependencies == ("leftpad>=2", "colours; sys_platform == 'win32'")
    assert found.test_dependencies == ("pytest-mock",)
    assert found.group_dependencies == ("ruff", "coverage")
    assert found.extras == ("test",)
    assert found.source_folder
    assert found.installable
    assert found.generates
    assert found.scm_version
    assert not found.importable
    assert found.python == "env/bin/python"
    assert found.languages == ("python",)
    assert from_record(json.loads(json.dumps(asdict(found)))) == found


def test_setup_files_are_read_and_not_run(tmp_path: Path) -> None:
    script = """
from setuptools import setup, Extension
open("/nowhere/at/all", "w")
NEEDS = ["leftpad"]
setup(name="acme", install_requires=NEEDS, extras_require={"tests": ["nose"]}, version=compute(),
      ext_modules=[Extension("a", ["a.c"])], python_requires=">=3.7")
"""
    cfg = "[metadata]\nname = acme-cfg\nversion = attr: acme.v\n"
    cfg += "[options]\ninstall_requires =\n    six\n    attrs>=20 # old\n"
    tree = write(tmp_path, {"setup.py": script, "setup.cfg": cfg})
    found = read_project(tree)

    assert found.name == "acme-cfg"
    assert found.version == ""
    assert set(found.dependencies) == {"six", "attrs>=20", "leftpad"}
    assert found.test_dependencies == ("nose",)
    assert found.requires_python == ">=3.7"
    assert found.generates
    assert found.installable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("^1.2", ">=1.2,<2"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        ("1.4", "==1.4"),
        (">=1,<3", ">=1,<3"),
        ("*", ""),
        ("^1 || ^2", ""),
    ],
)
def test_poetry_versions_become_standard_ones(text: str, expected: str) -> None:
    assert poetry_specifier(text) == expected


def test_poetry_tables_are_read(tmp_path: Path) -> None:
    text = """
[tool.poetry]
name = "acme"
[tool.poetry.dependencies]
python = "^3.9"
leftpad = "^2.1"
extra = {version = "1.0", optional = true}
[tool.poetry.group.test.dependencies]
pytest-mock = "*"
"""
    found = read_project(write(tmp_path, {"pyproject.toml": text}))

    assert found.requires_python == ">=3.9,<4"
    assert found.dependencies == ("leftpad>=2.1,<3",)
    assert found.test_dependencies == ("pytest-mock",)
    assert "poetry" in found.tools


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"tests/test_a.py": "def test_a():\n    pass\n"}, True),
        (
            {"tests/test_a.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"},
            False,
        ),
        ({"tests/conftest.py": ""}, True),
        ({"tox.ini": "[pytest]\n"}, True),
        ({"setup.cfg": "[tool:pytest]\n"}, True),
        ({"node_modules/x/test_a.py": "def test_a(): pass\n", "a.py": ""}, False),
    ],
)
def test_pytest_is_recognised(tmp_path: Path, files: dict[str, str], expected: bool) -> None:
    assert read_project(write(tmp_path, files)).uses_pytest is expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"acme/__init__.py": "", "tests/test_a.py": ""}, False),
        ({"acme/__init__.py": "", "tests/__init__.py": ""}, True),
        ({"acme/__init__.py": "", "conftest.py": ""}, True),
        ({"src/acme/__init__.py": "", "conftest.py": ""}, False),
        ({"src/acme/__init__.py": "", "pytest.ini": "[pytest]\npythonpath =\n    src\n"}, True),
    ],
)
def test_whether_tests_can_import_from_the_tree(
    tmp_path: Path, files: dict[str, str], expected: bool
) -> None:
    assert read_project(write(tmp_path, files)).importable is expected


def test_broken_files_count_as_absent(tmp_path: Path) -> None:
    files = {"pyproject.toml": "[project\n", "setup.cfg": "\x00[", "setup.py": "def ("}
    found = read_project(write(tmp_path, files))
    assert (found.name, found.dependencies) == ("", ())


def test_other_languages(tmp_path: Path) -> None:
    assert read_project(write(tmp_path, {"Cargo.toml": "", "package.json": "{}"})).languages == (
        "rust",
        "node",
    )
