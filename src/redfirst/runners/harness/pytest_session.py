# SPDX-License-Identifier: Apache-2.0
"""One pytest session with the observing plugin loaded."""

from __future__ import annotations

from .pytest_plugin import Observer


def run(arguments, settings, channel, describe):
    """The exit status of ``pytest ARGUMENTS``."""
    import pytest

    observer = Observer(settings, channel, describe)
    observer.version(pytest.__version__)
    extra = ["--collect-only"] if settings["collect_only"] else []
    return int(pytest.main(list(arguments) + extra, plugins=[observer.plugin(pytest)]))
