# SPDX-License-Identifier: Apache-2.0
"""Keeps text of a report away from any shell: what is not plainly understood is no command."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redfirst.agents.strategies.snippet.report import Block
from redfirst.agents.strategies.snippet.session import exchanges_of
from redfirst.agents.strategies.snippet.shell_line import Line, Tail, printed_by, read_line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tool -x a", Line(("tool", "-x", "a"))),
        ("tool 'a b' \"c 'd'\" e\\ f", Line(("tool", "a b", "c 'd'", "e f"))),
        ('tool --x="a=b"c', Line(("tool", "--x=a=bc"))),
        ('tool "a\\d" "\\"q\\""', Line(("tool", "a\\d", '"q"'))),
        ("tool ''", Line(("tool", ""))),
        ("A=1 B='2 3' tool", Line(("tool",), settings=(("A", "1"), ("B", "2 3")))),
        ("env A=1 tool x=y", Line(("tool", "x=y"), settings=(("A", "1"),))),
        ("tool x=y", Line(("tool", "x=y"))),
        ("tool >/dev/null", Line(("tool",), out=False)),
        ("tool 2> /dev/null", Line(("tool",), err=False)),
        ("tool >/dev/null 2>&1", Line(("tool",), out=False, err=False)),
        ("tool 2>&1 >/dev/null", Line(("tool",), out=False)),
        ("tool &> /dev/null", Line(("tool",), out=False, err=False)),
        ("tool > out.txt", Line(("tool",), target="out.txt", out=False)),
        ("tool < in.txt", Line(("tool",), source="in.txt")),
        ("tool <<EOF", Line(("tool",), wants="EOF")),
        ("printf 'a\\nb\\n' | tool -", Line(("tool", "-"), text="a\nb\n")),
        ("echo a  b | tool", Line(("tool",), text="a b\n")),
        ("echo -n a | tool", Line(("tool",), text="a")),
        ("cat a.txt | tool -c", Line(("tool", "-c"), source="a.txt")),
        ("tool && echo fine || echo bad", Line(("tool",), tails=(Tail("&&", "fine"), Tail("||", "bad")))),
        ("tool; echo $?", Line(("tool",), tails=(Tail(";", "$?"),))),
        ('tool ; echo "status: $?"', Line(("tool",), tails=(Tail(";", "status: $?"),))),
        ("tool;", Line(("tool",))),
        ("tool a  # not b", Line(("tool", "a"), comment="not b")),
        ("tool a2>/dev/null", Line(("tool", "a2"), out=False)),
        ("python -c 'print(1)'", Line(("python", "-c", "print(1)"))),
    ],
)
def test_a_plain_command_is_read(text: str, expected: Line) -> None:
    assert read_line(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "tool *.py",
        "tool a?b",
        "tool [ab]",
        "tool {a,b}",
        "tool $HOME",
        'tool "$HOME"',
        "tool $(date)",
        "tool `date`",
        'tool "`date`"',
        "tool ~/x",
        "tool | head",
        "tool | tool | tool",
        "echo a | tool | cat",
        "tool &",
        "tool && tool",
        "tool || rm x",
        "(tool)",
        "tool <(x)",
        "tool 'a",
        'tool "a',
        "tool >",
        "tool > > x",
        "tool 2> log",
        "! tool",
        "tool a#b",
        "cat a b | tool",
        "cat < a | tool",
        "echo -e a | tool",
        "echo 'a\\nb' | tool",
        "printf '%d' 3 | tool",
        "printf '\\x41' | tool",
        "if tool; then echo a; fi",
        "",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    assert read_line(text) is None


@given(
    st.lists(
        st.text(st.characters(codec="ascii", exclude_characters="'\0"), max_size=8), min_size=1, max_size=5
    )
)
def test_quoted_words_are_themselves(words: list[str]) -> None:
    line = read_line("tool " + " ".join(f"'{word}'" for word in words))
    assert line == Line(("tool", *words))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("printf", "%s\\n", "a", "b"), "a\nb\n"),
        (("printf", "a%%\\t%s", "b"), "a%\tb"),
        (("printf", "a", "b"), None),
        (("printf",), None),
        (("echo",), "\n"),
        (("cat", "a"), None),
    ],
)
def test_printing_commands_are_worked_out(words: tuple[str, ...], expected: str | None) -> None:
    assert printed_by(words) == expected


def exchanges(text: str, language: str = "") -> list[tuple[str, str | None]] | None:
    found = exchanges_of(Block(text, language, 1), lambda line: line.words[:1] == ("tool",))
    return None if found is None else [(one.text, one.shown) for one in found]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("$ tool a\n1\n2\n$ tool b", "", [("tool a", "1\n2"), ("tool b", None)]),
        ("$ tool a\n1\n$", "console", [("tool a", "1")]),
        ("(env) $ tool a\n1", "text", [("tool a", "1")]),
        ("me@host:~/x$ tool a\n1", "bash", [("tool a", "1")]),
        ("% tool a\n1", "console", [("tool a", "1")]),
        ("% tool a\n1", "", None),
        ("$ tool \\\n>   -x a\n1", "", [("tool -x a", "1")]),
        ("$ tool <<EOF\na\nEOF\n1", "sh", [("tool <<EOF", "1")]),
        ("$ tool a\n1\n$ echo $?\n0", "", [("tool a", "1\n0")]),
        ("tool a\n\n# then\ntool b", "sh", [("tool a", None), ("tool b", None)]),
        ("tool a\ntool b", "", [("tool a", None), ("tool b", None)]),
        ("tool a\nsome output", "", None),
        ("some output", "console", None),
        ("$ tool a", "python", None),
        (">>> f()\n1", "", None),
    ],
)
def test_a_session_is_cut_into_commands(
    text: str, language: str, expected: list[tuple[str, str | None]] | None
) -> None:
    assert exchanges(text, language) == expected


def test_the_text_under_a_command_is_its_input_unless_a_shell_would_change_it() -> None:
    plain = exchanges_of(Block("$ tool <<EOF\n> a b\n> c\n> EOF", "", 1), bool)
    assert plain is not None
    assert plain[0].line is not None
    assert plain[0].line.text == "a b\nc\n"
    changed = exchanges_of(Block("$ tool <<EOF\n$HOME\nEOF", "", 1), bool)
    assert changed is not None
    assert changed[0].line is None
    kept = exchanges_of(Block("$ tool <<'EOF'\n$HOME\nEOF", "", 1), bool)
    assert kept is not None
    assert kept[0].line is not None
    assert kept[0].line.text == "$HOME\n"


def test_a_status_of_its_own_belongs_to_the_command_above() -> None:
    found = exchanges_of(Block("$ tool a\n$ echo $?\n1", "", 1), bool)
    assert found is not None
    assert found[0].line is not None
    assert found[0].line.tails == (Tail(";", "$?"),)
