# SPDX-License-Identifier: Apache-2.0
"""Runs steps in processes of their own, each with a time limit, and ends them all on request."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from redfirst.bench.record import BugResult, result_of
from redfirst.bench.step import Request
from redfirst.core.errors import RedfirstError

_GRACE_S = 10.0
_TOLD = 600


class StepFailed(RedfirstError):
    """A step of the bench gave no result; ``what`` says why."""

    slug = "bench-step"


class Stopped(Exception):
    """The bench was told to end while this step ran."""


@dataclass
class Crew:
    """The processes now at work."""

    _stopping: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _working: set[subprocess.Popen[bytes]] = field(default_factory=set)

    def perform(self, request: Request, *, seconds: float, log: Path) -> BugResult:
        """One step. What it tells is added to ``log``. Raises StepFailed, and Stopped after ``stop``."""
        with log.open("ab") as told:
            start = told.seek(0, os.SEEK_END)
            process = self._start(told.fileno())
            try:
                out, late = _talk(process, request, seconds)
            finally:
                with self._lock:
                    self._working.discard(process)
        if self._stopping.is_set():
            raise Stopped
        if late:
            raise StepFailed(f"{request.step} took longer than {seconds:g} s", "allow more with --timeout")
        if process.returncode:
            raise StepFailed(_said(log, start, request.step, process.returncode))
        return result_of(json.loads(out), f"the answer of {request.step}")

    def stop(self) -> None:
        """End all that run; each gets a moment to clear up."""
        self._stopping.set()
        with self._lock:
            working = list(self._working)
        for process in working:
            _signal(process, signal.SIGINT)
        for process in working:
            _end(process)

    def _start(self, log: int) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopping.is_set():
                raise Stopped
            process = subprocess.Popen(
                [sys.executable, "-m", "redfirst.bench.step"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
            self._working.add(process)
        return process


def _talk(process: subprocess.Popen[bytes], request: Request, seconds: float) -> tuple[bytes, bool]:
    """What the process answers, and whether it had to be ended. Its input stays open for as long as we live."""
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout, suppress(BrokenPipeError):
        process.stdin.write(request.line())
        process.stdin.flush()
        # read while it runs: an answer may be longer than what a pipe holds
        out, late = _Reader(process), False
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            late = True
            _signal(process, signal.SIGINT)
            _end(process)
        return out.all(), late
    return b"", False


class _Reader:
    """Collects what a process writes while someone else waits for its end."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._thread.start()

    def all(self) -> bytes:
        self._thread.join(_GRACE_S)
        return b"".join(self._parts)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        while part := os.read(process.stdout.fileno(), 1 << 16):
            self._parts.append(part)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait a moment for a process that was asked to end, then end it."""
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _said(log: Path, start: int, step: str, code: int) -> str:
    """The step's own words for its end: its error line, else the last line it left."""
    text = log.read_bytes()[start:].decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip()]
    place = next((number for number, line in enumerate(lines) if line.startswith("error: ")), None)
    if place is not None:
        return f"{step}: " + " | ".join(lines[place:])[len("error: ") :][:_TOLD]
    ending = f"ended by signal {-code}" if code < 0 else f"ended with status {code}"
    return f"{step} {ending}: {lines[-1][:_TOLD] if lines else 'it said nothing'}"
