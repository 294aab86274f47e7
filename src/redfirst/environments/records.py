# SPDX-License-Identifier: Apache-2.0
"""Small JSON records in the cache that are true only while certain files are as they were."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import redfirst
from redfirst.core.digests import digest

SCHEMA = 1  # with redfirst's version part of every key, so that no record has an older shape


def stamp(path: str) -> tuple[str, int, int, int]:
    """What changes when the file or folder at ``path`` does; absent files have a stamp too."""
    try:
        state = os.stat(path)
    except OSError:
        return (path, 0, 0, 0)
    return (path, state.st_mtime_ns, state.st_size, state.st_ino)


def record_file(cache: Path, kind: str, *key: str) -> Path:
    """Where the record of this kind about ``key`` lies."""
    name = digest(*map(str.encode, (str(SCHEMA), redfirst.__version__, *key)))
    return cache / "environments" / kind / f"{name[:32]}.json"


def load(path: Path) -> dict[str, Any] | None:
    """The record's value, or None when there is none or one of its stamps no longer holds."""
    try:
        record = json.loads(path.read_bytes())
        fresh = all(list(stamp(item[0])) == item for item in record["stamps"])
        value = record["value"]
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
    return value if fresh and isinstance(value, dict) else None


def save(path: Path, value: dict[str, Any], watched: Iterable[str]) -> None:
    """Write the record atomically; a cache that cannot be written is no error."""
    text = json.dumps({"stamps": [stamp(item) for item in watched], "value": value})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except OSError:
        return
