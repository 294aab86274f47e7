# SPDX-License-Identifier: Apache-2.0
"""Keeps out: a doctor that says yes where no judgement is possible, or no where it is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.environments.checkouts import committed, write

from redfirst.surfaces.cli.output import print_error, print_json, print_lines, print_table

COMMAND = str(Path(sys.executable).parent / "redfirst")
TEST = (
    "from coins import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_none():\n    pass\n"
)


def _doctor(repo: Path, *options: str) -> tuple[int, str, str]:
    argv = [COMMAND, "doctor", "--repo", str(repo), "--python", sys.executable, *options]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def _record(repo: Path, *options: str) -> tuple[int, dict[str, Any]]:
    code, out, err = _doctor(repo, "--json", *options)
    assert err == ""
    return code, json.loads(out)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files = {"coins.py": "def add(a, b):\n    return a + b\n", "conftest.py": "", "tests/test_add.py": TEST}
    return committed(write(tmp_path / "coins", files))


def test_a_suite_is_collected_and_the_sandbox_is_tried(repo: Path) -> None:
    code, found = _record(repo)

    assert found["problem"] == ""
    assert code == 0
    assert found["possible"] is True
    suite = found["suites"][0]
    assert (suite["runner"], suite["tests"], suite["errors"]) == ("pytest", 2, 0)
    assert suite["fingerprint"]
    held = {item["name"]: item["holds"] for item in found["checks"]}
    for name in ("network", "loopback", "variables", "home", "writing outside", "scratch", "wall clock"):
        assert held[name], found["checks"]
    assert dict(found["guarantees"])
    assert [item["chosen"] for item in found["candidates"]] == [True]
    assert not (repo / ".pytest_cache").exists()


def test_the_text_names_what_was_found(repo: Path) -> None:
    code, out, _ = _doctor(repo)
    assert code == 0
    assert "2 tests, 0 errors" in out
    assert "A judgement is possible here." in out
    assert "\x1b" not in out


def test_errors_of_collection_are_told(repo: Path) -> None:
    write(repo, {"tests/test_broken.py": "import coins.missing\n\n\ndef test_a(): pass\n"})
    committed(repo)
    code, found = _record(repo)
    assert code == 0
    assert (found["suites"][0]["tests"], found["suites"][0]["errors"]) == (2, 1)
    assert "test_broken" in found["suites"][0]["told"]


def test_a_unittest_suite(tmp_path: Path) -> None:
    case = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n"
    repo = committed(write(tmp_path / "plain", {"tests/__init__.py": "", "tests/test_a.py": case}))
    code, found = _record(repo)
    assert code == 0
    assert (found["suites"][0]["runner"], found["suites"][0]["tests"]) == ("unittest", 1)


def test_no_tests_means_no_judgement(tmp_path: Path) -> None:
    repo = committed(write(tmp_path / "empty", {"README": "nothing\n"}))
    code, out, err = _doctor(repo)
    assert code == 3
    assert err.splitlines()[-1].startswith("redfirst: no judgement is possible here: ")
    assert "A judgement is possible" not in out


def test_a_wrong_interpreter_or_folder_is_usage(repo: Path) -> None:
    assert _doctor(repo, "--python", "/nowhere/python")[0] == 2
    code, _, err = _doctor(repo / "absent")
    assert code == 2
    assert len(err.splitlines()) == 1


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_alone(tmp_path: Path) -> None:
    repo = committed(write(tmp_path / "n", {"package.json": '{"name": "n"}', "test/a.test.js": ""}))
    code, found = _record(repo)
    assert code == 0
    assert found["suites"][0]["runner"] == "node"


def test_output_is_plain_where_no_terminal_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([("ok", "a"), ("fails", "longer")], title="Checks", styles={"ok": "green"})
    print_lines(["one", "two \x1b[31m"])
    print_json({"zahl": "ä"})
    print_error("what: todo\nsaid by a tool")
    seen = capsys.readouterr()
    assert seen.out.startswith("Checks\n  ok     a\n  fails  longer\none\ntwo \ufffd[31m\n")
    assert '"zahl": "ä"' in seen.out
    assert seen.err == "redfirst: what: todo\n  said by a tool\n"
