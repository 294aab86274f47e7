# SPDX-License-Identifier: Apache-2.0
"""Fixtures that search for environments the way the gate does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from redfirst.core.environment import Environment
from redfirst.environments.find import find_environment
from redfirst.patches.base import PreparedBase, prepare_base
from redfirst.sandbox.protocol import Sandbox
from redfirst.sandbox.select import open_sandbox


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def sandbox() -> Sandbox:
    return open_sandbox("bubblewrap", scratch=None)


@pytest.fixture
def base_of(cache: Path) -> Callable[[Path], PreparedBase]:
    return lambda repo: prepare_base(repo, None, cache / "bases")


@pytest.fixture
def find(
    cache: Path,
    sandbox: Sandbox,
    base_of: Callable[[Path], PreparedBase],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Environment]:
    """find_environment without building, where no environment is active but what a test sets."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)

    def call(repo: Path, python: str | None = None, **settings: object) -> Environment:
        options: dict[str, object] = {"build": False, **settings}
        return find_environment(repo, base_of(repo), python=python, cache=cache, sandbox=sandbox, **options)  # type: ignore[arg-type]

    return call
