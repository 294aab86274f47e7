# SPDX-License-Identifier: Apache-2.0
"""Hostile code stays inside its bounds, whoever runs the sandbox: see ``attack_table``."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from tests.sandbox.attack_table import ATTACKS
from tests.sandbox.conftest import Person


def attack(person: Person, name: str) -> dict[str, Any]:
    argv = [
        *(*person.prefix, person.python, "-I", "-S"),
        *(str(person.folder / "tests" / "attack_driver.py"), str(person.source), name),
        *(str(person.folder / "tree"), str(person.folder / "secret")),
    ]
    done = subprocess.run(
        argv, capture_output=True, text=True, cwd="/", env={"PATH": "/usr/local/bin:/usr/bin:/bin"}
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * a.slow) for n, a in ATTACKS.items()]
)
def test_attack_is_held(person: Person, name: str) -> None:
    result = attack(person, name)
    shown = json.dumps(result)[:3000]
    assert result["survivors"] == []
    assert ATTACKS[name].holds(result), shown
    assert (person.folder / "tree" / "top.txt").read_text() == "top\n"
    assert sorted(path.name for path in (person.folder / "tree").iterdir()) == [
        "folder",
        "tool.sh",
        "top.txt",
    ]
