# SPDX-License-Identifier: Apache-2.0
"""Keeps the decisions right: which results a report asks for, of which statement, and what must stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.complaints import ABOUT
from tests.agents.decided import decided, told


@pytest.mark.parametrize("name", ABOUT)
def test_a_report_comes_to_its_findings_and_guards(tmp_path: Path, name: str) -> None:
    report, findings, guards = ABOUT[name]
    story, decision = decided(tmp_path, report)
    assert [told(story, f) for f in decision.findings] == findings, decision.doubts
    assert [told(story, f) for f in decision.guards] == guards
