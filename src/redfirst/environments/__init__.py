# SPDX-License-Identifier: Apache-2.0
"""How the tests of a checkout run: found, or built once in a sandbox and cached by content."""

from __future__ import annotations

from pathlib import Path


def collect_suite_path() -> Path:
    """The script that counts a suite from inside a sandbox; never imported."""
    return Path(__file__).with_name("collect_suite.py")
