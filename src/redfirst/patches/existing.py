# SPDX-License-Identifier: Apache-2.0
"""What a test patch does to tests that exist: they may grow, and nothing else."""

from __future__ import annotations

import difflib
import json
import re

from redfirst.patches.apply import TreeChange
from redfirst.patches.existing_python import python_faults
from redfirst.patches.rust_tests import test_attributes

_CODE = (".rs", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".go", ".java", ".kt", ".rb", ".c", ".cc",
         ".cpp", ".h", ".hpp", ".cs", ".php", ".swift", ".scala")  # fmt: skip
_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
_SWITCHED = re.compile(
    r"\.\s*(?:skip|todo|only|skipIf|failing)\b|\b(?:xit|xtest|xdescribe|fit|fdescribe)\b|\b(?:skip|todo|only)\s*:"
)
_ASSERTS = re.compile(r"\b(?:assert\w*!?|expect|should|require)\b|\bassert\w*\s*[.(!]|\.\s*to[A-Z]\w*\(")
_WORD = re.compile(r"\w+|[^\w\s]")


def existing_faults(change: TreeChange) -> list[str]:
    """Faults of one changed file in a test patch, each a sentence with the path."""
    if change.new is None:
        return [f"{change.path} is removed"]
    if change.path.endswith((".py", ".pyi")):
        return [f"{change.path}: {fault}" for fault in python_faults(change.old, change.new)]
    if change.old is None:
        return []
    if change.path.endswith(_CODE):
        return [f"{change.path}: {fault}" for fault in _code_faults(change)]
    return [f"{change.path}: {fault}" for fault in data_faults(change.path, change.old, change.new)]


def data_faults(path: str, old: bytes, new: bytes) -> list[str]:
    """A data file may grow; what it held must remain."""
    if path.endswith(".json"):
        try:
            before, after = json.loads(old), json.loads(new)
        except (ValueError, RecursionError):
            pass
        else:
            return [] if grown(before, after) else ["data that it held is gone or changed"]
    if b"\0" in old:
        return [] if new.startswith(old) else ["binary data that it held is changed"]
    lost = _lost_lines(_lines(old), _lines(new))
    return [f"this line is gone or changed: {lost[0][:80]!r}"] if lost else []


def grown(before: object, after: object) -> bool:
    """Whether ``after`` holds all of ``before``, in its order."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(key in after and grown(value, after[key]) for key, value in before.items())
    if isinstance(before, list) and isinstance(after, list):
        rest = iter(after)
        return all(any(grown(item, other) for other in rest) for item in before)
    return type(before) is type(after) and before == after


def _lines(data: bytes) -> list[str]:
    return [line.rstrip("\r") for line in data.decode("utf-8", "surrogateescape").split("\n")]


def _code_faults(change: TreeChange) -> list[str]:
    assert change.old is not None
    assert change.new is not None
    old, new = _lines(change.old), _lines(change.new)
    faults = [
        f"an existing line is gone or changed: {line.strip()[:80]!r}"
        for line in _lost_lines(old, new, code=True)
    ]
    if change.path.endswith(".rs"):
        faults += _rust_faults("\n".join(old), "\n".join(new))
    if change.path.endswith(_SCRIPTS):
        faults += _script_faults(old, new)
    return faults


def _lost_lines(old: list[str], new: list[str], *, code: bool = False) -> list[str]:
    """Old lines that the new text neither keeps nor only adds to. Margins and blank lines do not count."""
    before = [line for line in old if line.strip()]
    after = [line for line in new if line.strip()]
    lost = []
    matcher = difflib.SequenceMatcher(
        None, [x.strip() for x in before], [x.strip() for x in after], autojunk=False
    )
    for what, a, b, c, d in matcher.get_opcodes():
        if what in ("delete", "replace"):
            rest = iter(after[c:d])
            lost += [
                line for line in before[a:b] if not any(_line_grown(line, other, code) for other in rest)
            ]
    return [line for line in lost if not (code and line.strip().startswith(("//", "/*", "*", "#!")))]


def _line_grown(old: str, new: str, code: bool) -> bool:
    """Whether the words of ``old`` stand in ``new`` in order; an assertion must stay as it is."""
    if code and (_ASSERTS.search(old) or _SWITCHED.search(new)):
        return False
    rest = iter(_WORD.findall(new))
    return all(word in rest for word in _WORD.findall(old))


def _rust_faults(old: str, new: str) -> list[str]:
    after = test_attributes(new)
    faults = []
    for name, attributes in test_attributes(old).items():
        if name not in after:
            faults.append(f"the test {name} is gone")
        elif set(after[name]) != set(attributes):
            faults.append(f"the test {name} has other attributes")
    return faults


def _script_faults(old: list[str], new: list[str]) -> list[str]:
    """``only`` switches off all other tests, wherever it stands."""
    before, after = "\n".join(old), "\n".join(new)
    only = re.compile(r"\.\s*only\b|\bonly\s*:|\b(?:fit|fdescribe)\s*\(")
    return (
        ["`only` switches existing tests off"] if len(only.findall(after)) > len(only.findall(before)) else []
    )
