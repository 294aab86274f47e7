# SPDX-License-Identifier: Apache-2.0
"""Keeps out: the network for a Rust project that needs nothing from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.environments.checkouts import write

from redfirst.environments.crates import needs_crates

PACKAGE = '[package]\nname = "a"\nversion = "0.1.0"\n'
LOCKED = '[[package]]\nname = "a"\nversion = "0.1.0"\n'
REGISTRY = '\n[[package]]\nname = "b"\nsource = "registry+https://index.example"\n'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"Cargo.toml": PACKAGE}, False),
        ({"Cargo.toml": PACKAGE + "\n[dependencies]\n"}, False),
        ({"Cargo.toml": PACKAGE + '\n[dependencies]\nb = "1"\n'}, True),
        ({"Cargo.toml": PACKAGE + '\n[dev-dependencies]\nb = "1"\n'}, True),
        ({"Cargo.toml": PACKAGE + '\n[dependencies.b]\nversion = "1"\n'}, True),
        ({"Cargo.toml": PACKAGE + '\n[target."cfg(unix)".dependencies]\nb = "1"\n'}, True),
        ({"Cargo.toml": PACKAGE + '\n[dependencies]\nb = {path = "b"}\n', "Cargo.lock": LOCKED}, False),
        ({"Cargo.toml": PACKAGE, "Cargo.lock": LOCKED + REGISTRY}, True),
    ],
)
def test_only_foreign_crates_are_fetched(tmp_path: Path, files: dict[str, str], expected: bool) -> None:
    assert needs_crates(write(tmp_path, files)) is expected
