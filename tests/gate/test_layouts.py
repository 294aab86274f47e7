# SPDX-License-Identifier: Apache-2.0
"""A failing test qualifies, and a passing one passes, however a pytest project is laid out and set up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.gate.layouts import LAYOUTS, Layout, settings

from redfirst.core.bundle import TestBundle
from redfirst.core.kinds import FailureKind
from redfirst.core.verdict import Verdict
from redfirst.gate import GateSession, GateSettings

CONTRACT = {
    "entrypoint": "shelf.count.total",
    "trigger": "two numbers",
    "expected_output": "their sum",
    "issue_evidence": ["the report's first line"],
    "alternative_hypotheses": ["the first number could be a head"],
    "non_assertions": ["an empty list"],
}
VALID = (FailureKind.ASSERTION_FAILED, FailureKind.EXCEPTION_RAISED)


def judge(layout: Layout, folder: Path) -> Verdict:
    """The verdict on the layout's two tests in a checkout of its own."""
    repo = folder / "shelf"
    for name, text in layout.files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "--allow-empty", "-m", "base")):
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        subprocess.run(["git", *identity, "-C", repo, *words], check=True, capture_output=True)
    contract = json.dumps({**CONTRACT, "test_nodes": layout.nodes}).encode()
    bundle = TestBundle(layout.patch.encode(), layout.line.encode(), contract)
    options = GateSettings(repo, folder / "cache", folder / "store", python=sys.executable, repeat=1)
    return GateSession(options).qualify(bundle).verdict


@pytest.mark.parametrize("name", LAYOUTS)
def test_both_tests_are_told_apart(tmp_path, name):
    layout = LAYOUTS[name]
    verdict = judge(layout, tmp_path)
    assert verdict.kind is layout.kind, verdict.why
    if layout.kind in VALID:
        found = [(node.node, node.kind) for node in verdict.nodes]
        kinds = (layout.kind, FailureKind.PASSED)
        assert found == list(zip(layout.nodes, kinds, strict=True))


@pytest.mark.slow
def test_ten_seconds_of_imports_are_no_hang(tmp_path):
    slow = Layout({**settings(""), "conftest.py": "import time\n\ntime.sleep(10)\n"})
    assert judge(slow, tmp_path).kind is FailureKind.ASSERTION_FAILED
