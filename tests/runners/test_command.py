# SPDX-License-Identifier: Apache-2.0
"""Keeps out a command line that means more to a shell than the gate would run."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redfirst.core.errors import CommandRejected
from redfirst.runners.command import parse_command
from redfirst.runners.protocol import Command

ACCEPTED = {
    "pytest tests/test_a.py::test_x": Command(".", (), ("pytest", "tests/test_a.py::test_x")),
    "pytest tests/test_a.py::test_x[1-a]\n": Command(".", (), ("pytest", "tests/test_a.py::test_x[1-a]")),
    "pytest a\r\n": Command(".", (), ("pytest", "a")),
    "  pytest   a  ": Command(".", (), ("pytest", "a")),
    "cd pkg/../pkg/sub && pytest a": Command("pkg/sub", (), ("pytest", "a")),
    "cd . && TZ=UTC LC_ALL=C.UTF-8 pytest a": Command(
        ".", (("TZ", "UTC"), ("LC_ALL", "C.UTF-8")), ("pytest", "a")
    ),
    "CI= pytest a": Command(".", (("CI", ""),), ("pytest", "a")),
    "PYTHONWARNINGS='a b' pytest a": Command(".", (("PYTHONWARNINGS", "a b"),), ("pytest", "a")),
    'node --test --test-name-pattern="^a b$" t.js': Command(
        ".", (), ("node", "--test", "--test-name-pattern=^a b$", "t.js")
    ),
    "node --test-name-pattern=^a$ t.js": Command(".", (), ("node", "--test-name-pattern=^a$", "t.js")),
    r"pytest a\ b\;c": Command(".", (), ("pytest", "a b;c")),
    r'pytest "a\"b\$HOME\n"': Command(".", (), ("pytest", r'a"b$HOME\n')),
    "pytest '$(x) `y` > *'": Command(".", (), ("pytest", "$(x) `y` > *")),
    "pytest tests/test_größe.py::test_ä": Command(".", (), ("pytest", "tests/test_größe.py::test_ä")),
    "pytest a#b a~ a{b} ''": Command(".", (), ("pytest", "a#b", "a~", "a{b}", "")),
}

REJECTED = {
    "": "empty",
    "   \n": "empty",
    "pytest a\n\n": "control character",
    "pytest a\nb": "control character",
    "pytest\ta": "control character",
    "pytest a\r": "control character",
    "pytest a\0": "control character",
    "pytest a\u2028b": "control character",
    "\ufeffpytest a": "byte-order mark",
    "pytest a && echo": "&&",
    "cd a && cd b && pytest c": "&&",
    "TZ=UTC cd a && pytest c": "&&",
    "cd a": "cd",
    "cd a b && pytest c": "&&",
    "cd a && ": "no program",
    "cd /tmp && pytest c": "absolute",
    "cd .. && pytest c": "outside",
    "cd a/../.. && pytest c": "outside",
    "cd - && pytest c": "cd",
    "cd '' && pytest c": "cd",
    "cd ~ && pytest c": "home",
    "pytest a; true": "separator",
    "pytest a | tail": "pipe",
    "pytest a || true": "pipe",
    "pytest a &": "`&`",
    "pytest a > b": "redirection",
    "pytest a 2>&1": "redirection",
    "pytest < a": "redirection",
    "(pytest a)": "subshell",
    "pytest $(x)": "expansion",
    "pytest $HOME": "expansion",
    'pytest "${HOME}"': "expansion",
    "pytest $'a'": "expansion",
    "pytest `x`": "substitution",
    'pytest "`x`"': "substitution",
    "pytest a # b": "comment",
    "pytest test_*.py": "wildcard",
    "pytest test_?.py": "wildcard",
    "pytest {a,b}": "brace",
    "pytest a{1..3}": "brace",
    "pytest ~/a": "home",
    "pytest 'a": "not closed",
    'pytest "a': "not closed",
    "pytest a\\": "backslash",
    "PATH=. pytest a": "PATH",
    "PYTEST_ADDOPTS=--co pytest a": "PYTEST_ADDOPTS",
    "TZ=UTC": "no program",
}


@pytest.mark.parametrize("line", ACCEPTED)
def test_allowed_form_is_read(line: str) -> None:
    assert parse_command(line.encode()) == ACCEPTED[line]


@pytest.mark.parametrize("line", REJECTED)
def test_anything_else_is_rejected_by_name(line: str) -> None:
    with pytest.raises(CommandRejected) as caught:
        parse_command(line.encode())
    assert REJECTED[line] in caught.value.what
    assert caught.value.todo


def test_bytes_that_are_not_utf8_are_rejected() -> None:
    with pytest.raises(CommandRejected, match="UTF-8"):
        parse_command(b"pytest \xff")


words = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=12).filter(
    lambda word: word != "cd" and "=" not in word
)


@given(st.lists(words, min_size=1, max_size=5))
def test_what_a_shell_quotes_comes_back(argv: list[str]) -> None:
    line = " ".join(map(shlex.quote, argv))
    if line.startswith("\ufeff"):
        return
    assert parse_command(line.encode()) == Command(".", (), tuple(argv))


@given(st.text(st.sampled_from("ab '\"\\$;&|<>()`*?#~{},.[]=\n")))
def test_every_line_is_read_or_rejected(line: str) -> None:
    try:
        command = parse_command(line.encode())
    except CommandRejected:
        return
    assert command.argv
