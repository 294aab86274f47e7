# SPDX-License-Identifier: Apache-2.0
"""An authenticated, ordered stream of events out of the process that runs the tests.

A line is ``SEQUENCE MAC JSON``. Each MAC covers the one before it, so that a forged, dropped or reordered
line breaks the chain. The key arrives on standard input and is kept nowhere else.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any

LINE_LIMIT = 64 * 1024
CHUNK = 24 * 1024
MAC_BYTES = 16
#: Exit status of a process whose report could no longer be written.
UNREPORTABLE = 119

# Own references, taken before any test code can replace them.
_write = os.write
_getpid = os.getpid
_exit = os._exit
_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_mask = signal.pthread_sigmask
_BLOCK, _SET = signal.SIG_BLOCK, signal.SIG_SETMASK
_ALL = frozenset(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}


def move_high(fd: int) -> int:
    """Move ``fd`` out of the way of ``closerange`` and of children; returns its new number."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 65536 if hard == resource.RLIM_INFINITY else min(hard, 65536)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, most - 1 - _getpid() % 16)
    except OSError:
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 200)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    os.close(fd)
    return high


class Channel:
    """Writes events from this process alone; copies of it in forked children are silent."""

    def __init__(self, fd: int, key: bytes) -> None:
        self._fd = fd
        self._pid = _getpid()
        self._lock = threading.Lock()
        self._waiting: deque[dict[str, Any]] = deque()
        self._next = self._chain(key)

    @staticmethod
    def _chain(key: bytes) -> Callable[[bytes], bytes]:
        """A closure over key and state, so that neither is an attribute that a test can read."""
        base = blake2b(key=key, digest_size=MAC_BYTES)
        last, number = b"", 0

        def sign(body: bytes) -> bytes:
            nonlocal last, number
            mac = base.copy()
            mac.update(last)
            mac.update(b"%d %s" % (number, body))
            last = mac.digest()
            number += 1
            return b"%d %s %s\n" % (number - 1, last.hex().encode(), body)

        return sign

    def send(self, kind: str, **fields: Any) -> None:
        """Write one event and all that waited."""
        if _getpid() != self._pid:
            return
        fields["e"] = kind
        before = _mask(_BLOCK, _ALL)
        try:
            with self._lock:
                self._flush()
                self._put(fields)
        finally:
            _mask(_SET, before)

    def send_list(self, kind: str, values: Iterable[str]) -> None:
        """Write many texts in as many events as they need."""
        chunk: list[str] = []
        size = 0
        for value in values:
            chunk.append(value[:4000])
            size += len(chunk[-1]) + 4
            if size > CHUNK // 4:
                self.send(kind, values=chunk)
                chunk, size = [], 0
        self.send(kind, values=chunk)

    def offer(self, kind: str, **fields: Any) -> None:
        """Write an event now if that is safe, else with the next one (for audit hooks, any thread)."""
        if _getpid() != self._pid:
            return
        fields["e"] = kind
        self._waiting.append(fields)
        before = _mask(_BLOCK, _ALL)
        try:
            if self._lock.acquire(blocking=False):
                try:
                    self._flush()
                finally:
                    self._lock.release()
        finally:
            _mask(_SET, before)

    def _flush(self) -> None:
        while self._waiting:
            self._put(self._waiting.popleft())

    def _put(self, fields: dict[str, Any]) -> None:
        body = _dumps(fields).encode()
        if len(body) > LINE_LIMIT:
            body = _dumps(_shortened(fields)).encode()
        line = self._next(body)
        try:
            while line:
                line = line[_write(self._fd, line) :]
        except OSError:
            _exit(UNREPORTABLE)


def _shortened(fields: dict[str, Any]) -> dict[str, Any]:
    """An event that is too long, with its texts and lists cut."""
    cut: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, dict):
            cut[key] = _shortened(value)
        elif isinstance(value, str):
            cut[key] = value[:300]
        elif isinstance(value, list):
            kept = value if len(value) <= 8 else value[:3] + value[-5:]
            cut[key] = [
                _shortened(v) if isinstance(v, dict) else v[:300] if isinstance(v, str) else v for v in kept
            ]
        else:
            cut[key] = value
    return cut
