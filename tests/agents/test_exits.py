# SPDX-License-Identifier: Apache-2.0
"""Keeps the reading of exit statuses right: which status a sentence states, and whether it is wanted."""

from __future__ import annotations

import pytest

from redfirst.agents.strategies.snippet.exits import exits_in

STATED = {
    "`tool -x` exits with status 0.": ["actual 0"],
    "Exits 0 on bad input": ["actual 0"],
    "exit status 1": ["actual 1"],
    "Exit code: 3": ["actual 3"],
    "The process ends with exit code 1 although nothing is wrong.": ["actual 1"],
    "It exits silently with a zero status": ["actual 0"],
    "The exit status of `tool -x` is 2": ["actual 2"],
    "`echo $?` prints 0": ["actual 0"],
    "`$?` is 0 afterwards": ["actual 0"],
    "it terminates with return code 4": ["actual 4"],
    "tool reports success for unknown names": ["actual 0"],
    "It does not exit with a non-zero status.": ["actual 0"],
    "It should exit with 1.": ["expected 1"],
    "should exit non-zero": ["expected not 0"],
    "The command must report failure.": ["expected not 0"],
    "It should not exit with 0.": ["expected not 0"],
    "exit code should be anything but 0": ["expected not 0"],
    "I would expect a non-zero exit status here.": ["expected not 0"],
    "It would be nice if the status was 1": ["expected 1"],
    "The tool ought to exit cleanly": ["expected 0"],
    "The exit code is 0, but it must be non-zero.": ["actual 0", "expected not 0"],
    "It exits with `0` instead of `1`.": ["actual 0", "expected 1"],
    "The exit status should be 2 instead of 0.": ["expected 2", "actual 0"],
    "It exits with 0, not 1.": ["actual 0", "expected 1"],
    "the exit status says success": ["actual 0"],
    "Could it please report failure for these?": ["expected not 0"],
    "exits with status 0 (should be 1)": ["actual 0", "expected 1"],
    "The tool should succeed, but exits with code 4.": ["expected 0", "actual 4"],
}
NOTHING = ["the test returns 3 items", "The loop exits with 3 elements", "It prints 1.", "version 1.0 is out"]


@pytest.mark.parametrize("text", STATED)
def test_a_sentence_states_exit_statuses(text: str) -> None:
    found = exits_in(text)
    assert [f"{e.role.value} {'not ' if e.status.other else ''}{e.status.code}" for e in found] == STATED[
        text
    ]
    assert all(one.sure for one in found)


@pytest.mark.parametrize("text", NOTHING)
def test_other_numbers_are_no_statuses(text: str) -> None:
    assert not exits_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "Should it exit with 1?",
        "Perhaps the exit status should be 2.",
        "In 2.3 it exited with 1.",
        "exit code 1 or 2",
    ],
)
def test_what_is_not_sure_is_marked(text: str) -> None:
    assert [one.sure for one in exits_in(text)] == [False]


@pytest.mark.parametrize(
    ("text", "bare"), [("it should fail", True), ("`tool` returns 0", True), ("exits 0", False)]
)
def test_words_that_may_be_about_something_else_are_marked(text: str, bare: bool) -> None:
    assert [one.bare for one in exits_in(text)] == [bare]


def test_a_status_knows_its_command_and_whether_it_is_right() -> None:
    (one,) = exits_in("`tool -x` exits with 0, as it should.")
    assert (one.about, one.lasting, one.whole) == ("tool -x", True, False)
    (other,) = exits_in("Both commands should exit with 1.")
    assert other.whole
