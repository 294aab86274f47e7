# SPDX-License-Identifier: Apache-2.0
"""The sections of a Cargo run's report: build messages, listings, events, and how each binary ended."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_EVENT = '{ "type": "'


@dataclass(frozen=True, slots=True)
class Event:
    """One libtest event. ``kind``: ``type/event``, such as ``test/ok``."""

    kind: str
    name: str = ""
    stdout: str = ""
    message: str = ""
    counts: tuple[tuple[str, int], ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Listed:
    """A test that a binary says it has; ``source`` as the compiler wrote it, "" where it does not tell."""

    name: str
    source: str = ""


@dataclass(slots=True)
class BinaryReport:
    """What one test binary said. ``status``: None while its end is not in the report.

    ``log``: libtest's second record, lines such as ``ok name``; None where there is none.
    """

    path: str
    listed: list[Listed] = field(default_factory=list)
    list_status: int | None = None
    started: bool = False
    events: list[Event] = field(default_factory=list)
    status: int | None = None
    log: list[str] | None = None


@dataclass(frozen=True, slots=True)
class CompilerError:
    """One error of the compiler: its first primary place, and all texts that belong to it."""

    code: str
    message: str
    file: str
    line: int
    texts: tuple[str, ...]


@dataclass(slots=True)
class CargoReport:
    """The whole report. ``build_status`` and ``end`` are None where it was cut before them.

    ``finished``: the compiler ran and Cargo said how that ended. ``sources``: root file of the target
    of each binary. ``targets``: (kind, name) of what the package has, asked for after a failed build.
    """

    build_status: int | None = None
    finished: bool = False
    errors: list[CompilerError] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    targets: list[tuple[str, str]] | None = None
    binaries: list[BinaryReport] = field(default_factory=list)
    end: int | None = None


def read_report(data: bytes, key: str) -> CargoReport:
    """Read what the script wrote; lines that are neither ours nor JSON are what tests printed."""
    report = CargoReport()
    section: list[str] = ["", ""]
    for line in data.decode("utf-8", "replace").split("\n"):
        if line.startswith(key + " "):
            _mark(report, section, line[len(key) + 1 :])
        elif line:
            _content(report, section[0], line)
    return report


def _mark(report: CargoReport, section: list[str], text: str) -> None:
    word, _, rest = text.partition(" ")
    section[:] = [word, rest]
    last = report.binaries[-1] if report.binaries else BinaryReport("")
    if word == "list":
        report.binaries.append(BinaryReport(rest))
    elif word == "run":
        last.started = True
    elif word == "log":
        last.log = []
    elif word in ("built", "listed", "ran", "end"):
        number = int(rest) if rest.isdigit() else 125
        owner, name = {
            "built": (report, "build_status"),
            "end": (report, "end"),
            "listed": (last, "list_status"),
            "ran": (last, "status"),
        }[word]
        setattr(owner, name, number)


def _content(report: CargoReport, section: str, line: str) -> None:
    if section == "build":
        _build(report, _object(line))
    elif section == "targets":
        _targets(report, _object(line))
    elif section == "list":
        _listed(report.binaries[-1], _object(line))
    elif section == "run":
        report.binaries[-1].events.extend(_events(line))
    elif section == "log":
        log = report.binaries[-1].log
        if log is not None:
            log.append(line)


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line) if line.startswith("{") else {}
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _build(report: CargoReport, item: Mapping[str, Any]) -> None:
    reason = item.get("reason")
    if reason == "build-finished":
        report.finished = True
    elif reason == "compiler-artifact" and item.get("executable"):
        report.sources[str(item["executable"])] = str(item.get("target", {}).get("src_path", ""))
    elif reason == "compiler-message" and item.get("message", {}).get("level") == "error":
        report.errors.append(_compiler_error(item["message"], item.get("target", {})))


def _compiler_error(message: Mapping[str, Any], target: Mapping[str, Any]) -> CompilerError:
    spans = message.get("spans") or []
    primary = next((span for span in spans if span.get("is_primary")), None)
    texts = [str(message.get("message", ""))]
    texts += [str(span.get("label") or "") for span in spans]
    texts += [str(child.get("message", "")) for child in message.get("children") or []]
    return CompilerError(
        code=str((message.get("code") or {}).get("code", "")),
        message=texts[0],
        file=str(primary["file_name"] if primary else target.get("src_path", "")),
        line=int(primary["line_start"]) if primary else 1,
        texts=tuple(text for text in texts if text),
    )


def _targets(report: CargoReport, item: Mapping[str, Any]) -> None:
    if "packages" not in item:
        return
    report.targets = [
        (str(kind), str(target.get("name")))
        for package in item["packages"]
        for target in package.get("targets", ())
        for kind in target.get("kind", ())
    ]


def _listed(binary: BinaryReport, item: Mapping[str, Any]) -> None:
    if item.get("type") == "test" and item.get("event") == "discovered":
        binary.listed.append(Listed(str(item.get("name")), str(item.get("source_path") or "")))


def _events(line: str) -> Iterator[Event]:
    """The event at the end of a line; a test may have printed before it without ending its line."""
    start = line.find(_EVENT)
    while start >= 0:
        item = _object(line[start:])
        if item:
            yield _event(item)
            return
        start = line.find(_EVENT, start + 1)


def _event(item: Mapping[str, Any]) -> Event:
    counts = tuple((name, value) for name, value in item.items() if isinstance(value, int))
    seconds = item.get("exec_time", 0.0)
    return Event(
        kind=f"{item.get('type')}/{item.get('event')}",
        name=str(item.get("name", "")),
        stdout=str(item.get("stdout", "")),
        message=str(item.get("message", "")),
        counts=counts,
        seconds=float(seconds) if isinstance(seconds, int | float) else 0.0,
    )
