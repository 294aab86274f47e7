# SPDX-License-Identifier: Apache-2.0
"""Sums over the processes below one, for machines where no control group can be made."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def tree_cpu_s(pid: int) -> float:
    """CPU seconds of ``pid`` and everything below it, ended children included."""
    total = 0
    for process in _below(pid):
        words = _text(f"/proc/{process}/stat").rpartition(")")[2].split()
        total += sum(int(word) for word in words[11:15])
    return total / _TICKS


def tree_memory_mb(pid: int) -> float:
    """MiB of memory in use below ``pid``; shared pages are told apart only when the plain sum is high."""
    processes = _below(pid)
    plain = (
        sum(int((_text(f"/proc/{process}/statm").split() or ["0", "0"])[1]) for process in processes) * _PAGE
    )
    if plain < 64 << 20:
        return plain / 2**20
    return sum(_proportional_kb(process) for process in processes) / 1024


def _proportional_kb(process: int) -> int:
    for line in _text(f"/proc/{process}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def _below(pid: int) -> list[int]:
    found: list[int] = []
    todo = [pid]
    while todo and len(found) < 10_000:
        process = todo.pop()
        found.append(process)
        todo += [int(word) for word in _text(f"/proc/{process}/task/{process}/children").split()]
    return found


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError):
        return ""
