# SPDX-License-Identifier: Apache-2.0
"""What a test patch does to tests that exist: they may grow, and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from redfirst.patches.apply import TreeChange
from redfirst.patches.code_lines import has_braces
from redfirst.patches.existing_code import code_faults, line_grown
from redfirst.patches.existing_python import python_faults
from redfirst.patches.rust_tests import test_attributes

_SCRIPT_NAMES = (".rb", ".sh", ".pl", ".ex", ".exs", ".lua", ".r", ".jl")


def existing_faults(change: TreeChange) -> list[str]:
    """Faults of one changed file in a test patch, each a sentence with the path."""
    if change.new is None:
        return [f"{change.path} is removed"]
    if change.path.endswith((".py", ".pyi")):
        return [f"{change.path}: {fault}" for fault in python_faults(change.path, change.old, change.new)]
    if change.old is None:
        return []
    if has_braces(change.path):
        faults = code_faults(change.path, change.old, change.new)
        if change.path.endswith(".rs"):
            faults += rust_faults(change.old, change.new)
    elif change.path.endswith(_SCRIPT_NAMES):
        faults = line_faults(change.old, change.new, whole=True)
    else:
        faults = data_faults(change.path, change.old, change.new)
    return [f"{change.path}: {fault}" for fault in faults]


def data_faults(path: str, old: bytes, new: bytes) -> list[str]:
    """A data file may grow, also within a line; what it held must remain, in its order."""
    if path.endswith(".json"):
        try:
            kept = grown(json.loads(old), json.loads(new))
        except (ValueError, RecursionError):
            pass
        else:
            return [] if kept else ["data that it held is gone or changed"]
    if b"\0" in old:
        return [] if new.startswith(old) else ["binary data that it held is changed"]
    return line_faults(old, new, whole=False)


def line_faults(old: bytes, new: bytes, *, whole: bool) -> list[str]:
    """Every old line stands in the new text, in order; unless ``whole``, with more on it perhaps."""
    rest: Iterator[bytes] = iter(_lines(new))
    for line in _lines(old):
        if not any(line == other or (not whole and _line_grown(line, other)) for other in rest):
            return [f"this line is gone or changed: {line.decode('utf-8', 'replace').strip()[:80]!r}"]
    return []


def _line_grown(old: bytes, new: bytes) -> bool:
    """Whether ``new`` is ``old`` with more cells at its end, or with more items between its brackets."""
    if not old.strip():
        return False
    if new.startswith(old):
        return old[-1:] in _SEPARATORS or new[len(old) :][:1] in _SEPARATORS
    return line_grown(old.decode("utf-8", "surrogateescape"), new.decode("utf-8", "surrogateescape"))


_SEPARATORS = (b",", b";", b"\t", b"|", b" ", b":")


def grown(before: object, after: object) -> bool:
    """Whether ``after`` holds all of ``before``, in its order."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(key in after and grown(value, after[key]) for key, value in before.items())
    if isinstance(before, list) and isinstance(after, list):
        rest = iter(after)
        return all(any(grown(item, other) for other in rest) for item in before)
    return type(before) is type(after) and before == after


def _lines(data: bytes) -> list[bytes]:
    pieces = data.split(b"\n")
    return pieces if pieces[-1] else pieces[:-1]


def rust_faults(old: bytes, new: bytes) -> list[str]:
    """Existing ``#[test]`` functions keep exactly their attributes."""
    before, after = (Counter(test_attributes(data.decode("utf-8", "replace"))) for data in (old, new))
    return [f"the test {name} is gone or has other attributes" for name, _ in sorted(before - after)]
