# SPDX-License-Identifier: Apache-2.0
"""Hands out the small data set; releases and environments stay warm over a session."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bench.tally import Tally, make_tally


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the two releases lie, once for all tests."""
    return make_tally(tmp_path_factory.mktemp("tally")).folder


@pytest.fixture
def tally(releases: Path, tmp_path: Path) -> Tally:
    """A data set without bugs yet, in a folder of its own."""
    (tmp_path / "links").symlink_to(releases / "links")
    (tmp_path / "bugs").mkdir()
    return Tally(tmp_path)
