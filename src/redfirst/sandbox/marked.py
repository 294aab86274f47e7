# SPDX-License-Identifier: Apache-2.0
"""Finds the processes of a run that has no namespace: by session, by parent, by a text in their variables.

Best effort: a process that leaves its session, clears its variables and outlives its parent is not found.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from redfirst.sandbox.meter import ProcessState, parse_shared, parse_state

_ROUNDS = 200


@dataclass(slots=True)
class MarkedProcesses:
    """The processes of one run. ``leader``: its first process; ``mark``: bytes of one of its variables."""

    leader: int
    mark: bytes
    known: set[tuple[int, bytes]] = field(default_factory=set)

    def states(self) -> Iterable[ProcessState]:
        """Each live process of the run that can be found; zombies are not counted."""
        return [state for number, text in self._find() if (state := parse_state(text)) and number]

    def shared_out(self, number: int) -> int | None:
        """Memory of one process, shared pages divided among their users."""
        return parse_shared(_read(f"/proc/{number}/smaps_rollup"))

    def kill(self) -> bool:
        """Kill until nothing is found any more; False if something would not go."""
        for _ in range(_ROUNDS):
            found = self._find()
            if not found:
                return True
            for number, _text in found:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(number, signal.SIGKILL)
            time.sleep(0.005)
        return False

    def _find(self) -> list[tuple[int, bytes]]:
        all_texts = {number: _read(f"/proc/{number}/stat") for number in _numbers()}
        fields = {number: text.rpartition(b")")[2].split() for number, text in all_texts.items()}
        fields = {
            number: parts for number, parts in fields.items() if len(parts) > 21 and parts[0] not in b"ZX"
        }
        mine = {
            number
            for number, parts in fields.items()
            if int(parts[3]) == self.leader
            or (number, parts[19]) in self.known
            or self.mark in _read(f"/proc/{number}/environ")
        }
        mine.discard(os.getpid())
        grown = True
        while grown:
            children = {number for number, parts in fields.items() if int(parts[1]) in mine} - mine
            mine |= children
            grown = bool(children)
        self.known = {(number, fields[number][19]) for number in mine}
        return [(number, all_texts[number]) for number in sorted(mine)]


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(1 << 17)
    except OSError:
        return b""
