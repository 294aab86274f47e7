# SPDX-License-Identifier: Apache-2.0
"""JSON files of a data set, read strictly: an error names the file and the field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from redfirst.core.errors import UsageError

_LIMIT = 16 << 20


class Fields:
    """The object in one JSON file (or inside one), asked field by field."""

    def __init__(self, where: str, value: object) -> None:
        if not isinstance(value, dict):
            raise UsageError(f"{where} is not a JSON object", "see docs/bench.md for the form")
        self._where = where
        self._value: dict[str, Any] = value

    @classmethod
    def of_file(cls, path: Path) -> Fields:
        """The object that a file holds. Raises UsageError naming the file."""
        return cls(str(path), read_json(path))

    def text(self, name: str, default: str | None = None) -> str:
        """A text; it may be empty only where ``default`` is."""
        value = self._get(name, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.fault(name, "a text that is not empty")
        return value

    def texts(self, name: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of texts."""
        value = self._get(name, list(default) if default is not None else None)
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.fault(name, "a list of texts")
        return tuple(value)

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        """An object of texts; missing or null is none."""
        value = self._value.get(name) or {}
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise self.fault(name, "an object of texts")
        return tuple(sorted(value.items()))

    def inner(self, name: str) -> Fields:
        """An object inside."""
        return Fields(f"{self._where}: {name}", self._get(name, None))

    def is_text(self, name: str) -> bool:
        """Whether the field holds a text."""
        return isinstance(self._value.get(name), str)

    def fault(self, name: str, wanted: str) -> UsageError:
        """What to raise when a field is not what it must be."""
        return UsageError(f"{self._where}: field {name!r} must be {wanted}", "correct the data set")

    def _get(self, name: str, default: object) -> object:
        if self._value.get(name) is not None:
            return self._value[name]
        if default is None:
            raise UsageError(f"{self._where}: field {name!r} is missing", "correct the data set")
        return default


def read_bytes(path: Path) -> bytes:
    """A file of a data set. Raises UsageError naming it."""
    try:
        with path.open("rb") as file:
            data = file.read(_LIMIT + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror})", "correct the data set") from None
    if len(data) > _LIMIT:
        raise UsageError(f"{path} has more than {_LIMIT >> 20} MiB", "correct the data set")
    return data


def read_json(path: Path) -> object:
    """The value in a JSON file. Raises UsageError naming it."""
    try:
        value: object = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON ({error})", "correct the data set") from None
    return value
