# SPDX-License-Identifier: Apache-2.0
"""Keeps out: packages below the top of a checkout that nothing installs, or that are taken for third parties."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.environments.checkouts import write

from redfirst.environments.members import read_project

A = '[project]\nname = "acme-a"\nrequires-python = ">=3.8"\ndependencies = ["six", "acme_b>=1"]\n'
B = '[project]\nname = "acme.b"\n[project.optional-dependencies]\ntest = ["idna"]\n'
TWO = {
    "packages/a/pyproject.toml": A,
    "packages/a/src/a/__init__.py": "",
    "packages/a/tests/test_a.py": "def test_a(): pass\n",
    "packages/b/pyproject.toml": B,
    "packages/b/requirements-test.txt": "attrs\n",
}


def test_packages_below_an_empty_top_are_found(tmp_path: Path) -> None:
    found = read_project(write(tmp_path, TWO))
    assert found.members == ("./packages/a", "./packages/b[test]")
    assert (found.dependencies, found.test_dependencies) == (("six",), ("idna",))
    assert found.requirement_files == ("packages/b/requirements-test.txt",)
    assert (found.installable, found.source_folder, found.uses_pytest) == (True, True, True)
    assert (found.requires_python, found.runner, found.importable) == (">=3.8", "pytest", False)
    assert found.hints == ("acme-a", "acme.b")


@pytest.mark.parametrize(
    ("top", "members"),
    [
        ('[project]\nname = "top"\n', ()),
        ('[project]\nname = "top"\n[tool.uv.workspace]\nmembers = ["packages/b"]\n', ("./packages/b[test]",)),
        (
            '[build-system]\nrequires = []\n[project]\nname = "top"\n[tool.uv.workspace]\nmembers = ["packages/*"]\n',
            (".", "./packages/a", "./packages/b[test]"),
        ),
        ('[tool.uv.workspace]\nmembers = ["../*", "/etc"]\n', ()),
        ("[tool.black]\n", ("./packages/a", "./packages/b[test]")),
    ],
)
def test_a_top_that_is_a_package_lists_its_members(
    tmp_path: Path, top: str, members: tuple[str, ...]
) -> None:
    assert read_project(write(tmp_path, {**TWO, "pyproject.toml": top})).members == members


def test_examples_and_test_data_are_no_packages(tmp_path: Path) -> None:
    files = {f"{folder}/pyproject.toml": A for folder in ("examples/a", "tests/data/a", ".hidden", "docs")}
    assert read_project(write(tmp_path, files)).members == ()
