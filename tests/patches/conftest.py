# SPDX-License-Identifier: Apache-2.0
"""A prepared Base of the small shop, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from redfirst.patches.base import PreparedBase, prepare_base
from tests.patches.checkouts import make_repo


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> PreparedBase:
    folder = tmp_path_factory.mktemp("shop")
    return prepare_base(make_repo(folder / "repo"), None, folder / "store")
