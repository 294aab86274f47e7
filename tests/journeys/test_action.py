# SPDX-License-Identifier: Apache-2.0
"""Keeps the GitHub Action working: its steps are run by bash with the variables that a workflow would set."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.journeys.shop import COMMAND
from tests.journeys.story import BASE, FIXED, GOOD, IDLE, Story, begin

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


class Workflow:
    """One job: its folder for temporary files, its event and what its steps wrote."""

    def __init__(self, story: Story, folder: Path, inputs: Mapping[str, str], event_base: str) -> None:
        self.story, self.temp = story, folder / "runner"
        self.temp.mkdir()
        self.output, self.summary = self.temp / "output", self.temp / "summary"
        self.output.touch()
        known = {name: str(spec["default"]) for name, spec in ACTION["inputs"].items()}
        self.values = {f"inputs.{name}": value for name, value in {**known, **inputs}.items()}
        self.values["github.action_path"] = str(ROOT)
        self.event_base = event_base

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run one step as the service does."""
        step = STEPS[name]
        env = {key: EXPRESSION.sub(self._value, text) for key, text in step.get("env", {}).items()}
        own = {
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_ACTIONS": "true",
            "REDFIRST_PYTHON": sys.executable,
        }
        script = self.temp / "step.sh"
        script.write_text(step["run"], "utf-8")
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.story.folder,
            env={**os.environ, **own, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    def _value(self, match: re.Match[str]) -> str:
        return self.event_base if "github.event" in match[1] else self.values[match[1]]

    def installed(self) -> Workflow:
        """With the command of these tests in the place where the first step puts it."""
        folder = self.temp / "redfirst" / "bin"
        folder.mkdir(parents=True)
        (folder / "redfirst").symlink_to(COMMAND)
        return self


def test_every_expression_is_known_and_none_stands_in_a_script() -> None:
    for step in STEPS.values():
        assert not EXPRESSION.search(step["run"]), "an expression in a script is an injection"
        for text in step.get("env", {}).values():
            for found in EXPRESSION.findall(text):
                names = re.findall(r"inputs\.([\w-]+)", found)
                assert all(name in ACTION["inputs"] for name in names)


def test_every_input_is_documented() -> None:
    text = (ROOT / "docs" / "check.md").read_text("utf-8")
    assert [name for name in ACTION["inputs"] if f"`{name}`" not in text] == []


def test_a_proven_fix_passes_the_action_and_fills_the_summary(tmp_path: Path) -> None:
    story = begin(tmp_path / "coins")
    story.commit({"coins/purse.py": FIXED, "tests/test_purse.py": BASE["tests/test_purse.py"] + GOOD})
    base = story.git("rev-parse", "HEAD~1").strip()
    job = Workflow(story, tmp_path, {"junit": str(tmp_path / "junit.xml")}, base).installed()
    done = job.run("Check the change")
    assert done.returncode == 0, done
    assert job.output.read_text("utf-8") == "answer=holds\n"
    assert "fail-to-pass" in job.summary.read_text("utf-8")
    assert "::notice file=tests/test_purse.py,line=8" in done.stderr
    assert (tmp_path / "junit.xml").is_file()


def test_an_unproven_fix_fails_it_and_inputs_reach_the_command(tmp_path: Path) -> None:
    story = begin(tmp_path / "coins")
    story.commit({"coins/purse.py": FIXED, "tests/test_purse.py": BASE["tests/test_purse.py"] + IDLE})
    base = story.git("rev-parse", "HEAD~1").strip()
    inputs = {"arguments": "--repeat 1 --quiet", "base": base}
    job = Workflow(story, tmp_path, inputs, "0" * 40).installed()
    done = job.run("Check the change")
    assert (done.returncode, job.output.read_text("utf-8")) == (1, "answer=does not hold\n"), done
    assert "::error title=redfirst check%3A does not hold::" in done.stderr
    job.values["inputs.no-behaviour-change"] = "true"
    assert job.run("Check the change").returncode == 0


def test_a_shallow_checkout_is_told_what_to_set(tmp_path: Path) -> None:
    story = begin(tmp_path / "coins")
    job = Workflow(story, tmp_path, {}, "1" * 40).installed()
    done = job.run("Check the change")
    assert done.returncode == 2
    assert "fetch-depth: 0" in done.stdout
    assert "git fetch origin" in done.stderr
    job.event_base = ""
    assert "input base" in job.run("Check the change").stdout


@pytest.mark.slow
def test_the_action_installs_what_it_needs(tmp_path: Path) -> None:
    story = begin(tmp_path / "coins")
    story.commit({"coins/purse.py": FIXED, "tests/test_purse.py": BASE["tests/test_purse.py"] + GOOD})
    base = story.git("rev-parse", "HEAD~1").strip()
    job = Workflow(story, tmp_path, {"python": sys.executable}, base)
    for name in STEPS:
        done = job.run(name)
        assert done.returncode == 0, (name, done)
    assert job.output.read_text("utf-8") == "answer=holds\n"
