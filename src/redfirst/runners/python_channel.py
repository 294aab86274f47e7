# SPDX-License-Identifier: Apache-2.0
"""Reading the authenticated event stream back: every line is checked before it is believed."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

MAC_BYTES = 16
_LINE_LIMIT = 256 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its kind and its fields, read with a type."""

    kind: str
    fields: Mapping[str, object]

    def text(self, name: str) -> str:
        """A text field, empty if absent; lone surrogates are escaped."""
        return _clean(self.fields.get(name))

    def number(self, name: str) -> int | None:
        """A whole number, or None."""
        value = self.fields.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def seconds(self, name: str) -> float:
        """A duration, 0 if absent."""
        value = self.fields.get(name)
        return float(value) if isinstance(value, int | float) else 0.0

    def flag(self, name: str) -> bool:
        """A truth value, False if absent."""
        return self.fields.get(name) is True

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, empty if absent."""
        value = self.fields.get(name)
        return tuple(_clean(item) for item in value) if isinstance(value, list) else ()

    def record(self, name: str) -> Event | None:
        """A nested record, or None."""
        value = self.fields.get(name)
        return Event(name, value) if isinstance(value, dict) else None

    def records(self, name: str) -> tuple[Event, ...]:
        """A list of nested records, empty if absent."""
        value = self.fields.get(name)
        items: Sequence[object] = value if isinstance(value, list) else ()
        return tuple(Event(name, item) for item in items if isinstance(item, dict))

    def rows(self, name: str) -> tuple[tuple[object, ...], ...]:
        """A list of lists, empty if absent."""
        value = self.fields.get(name)
        items: Sequence[object] = value if isinstance(value, list) else ()
        return tuple(tuple(item) for item in items if isinstance(item, list))


def _clean(value: object) -> str:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Stream:
    """The believed events. ``forged``: bytes that this run's key did not sign. ``cut``: a partial last line."""

    events: tuple[Event, ...]
    forged: bool = False
    cut: bool = False

    def of(self, *kinds: str) -> list[Event]:
        """The events of these kinds, in order."""
        return [event for event in self.events if event.kind in kinds]


def read_stream(report: bytes, key: bytes) -> Stream:
    """Check and decode a report; reading stops at the first line that the chain does not explain."""
    *lines, rest = report.split(b"\n")
    base = blake2b(key=key, digest_size=MAC_BYTES)
    last = b""
    events: list[Event] = []
    for number, line in enumerate(lines):
        sequence, _, signed = line.partition(b" ")
        claimed, _, body = signed.partition(b" ")
        mac = base.copy()
        mac.update(last)
        mac.update(str(number).encode() + b" " + body)
        last = mac.digest()
        right = sequence == str(number).encode() and hmac.compare_digest(claimed, last.hex().encode())
        event = _event(body) if right and len(body) <= _LINE_LIMIT else None
        if event is None:
            return Stream(tuple(events), forged=True)
        events.append(event)
    return Stream(tuple(events), cut=bool(rest))


def _event(body: bytes) -> Event | None:
    try:
        fields = json.loads(body)
    except ValueError:
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("e"), str):
        return None
    return Event(fields["e"], fields)
