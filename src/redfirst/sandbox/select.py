# SPDX-License-Identifier: Apache-2.0
"""Which backend a name means."""

from __future__ import annotations

from pathlib import Path

from redfirst.core.errors import UsageError
from redfirst.sandbox.protocol import Sandbox


def open_sandbox(name: str = "bubblewrap", *, scratch: Path | None = None) -> Sandbox:
    """The backend of that name. Raises UsageError for an unknown one, SandboxError where it cannot run."""
    if name == "bubblewrap":
        from redfirst.sandbox.bubblewrap import BubblewrapSandbox, find_tool

        return BubblewrapSandbox(find_tool(), scratch)
    if name == "plain":
        from redfirst.sandbox.plain import PlainSandbox

        return PlainSandbox(scratch)
    raise UsageError(f"no sandbox {name!r}", "there are: bubblewrap, plain")
