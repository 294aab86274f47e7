# SPDX-License-Identifier: Apache-2.0
"""The lines of a test in a language that is not parsed here: from its declaration to the next one.

Coarse on purpose: a helper between two tests counts to the one before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_BETWEEN = re.compile(r"\s*(?:[)}\]];?|[)}\]]+\)?[;,]?|#\[.*|//.*|/\*.*|\*.*)?\s*")

_TEST_MODULE = re.compile(r"\s*#\[cfg\(test\)\]")


@dataclass(frozen=True, slots=True)
class PlainText:
    """``lines``: 1-based first line of each test; ``bodies``: its text; ``head``: what stands before the first, in
    its module of tests where it has one: Rust's tests stand below the source that they are of."""

    lines: dict[str, int]
    bodies: dict[str, str]
    head: str


def read_plain(text: bytes | None, tests: Sequence[str]) -> PlainText:
    """Cut a file at the declarations of its ``tests``, given by their last names or titles in order."""
    rows = (text or b"").decode("utf-8", "replace").splitlines()
    lines: dict[str, int] = {}
    at = 0
    for test in tests:
        found = next((n for n in range(at, len(rows)) if _declares(rows[n], test)), None)
        if found is not None:
            lines[test], at = found + 1, found
    starts = sorted(lines.values())
    bodies = {}
    for test, start in lines.items():
        end = next((other - 1 for other in starts if other > start), len(rows))
        bodies[test] = _squeezed(rows[start - 1 : end])
    return PlainText(lines, bodies, _squeezed(_of_tests(rows[: starts[0] - 1] if starts else rows)))


def _of_tests(rows: Sequence[str]) -> Sequence[str]:
    """From where a module of tests inside of source begins; all rows where none does."""
    return rows[max((n for n, row in enumerate(rows) if _TEST_MODULE.match(row)), default=0) :]


def _declares(row: str, test: str) -> bool:
    """Whether a line declares a Rust function or a titled test of this name."""
    last = test.rpartition(" > ")[2].rpartition("::")[2]
    if re.search(rf"\bfn\s+{re.escape(last)}\b", row):
        return True
    return bool(re.search(rf"""(?:test|it)\b[^'"`]*\(\s*['"`]{re.escape(last)}['"`]""", row))


def _squeezed(rows: Sequence[str]) -> str:
    """The text without margins, blank lines, and what closes blocks or announces the next test."""
    kept = list(rows)
    while len(kept) > 1 and _BETWEEN.fullmatch(kept[-1]):
        kept.pop()
    return "\n".join(row.strip() for row in kept if row.strip())
