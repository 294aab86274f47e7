# SPDX-License-Identifier: Apache-2.0
"""The signed stream of Node's runner, read back into one entry for each test, suite and file."""

from __future__ import annotations

import hmac
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_NOT_SELECTED = "test name does not match pattern"
_FILE_PLACE = (1, 1)


@dataclass(frozen=True, slots=True)
class Entry:
    """One result. ``path``: titles from the outermost level in, its own last; ``file`` absolute.

    ``passed`` is what the runner says; ``skip``/``todo`` are its marks, "" where there are none.
    """

    path: tuple[str, ...]
    file: str
    line: int
    column: int
    passed: bool
    suite: bool
    skip: str
    todo: str
    seconds: float
    error: Mapping[str, Any] | None

    @property
    def selected(self) -> bool:
        """Whether it ran, or would have but for a mark of its own; older runners report the others too."""
        return self.skip != _NOT_SELECTED

    @property
    def failure_type(self) -> str:
        """Node's word for how it failed, "" where it passed."""
        return str((self.error or {}).get("failureType", ""))


@dataclass(frozen=True, slots=True)
class Uncaught:
    """An error that ended the process of one test file."""

    file: str
    error: Mapping[str, Any]


@dataclass(slots=True)
class NodeReport:
    """``files``: results of whole files. ``begun``: titles of tests at the top level that started.

    ``summaries``: files whose process announced its own end (newer runners), or None where none does.
    ``foreign``: lines in the pipe that our reporter did not sign.
    """

    version: tuple[int, ...] = ()
    entries: list[Entry] = field(default_factory=list)
    files: list[Entry] = field(default_factory=list)
    begun: list[tuple[str, str]] = field(default_factory=list)
    uncaught: list[Uncaught] = field(default_factory=list)
    summaries: set[str] | None = None
    foreign: int = 0
    ended: bool = False
    unpaired: list[str] = field(default_factory=list)


def read_report(data: bytes, key: bytes) -> NodeReport:
    """Read the pipe; a last line that was cut is left out."""
    report = NodeReport()
    levels: list[str] = []
    started: Counter[tuple[str, ...]] = Counter()
    number = 0
    for line in data.split(b"\n")[:-1]:
        record = _signed(line, key, number)
        if record is None:
            report.foreign += 1
            continue
        number += 1
        _take(report, levels, started, record)
    finished = Counter(entry.path for entry in report.entries)
    report.unpaired = [" > ".join(path) for path in finished - started]
    return report


def _signed(line: bytes, key: bytes, number: int) -> dict[str, Any] | None:
    sign, _, text = line.partition(b" ")
    own = hmac.new(key, b"%d %s" % (number, text), "sha256").hexdigest()
    if not hmac.compare_digest(own.encode(), sign):
        return None
    value = json.loads(text)
    return value if isinstance(value, dict) else None


def _take(
    report: NodeReport, levels: list[str], started: Counter[tuple[str, ...]], record: Mapping[str, Any]
) -> None:
    kind = record["type"]
    if kind == "begin":
        report.version = tuple(int(part) for part in record["version"].lstrip("v").split("-")[0].split("."))
    elif kind == "end":
        report.ended = True
    elif kind == "summary":
        report.summaries = report.summaries or set()
        if record.get("file"):
            report.summaries.add(_file(record))
    elif kind == "uncaught":
        report.uncaught.append(Uncaught(str(record.get("file")), record.get("error") or {}))
    elif _is_file(record):
        if kind in ("pass", "fail"):
            report.files.append(_entry(record, ()))
    elif kind == "dequeue":
        if record.get("nesting") == 0:
            report.begun.append((str(record.get("name")), _file(record)))
    else:
        _take_test(report, levels, started, record)


def _take_test(
    report: NodeReport, levels: list[str], started: Counter[tuple[str, ...]], record: Mapping[str, Any]
) -> None:
    """The stream is in the order of the tree: a start opens a level, results close it again."""
    depth = int(record.get("nesting") or 0)
    name = str(record.get("name"))
    del levels[depth:]
    path = (*levels, name)
    if record["type"] == "start":
        levels.append(name)
        started[path] += 1
    else:
        report.entries.append(_entry(record, path))


def _file(record: Mapping[str, Any]) -> str:
    return str(record.get("file") or "").removeprefix("file://")


def _is_file(record: Mapping[str, Any]) -> bool:
    """Whether it is about a whole file: it bears the file's path for a name (newer runners: a relative one)."""
    name, file = str(record.get("name") or "").removeprefix("file://"), _file(record)
    if record.get("nesting") != 0:
        return False
    if not file:
        return name.startswith("/") and not record.get("line")
    place = (record.get("line") or 1, record.get("column") or 1)
    return name == file or (place == _FILE_PLACE and file.endswith("/" + name.removeprefix("./")))


def _entry(record: Mapping[str, Any], path: tuple[str, ...]) -> Entry:
    return Entry(
        path=path,
        file=_file(record) or str(record.get("name")).removeprefix("file://"),
        line=int(record.get("line") or 0),
        column=int(record.get("column") or 0),
        passed=record["type"] == "pass",
        suite=record.get("kind") == "suite",
        skip=_mark(record.get("skip")),
        todo=_mark(record.get("todo")),
        seconds=float(record.get("seconds") or 0.0),
        error=record.get("error"),
    )


def _mark(value: object) -> str:
    """A mark's reason, or its name's stand-in where it has none; "" where it is not set."""
    if value is None or value is False:
        return ""
    return value if isinstance(value, str) and value else "marked"
