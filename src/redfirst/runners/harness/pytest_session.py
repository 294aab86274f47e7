# SPDX-License-Identifier: Apache-2.0
"""One pytest session with the observing plugin loaded."""

from __future__ import annotations

from typing import Any

from .channel import Channel
from .pytest_plugin import Observer


def run(arguments: list[str], settings: dict[str, Any], channel: Channel) -> int:
    """The exit status of ``pytest ARGUMENTS``."""
    import pytest

    plugin = Observer(settings, channel, pytest).plugin()
    extra = ["--collect-only"] if settings["collect_only"] else []
    return int(pytest.main(list(arguments) + extra, plugins=[plugin]))
