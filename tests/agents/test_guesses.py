# SPDX-License-Identifier: Apache-2.0
"""Keeps right what is made of a traceback alone: whose call it was, and which values the report gives for it."""

from __future__ import annotations

import pytest

from redfirst.agents.strategies.snippet.bindings import Source, bindings_for, bound, variables
from redfirst.agents.strategies.snippet.guesses import statement_of, traced, users_frames
from redfirst.agents.strategies.snippet.report import read_report
from redfirst.agents.strategies.snippet.tracebacks import ShownFrame


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("return parse(cell)", "parse(cell)"),
        ("total = sum(map(parse, rows))", "total = sum(map(parse, rows))"),
        ("for line in read(f):", "for line in read(f):\n    pass"),
        ("with opened(name) as f:", "with opened(name) as f:\n    pass"),
        ("if not check(x):", "not check(x)"),
        ("elif check(x):", "check(x)"),
        ("while feed.next():", "feed.next()"),
        ("print(show(105))", "print(show(105))"),
        ("conn.urlopen(", None),  # cut behind its first line
        ("raise ValueError(f(x))", None),
        ("return await fetch(url)", None),
        ("else:", None),
        ("total", None),
        ("return", None),
        ("", None),
    ],
)
def test_a_line_of_a_frame_as_a_statement(line: str, code: str | None) -> None:
    assert statement_of(line) == code


@pytest.mark.parametrize(
    ("files", "own"),
    [
        (["app.py", "load.py", ".../ledger/money.py"], ["load.py", "app.py"]),
        (["app.py", "/x/site-packages/other/a.py", "hook.py", ".../ledger/money.py"], ["app.py"]),
        ([".../ledger/money.py", "app.py"], []),
        (["/usr/lib/python3.11/runpy.py", "app.py"], []),
        (["C:\\work\\app.py", "C:\\venv\\Lib\\site-packages\\ledger\\money.py"], ["C:\\work\\app.py"]),
        (["<stdin>", ".../ledger/money.py"], ["<stdin>"]),
    ],
)
def test_the_frames_of_the_reporter_end_where_a_library_begins(files: list[str], own: list[str]) -> None:
    frames = [ShownFrame(file, 1, "f", "f(x)") for file in files]
    assert [frame.file for frame in users_frames(frames, ["ledger"])] == own


@pytest.mark.parametrize(
    ("text", "message", "values"),
    [
        ("The cell was `13/2019`.", "", ["'13/2019'"]),
        ("The cell was `42`.", "", ["42", "'42'"]),
        ("the cell is '7'", "", ["'7'"]),
        ('It dies, `cell = "x"` here.', "", ["'x'"]),
        ("Here `cell` contains `[1, 2]`.", "", ["[1, 2]"]),
        ("The cell: `a b`", "", []),  # no verb
        ("My cell looks like `a,b`, others do not.", "", ["'a,b'"]),
        ("Some cell was odd.", "", []),
        ("Nothing is said.", "bad value 'x\\n'", ["'x\\n'"]),
        ("Nothing is said.", "Invalid header value b's3cr3t\\n'", ["'s3cr3t\\n'", "b's3cr3t\\n'"]),
        ("The cell was `1/2`.", "bad value 'x'", ["'1/2'"]),  # what is told counts before what is repeated
        ("Nothing is said.", "it's not what it's", []),
        ("Nothing is said.", "can't do ''", []),
        ("The excellent was `3`.", "", []),
    ],
)
def test_values_for_a_name(text: str, message: str, values: list[str]) -> None:
    found = bindings_for("cell", read_report(f"Title\n\n{text}\n".encode()), message)
    assert [one.value for one in found] == values


def test_an_address_may_be_any_but_two_must_do_the_same() -> None:
    found = bindings_for("base_url", read_report(b"Title\n\nIt dies.\n"), "bad 'x'")
    assert [one.source for one in found] == [Source.ANY, Source.ANY]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("parse(cell)", ["cell"]),
        ("requests.get(url, headers={'X': token})", ["url", "token"]),
        ("parse(path.read_text())", []),  # a method tells nothing of the value
        ("[f(x) for x in rows]", ["rows"]),
        ("f(True, len(x))", ["x"]),
    ],
)
def test_names_that_need_a_value(code: str, names: list[str]) -> None:
    assert variables(code, ["len", "True"]) == names


def test_values_stand_where_the_names_stood() -> None:
    report = read_report(b"Title\n\nThe cell was `1/2`.\n")
    assert bound("parse(cell, key=cell)", bindings_for("cell", report, "")[:1]) == "parse('1/2', key='1/2')"


TRACE = (
    'Title\n\n```\nTraceback (most recent call last):\n  File "app.py", line 4, in <module>\n    load(rows)\n'
    '  File "app.py", line 9, in load\n    return parse(cell)\n  File ".../ledger/money.py", line 3, in parse\n'
    "    whole, cents = text.split('.')\nValueError: not enough values to unpack (expected 2, got 1)\n```\n\n"
)


@pytest.mark.parametrize(
    ("prose", "known", "codes"),
    [
        ("The cell was `7`.", [], ["parse(7)", "parse('7')"]),
        ("The cell was `7`, or the cell was `a`.", [], ["parse(7)", "parse('7')", "parse('a')"]),
        (
            "The rows were `['7']`.",
            [],
            [],
        ),  # the inner call is the one that counts, and nothing is said of it
        ("It just dies.", [], []),
        ("The cell was `7`.", ["return  parse( cell )"], []),  # the report has it as code already
    ],
)
def test_calls_in_the_frames_of_a_traceback(prose: str, known: list[str], codes: list[str]) -> None:
    report = read_report((TRACE + prose + "\n").encode())
    assert [guess.code for guess in traced(report, ["ledger"], known)] == codes
