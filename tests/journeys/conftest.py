# SPDX-License-Identifier: Apache-2.0
"""Hands each journey a small project of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.journeys.shop import Shop, make_shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A fresh checkout and its bundle."""
    return make_shop(tmp_path)
