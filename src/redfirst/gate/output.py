# SPDX-License-Identifier: Apache-2.0
"""What a verdict shows of a run's console output: head and tail, bounded, marked where cut."""

from __future__ import annotations

BUDGET = 6000


def bounded(out: bytes, err: bytes, budget: int = BUDGET) -> str:
    """Both streams as text of at most ``budget`` characters, the marker of the cut included."""
    text = out.decode("utf-8", "replace")
    errors = err.decode("utf-8", "replace")
    if errors.strip():
        text = f"{text}\n--- standard error ---\n{errors}" if text else errors
    text = "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text.replace("\r\n", "\n"))
    return cut(text, budget)


def cut(text: str, budget: int) -> str:
    """``text``, or its first third and last two thirds around a marker, ``budget`` characters in all."""
    if len(text) <= budget:
        return text
    marker = f"\n[... {len(text) - budget} characters or more left out ...]\n"
    room = budget - len(marker)
    head = room // 3
    return text[:head] + marker + text[len(text) - (room - head) :]
