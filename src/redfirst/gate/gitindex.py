# SPDX-License-Identifier: Apache-2.0
"""What a Git index stages, read without running Git in a tree that a test has touched."""

from __future__ import annotations

import struct

_HEADER = struct.Struct(">4sII")
_FIXED = 62  # stat data (40), object name (20) and flags (2)


def staged_entries(data: bytes) -> tuple[tuple[bytes, int, bytes, int], ...] | None:
    """(path, mode, object name, flags of stage and intent) of a version 2 or 3 index; None if it is not one.

    Stat data is left out: refreshing it is no change. Extensions are ignored.
    """
    try:
        magic, version, count = _HEADER.unpack_from(data)
        if magic != b"DIRC" or version not in (2, 3):
            return None
        return tuple(_entries(data, version, count))
    except (struct.error, ValueError, IndexError):
        return None


def _entries(data: bytes, version: int, count: int) -> list[tuple[bytes, int, bytes, int]]:
    entries, offset = [], _HEADER.size
    for _ in range(count):
        (mode,) = struct.unpack_from(">I", data, offset + 24)
        name = data[offset + 40 : offset + 60]
        (flags,) = struct.unpack_from(">H", data, offset + 60)
        start = offset + _FIXED
        if version == 3 and flags & 0x4000:
            (extended,) = struct.unpack_from(">H", data, start)
            flags |= extended << 16
            start += 2
        end = data.index(b"\0", start)
        entries.append((data[start:end], mode, name, flags & ~0x0FFF))
        offset += ((end - offset) // 8 + 1) * 8
    return entries
