# SPDX-License-Identifier: Apache-2.0
"""Tells whether what a report shows under a command is what comes out when it runs here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redfirst.agents.strategies.snippet.compare import same_output, shows_part
from redfirst.agents.strategies.snippet.probe import Process
from redfirst.agents.strategies.snippet.shell_line import Line, Tail
from redfirst.agents.strategies.snippet.tracebacks import ShownException, find_exception

_HEADER = "Traceback (most recent call last)"


def echoed(tails: Sequence[Tail], code: int) -> str:
    """What the commands behind one that ends with ``code`` print."""
    printed, status = "", code
    for tail in tails:
        if tail.sign == ";" or (tail.sign == "&&") is (status == 0):
            printed += tail.text.replace("$?", str(status)) + "\n"
            status = 0
    return printed


def terminal_texts(line: Line, process: Process) -> Iterator[str]:
    """What a terminal may show: the two streams reach it in an order of their own."""
    out, err = process.out if line.out else "", process.err if line.err else ""
    tail = echoed(line.tails, process.code)
    yield _lines(out) + _lines(err) + tail
    if out and err:
        yield _lines(err) + _lines(out) + tail


def _lines(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def reproduced(line: Line, process: Process, shown: str) -> bool:
    """Whether ``shown`` is what the terminal shows; of a traceback only what it ends in counts."""
    texts = list(terminal_texts(line, process))
    if any(same_output(text, shown) for text in texts):
        return True
    told = traceback_in(shown)
    if told is not None:
        real = traceback_in(process.err)
        return real is not None and (real.name, real.message) == (told.name, told.message)
    elided = any(piece.strip() in ("...", "…", "[...]") for piece in shown.splitlines())
    return elided and any(shows_part(shown, text) for text in texts)


def traceback_in(text: str) -> ShownException | None:
    """The exception that a traceback in ``text`` ends in."""
    return find_exception(text) if _HEADER in text else None
