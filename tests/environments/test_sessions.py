# SPDX-License-Identifier: Apache-2.0
"""Keeps out: test requirements that only tox, nox or hatch know and that no environment gets."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.environments.checkouts import write

from redfirst.environments.members import read_project
from redfirst.environments.sessions import Sessions, read_sessions

NOX = """\
import nox

BASE = ["pytest", "six"]
SLOW = BASE + ["numpy"]


@nox.session(python=["3.9", "3.12"])
def tests(session: nox.Session) -> None:
    session.install("-e", ".[fast]", *BASE, "-r", "needs.txt", "-c", "pins.txt")
    session.install(*SLOW)
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def lint(session):
    session.install("ruff")
"""

FACTORS = """\
[tox]
envlist = py3-d{42,52}-{sqlite,mysql}, docs, py3-dmain
[testenv]
deps =
    d42: django<5
    d52: django<6
    dmain: nothing
    mysql: mysqlclient
"""
HATCH = """\
[tool.hatch.envs.default]
dependencies = ["six"]
[tool.hatch.envs.docs]
dependencies = ["x"]
"""

CASES = [
    (
        {"tox.ini": "[testenv]\ndeps =\n    pytest>=7  # the runner\n    six\ncommands = pytest {posargs}"},
        ("pytest>=7", "six"),
        (),
    ),
    (
        {
            "tox.ini": "[testenv]\ndeps = -r{toxinidir}/needs.txt\n    -cpins.txt\n    -rnowhere.txt\n    -r../up.txt"
        },
        (),
        ("needs.txt",),
    ),
    ({"setup.cfg": "[tox:tox]\nenvlist = py3\n[testenv]\ndeps = six\n"}, ("six",), ()),
    ({"tox.ini": "[base]\ndeps = six\n[testenv]\ndeps =\n    {[base]deps}\n    idna"}, ("six", "idna"), ()),
    (
        {"tox.ini": "[testenv]\ndeps =\n    py{3,27}: six\n    postgres: psycopg\n    !docs: idna"},
        ("six", "idna"),
        (),
    ),
    (
        {"tox.ini": FACTORS},
        ("django<6",),
        (),
    ),
    ({"tox.ini": "[testenv:lint]\ndeps = ruff\n[testenv:tests]\ndeps = six"}, ("six",), ()),
    ({"tox.toml": '[env_run_base]\ndeps = ["six"]\n'}, ("six",), ()),
    ({"pyproject.toml": '[tool.tox]\nlegacy_tox_ini = "[testenv]\\ndeps = six"\n'}, ("six",), ()),
    (
        {"pyproject.toml": HATCH},
        ("six",),
        (),
    ),
    ({"noxfile.py": "raise SystemExit\n"}, (), ()),
    ({"tox.ini": "not a section\n", "noxfile.py": "def broken(:\n"}, (), ()),
    ({}, (), ()),
]


@pytest.mark.parametrize(("files", "requirements", "listed"), CASES)
def test_what_is_installed_is_read(tmp_path: Path, files, requirements, listed) -> None:
    found = read_sessions(write(tmp_path, {"needs.txt": "", **files}))
    assert (found.requirements, found.files) == (requirements, listed)


def test_a_noxfile_is_read_and_not_run(tmp_path: Path) -> None:
    found = read_sessions(write(tmp_path, {"noxfile.py": NOX, "needs.txt": ""}))
    assert found == Sessions(("pytest", "six"), ("needs.txt",), ("fast",), pytest=True)


def test_they_count_only_where_the_project_declares_nothing_itself(tmp_path: Path) -> None:
    tox = "[testenv]\ndeps = six\nextras = fast\n"
    text = '[project]\nname = "a"\n[project.optional-dependencies]\nfast = []\n'
    found = read_project(write(tmp_path / "a", {"tox.ini": tox, "pyproject.toml": text}))
    assert (found.group_dependencies, found.extras, found.hints) == (("six",), ("fast",), ("six",))
    text += "test = []\n"
    found = read_project(write(tmp_path / "b", {"tox.ini": tox, "pyproject.toml": text}))
    assert (found.group_dependencies, found.extras, found.hints) == ((), ("test",), ())
