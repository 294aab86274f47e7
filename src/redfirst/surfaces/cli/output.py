# SPDX-License-Identifier: Apache-2.0
"""What commands print: plain text for pipes, colour only for a terminal, one line for an error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console


def is_terminal(stream: TextIO) -> bool:
    """Whether a person reads this stream directly and wants colour."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_json(value: object) -> None:
    """One JSON document on stdout, keys in the order given, and nothing else."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    # a lone surrogate (a file name that is not UTF-8) becomes its JSON escape
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def print_line(text: str = "", *, style: str = "") -> None:
    """One line on stdout; ``style`` is a rich style, used only on a terminal."""
    if style and is_terminal(sys.stdout):
        _console(sys.stdout).print(text, style=style, markup=False, highlight=False, soft_wrap=True)
    else:
        sys.stdout.write(_printable(text, sys.stdout) + "\n")


def print_lines(lines: Iterable[str]) -> None:
    """Several plain lines on stdout."""
    for line in lines:
        print_line(line)


def print_table(
    rows: Sequence[tuple[str, ...]], *, title: str = "", styles: Mapping[str, str] | None = None
) -> None:
    """Aligned columns under a title; a cell whose text is a key of ``styles`` is coloured on a terminal."""
    if title:
        print_line(title, style="bold")
    if is_terminal(sys.stdout):
        _print_rich_table(rows, styles or {})
        return
    count = max((len(row) for row in rows), default=0)
    widths = [max((len(row[i]) for row in rows if i < len(row)), default=0) for i in range(count)]
    for row in rows:
        cells = (cell.ljust(widths[i]) for i, cell in enumerate(row))
        print_line("  " + "  ".join(cells).rstrip())


def _print_rich_table(rows: Sequence[tuple[str, ...]], styles: Mapping[str, str]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row("", *(Text(cell, style=styles.get(cell, "")) for cell in row))
    _console(sys.stdout).print(table)


def print_error(text: str) -> None:
    """One line on stderr, ``redfirst: what: todo``; further lines (what a tool said) follow indented."""
    stream = sys.stderr
    first, *rest = text.splitlines() or [""]
    line = _printable(f"redfirst: {first}", stream)
    if is_terminal(stream):
        _console(stream).print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    else:
        stream.write(line + "\n")
    for line in rest:
        stream.write(_printable(f"  {line}", stream) + "\n")
    stream.flush()


def progress(quiet: bool) -> Callable[[str], None]:
    """A function that tells on stderr what is being done; silent when ``quiet``."""

    def tell(text: str) -> None:
        if not quiet:
            sys.stderr.write(_printable(f"redfirst: {text}", sys.stderr) + "\n")
            sys.stderr.flush()

    return tell


def _printable(text: str, stream: TextIO) -> str:
    """The text without control characters that could drive a terminal, in what the stream can encode."""
    safe = "".join(letter if letter.isprintable() or letter == "\t" else "\ufffd" for letter in text)
    encoding = stream.encoding or "utf-8"
    return safe.encode(encoding, "backslashreplace").decode(encoding)


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    return Console(file=stream)
