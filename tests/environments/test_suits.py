# SPDX-License-Identifier: Apache-2.0
"""Keeps out: an interpreter that is chosen, or refused, for the wrong reason."""

from __future__ import annotations

import pytest

from redfirst.environments.installed import Installed
from redfirst.environments.interpreter import Interpreter
from redfirst.environments.project import Project
from redfirst.environments.suits import Fit, fit

MARKERS = (
    ("implementation_name", "cpython"),
    ("implementation_version", "3.11.7"),
    ("os_name", "posix"),
    ("platform_machine", "x86_64"),
    ("platform_python_implementation", "CPython"),
    ("platform_release", "6"),
    ("platform_system", "Linux"),
    ("platform_version", "1"),
    ("python_full_version", "3.11.7"),
    ("python_version", "3.11"),
    ("sys_platform", "linux"),
)


def _interpreter(**installed: str) -> Interpreter:
    distributions = tuple((name.replace("_", "-"), version) for name, version in installed.items())
    return Interpreter(
        "/v/bin/python", "3.11.7", "cpython", "linux", "/v", True, (), (), MARKERS, Installed(distributions)
    )


NOT_THERE = "the project is not installed in it"
COPIED = "a copy of acme is installed in it"
SOURCE = ", so tests would not see the checkout's src folder"


@pytest.mark.parametrize(
    ("project", "installed", "own", "expected"),
    [
        (Project(), {}, False, Fit()),
        (Project(requires_python=">=3.12"), {}, False, Fit(("Python 3.11.7 is not >=3.12",))),
        (Project(requires_python=">=3.9,<4"), {}, False, Fit()),
        (Project(requires_python="rubbish"), {}, False, Fit()),
        (Project(dependencies=("left_pad>=2",)), {"left_pad": "2.0"}, False, Fit()),
        (Project(dependencies=("left-pad>=2",)), {"left_pad": "1"}, False, Fit(("left-pad 1 is not >=2",))),
        (Project(dependencies=("a>=2",)), {"a": "3.0rc1"}, False, Fit()),
        (Project(dependencies=("a; sys_platform == 'win32'",)), {}, False, Fit()),
        (Project(dependencies=("a; extra == 'x'",)), {}, False, Fit()),
        (Project(dependencies=("a[x]; python_version > '3'",)), {}, False, Fit(("a is missing",))),
        (Project(dependencies=("a @ https://example.org/a.whl",)), {"a": "1"}, False, Fit()),
        (Project(dependencies=("not a requirement ==",)), {}, False, Fit()),
        (
            Project(hints=("a==1",), test_dependencies=("b",)),
            {},
            False,
            Fit((), ("b is missing", "a is missing")),
        ),
        (Project(name="acme", test_dependencies=("acme[all]",)), {}, False, Fit()),
        (Project(name="acme", installable=True), {}, False, Fit((), (NOT_THERE,))),
        (Project(name="acme", installable=True), {"acme": "1"}, False, Fit((), (COPIED,))),
        (Project(name="acme", installable=True, importable=True), {}, False, Fit()),
        (Project(name="acme", installable=True, source_folder=True), {}, False, Fit((NOT_THERE + SOURCE,))),
        (
            Project(name="acme", installable=True, source_folder=True),
            {"acme": "1"},
            False,
            Fit((COPIED + SOURCE,)),
        ),
        (Project(name="acme", installable=True, source_folder=True), {"acme": "1"}, True, Fit()),
    ],
)
def test_what_speaks_against_an_interpreter(
    project: Project, installed: dict[str, str], own: bool, expected: Fit
) -> None:
    assert fit(_interpreter(pytest="8", **installed), project, own=own, runner="pytest") == expected


def test_pytest_must_be_there_where_it_is_used() -> None:
    assert fit(_interpreter(), Project(), own=False, runner="pytest") == Fit(
        ("pytest is not installed in it",)
    )
    assert fit(_interpreter(), Project(), own=False, runner="unittest") == Fit()
