# SPDX-License-Identifier: Apache-2.0
"""Keeps apart a module of the project that came from elsewhere, and another package's module under a second name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import redfirst.runners.harness.origins as told

_ZOO = """
import sys, types
import iniconfig, iniconfig.exceptions
sys.modules["zoo.packages.iniconfig"] = iniconfig
sys.modules["zoo.packages.iniconfig.exceptions"] = iniconfig.exceptions
lost = types.ModuleType("zoo.lost")
lost.__file__ = iniconfig.__file__
sys.modules["zoo.lost"] = lost
"""


def test_a_dependency_under_a_second_name_is_not_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo/__init__.py").write_text(_ZOO)
    script = Path(told.__file__).read_text() + "\nimport zoo\nprint(*origins(), sep='\\n')\n"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    names = {line.partition("\t")[0] for line in done.stdout.splitlines()}
    assert {"zoo", "zoo.lost", "iniconfig"} <= names
    assert not {name for name in names if name.startswith("zoo.packages")}
