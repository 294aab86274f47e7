# SPDX-License-Identifier: Apache-2.0
"""Keeps the import cheap and the layers one-way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Distributions that no start of the command may load before it needs them.
HEAVY = {"torch", "docker", "datasets", "pydantic_ai", "openai", "anthropic", "numpy", "pytest"}


def loaded_by(code: str) -> set[str]:
    """Top-level modules in a fresh interpreter after ``code``, beyond those of the bare one."""
    probe = "import sys; before = set(sys.modules)\n{}\nprint(*sorted(set(sys.modules) - before))"
    argv = [sys.executable, "-c", probe.format(code)]
    out = subprocess.run(argv, check=True, capture_output=True, text=True, cwd="/").stdout
    return {name.partition(".")[0] for name in out.split()}


def test_import_loads_the_standard_library_alone() -> None:
    extra = loaded_by("import redfirst") - set(sys.stdlib_module_names) - {"redfirst"}
    assert extra == set()


def test_import_says_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", "import redfirst"], check=True, capture_output=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_core_loads_the_standard_library_alone() -> None:
    code = "import redfirst.core.verdict, redfirst.core.bundle, redfirst.core.evidence, redfirst.core.limits"
    assert loaded_by(code) - set(sys.stdlib_module_names) == {"redfirst"}


def test_the_gate_and_the_command_load_nothing_heavy() -> None:
    assert loaded_by("import redfirst.gate, redfirst.surfaces.cli.main") & HEAVY == set()


def test_a_room_imports_only_rooms_below_it() -> None:
    command = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
