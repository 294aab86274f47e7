# SPDX-License-Identifier: Apache-2.0
"""Where redfirst keeps what it may delete (cache) and what it must keep (state), outside any checkout."""

from __future__ import annotations

import os
from pathlib import Path

from redfirst.core.errors import UsageError


def cache_folder() -> Path:
    """Prepared Bases and environments: ``$XDG_CACHE_HOME/redfirst``, else ``~/.cache/redfirst``."""
    return _folder("XDG_CACHE_HOME", ".cache")


def state_folder() -> Path:
    """Runs and frozen bundles: ``$XDG_STATE_HOME/redfirst``, else ``~/.local/state/redfirst``."""
    return _folder("XDG_STATE_HOME", ".local/state")


def _folder(variable: str, below_home: str) -> Path:
    named = os.environ.get(variable, "")
    try:
        root = Path(named) if named.startswith("/") else Path.home() / below_home
    except RuntimeError:
        raise UsageError("there is no home folder", f"set HOME or {variable}") from None
    folder = root / "redfirst"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make {folder} ({error.strerror})", f"set {variable} to a writable folder"
        ) from None
    return folder
