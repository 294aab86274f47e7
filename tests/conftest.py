# SPDX-License-Identifier: Apache-2.0
"""What holds for every test: private folders, no other machine, and signals as a terminal has them."""

from __future__ import annotations

import signal
import socket
from pathlib import Path
from typing import Any

import pytest

# A job in the background inherits an ignored SIGINT, and so would every process that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True)
def private_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cache and state folders of redfirst lie in a temporary folder, shared by the tests of one session."""
    base = tmp_path_factory.getbasetemp() / "user"
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(base / name.lower()))
    return base


@pytest.fixture(autouse=True)
def no_outbound_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection of the test process itself to anything but loopback is an error."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(LOOPBACK):
            raise AssertionError(f"a test tried to connect to {address!r}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
