# SPDX-License-Identifier: Apache-2.0
"""The harness keeps working in every interpreter and every pytest that it promises to."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from tests.runners import test_pytest_outcomes, test_unittest_runner
from tests.runners.python_driver import interpreters

from redfirst.runners.python_report import HARNESS


@pytest.mark.parametrize("file", sorted(HARNESS.glob("*.py")), ids=lambda file: file.name)
def test_the_harness_is_old_python_and_standard_library(file):
    tree = ast.parse(file.read_text(), feature_version=(3, 8))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).split(".")[0])
    assert names - set(sys.stdlib_module_names) - {"pytest"} == set()
    assert "from __future__ import annotations" in file.read_text() or not names


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.12", "3.13", "3.14"])
def test_unittest_of_every_interpreter(tmp_path, version):
    python = interpreters().get(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    report, completed = test_unittest_runner.run(tmp_path, *test_unittest_runner.EXPECTED, python=python)
    assert report.complete, completed.out.decode()
    assert test_unittest_runner.check(report) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "versions"),
    [
        ("7.0.1", ("3.8", "3.9", "3.10")),
        ("7.4.4", ("3.8", "3.11")),
        ("8.3.5", ("3.9", "3.12", "3.11")),
        ("9.0.0", ("3.13", "3.11")),
    ],
)
def test_every_pytest(tmp_path, release, versions):
    known = interpreters()
    base = next((known[version] for version in versions if version in known), None)
    if base is None:
        pytest.skip(f"none of Python {', '.join(versions)} is on this machine")
    venv = tmp_path / "venv"
    subprocess.run([base, "-m", "venv", venv], check=True, cwd=tmp_path)
    python = str(venv / "bin" / "python")
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"pytest=={release}"]
    subprocess.run(pip, check=True, cwd=tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    report = test_pytest_outcomes.run_zoo(project, python)
    assert report.notes == (f"pytest {release}",)
    tells_owner = base not in (known.get("3.8"), known.get("3.9"))
    assert test_pytest_outcomes.check_zoo(report, tells_owner=tells_owner) == []
