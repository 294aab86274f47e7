# SPDX-License-Identifier: Apache-2.0
"""Keeps the reading of reports right: what is code, what is output, and what a sentence states."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from redfirst.agents.strategies.snippet.claims import Role, claims_in, read_remark
from redfirst.agents.strategies.snippet.report import Section, read_report
from redfirst.agents.strategies.snippet.steps import steps_of
from redfirst.agents.strategies.snippet.story import MAX_STEPS, tell
from redfirst.agents.strategies.snippet.tracebacks import find_exception


def steps(text: str) -> list[tuple[str, str | None, str]]:
    report = read_report(text.encode())
    found = [steps_of(block, number) for number, block in enumerate(report.blocks)]
    return [(step.code, step.shown, step.comment) for block in found for step in block]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```python\nx = 1\nf(x)\n```", [("x = 1", None, ""), ("f(x)", None, "")]),
        ("~~~py\nf(1)  # 2\n~~~", [("f(1)", None, "2")]),
        ("words:\n\n    >>> f(1)\n    2\n    >>> g()\n", [("f(1)", "2", ""), ("g()", None, "")]),
        ("In [1]: f(1)\nOut[1]: 2\n", [("f(1)", "2", "")]),
        ("```\n>>> for x in y:\n...     f(x)\n...\n1\n2\n```", [("for x in y:\n    f(x)", "1\n2", "")]),
        ("```\nsome output 1.5 kB\n```", []),
        ("```bash\nls -l\n```", []),
        ("```json\n{'a': 1}\n```", []),
        ("```python\nif x\n```", []),
        ("```python\nf(1)\n# {'a': 1}\ng()\n```", [("f(1)", None, "{'a': 1}"), ("g()", None, "")]),
        ("```python\nf(1)\n# now the other one\ng()\n```", [("f(1)", None, ""), ("g()", None, "")]),
        ("```python\na = 1; b = 2\n```", [("a = 1", None, ""), ("b = 2", None, "")]),
        ("\N{BYTE ORDER MARK}```python\nf(1)\n```", [("f(1)", None, "")]),
    ],
)
def test_code_is_cut_into_statements_with_what_stands_beside_them(
    text: str, expected: list[tuple[str, str | None, str]]
) -> None:
    assert steps(text) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I expected 100.", [(Role.EXPECTED, "100")]),
        ("It should be `[1, 2]`, but I get `[1]`.", [(Role.EXPECTED, "[1, 2]"), (Role.ACTUAL, "[1]")]),
        ("`f(1)` returns 4 instead of 3", [(Role.ACTUAL, "4"), (Role.EXPECTED, "3")]),
        ("should return 3 instead of 4", [(Role.EXPECTED, "3"), (Role.ACTUAL, "4")]),
        ("Expected: `('a', 1)`, as before", [(Role.EXPECTED, "('a', 1)")]),
        ("It should raise a ValueError.", [(Role.EXPECTED_RAISE, "ValueError")]),
        ("It fails with `KeyError: 'x'` here", [(Role.ACTUAL_RAISE, "KeyError")]),
        ("It should not be None.", [(Role.UNWANTED, "None")]),
        ("It should return 2 elements", [(Role.EXPECTED, "2")]),
        ("There `should be 3` in code", []),
        ("1.2.0 gave `'x'`", [(Role.EXPECTED, "'x'")]),
        ("This works as expected.", []),
    ],
)
def test_a_sentence_states_values_with_their_roles(sentence: str, expected: list[tuple[Role, str]]) -> None:
    assert [(claim.role, claim.value) for claim in claims_in(sentence, 1)] == expected


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("-> 3", [(Role.SHOWN, "3")]),
        ("expected 3", [(Role.EXPECTED, "3")]),
        ("raises ValueError", [(Role.ACTUAL_RAISE, "ValueError")]),
        ("should raise ValueError", [(Role.EXPECTED_RAISE, "ValueError")]),
        ("4, should be 3", [(Role.SHOWN, "4"), (Role.EXPECTED, "3")]),
        ('still "Oslo", expected "Bergen"', [(Role.SHOWN, '"Oslo"'), (Role.EXPECTED, '"Bergen"')]),
        ("ok", []),
    ],
)
def test_a_comment_states_results(comment: str, expected: list[tuple[Role, str]]) -> None:
    assert [(claim.role, claim.value) for claim in read_remark(comment, 1).claims] == expected


def test_headings_of_a_template_tell_expected_from_actual() -> None:
    text = "T\n\n## Actual behavior\n\n```\n1\n```\n\n**Expected behavior**\n\n```\n2\n```\n"
    text += "\nOther\n=====\n\n```\n3\n```\n"
    sections = [block.section for block in read_report(text.encode()).blocks]
    assert sections == [Section.ACTUAL, Section.EXPECTED, Section.OTHER]


@pytest.mark.parametrize(
    ("text", "type_", "message"),
    [
        (
            'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nKeyError: 1',
            "KeyError",
            "1",
        ),
        ("pkg.errors.Bad: no", None, None),
        ("pkg.BadError: no\nmore", "pkg.BadError", "no\nmore"),
        ("a line\nof output", None, None),
    ],
)
def test_exceptions_are_found_in_what_is_shown(text: str, type_: str | None, message: str | None) -> None:
    found = find_exception(text)
    assert (found and found.type, found and found.message) == (type_, message)


_LINES = st.sampled_from(
    [
        "```",
        "```python",
        "~~~",
        ">>> f(1)",
        "... x",
        "In [1]: f()",
        "Out[1]: 2",
        "    x = 1",
        "",
        "# T",
        "===",
        "`f(1)` is 2",
        "Traceback (most recent call last):",
        '  File "a", line 1',
        "It should be [1",
        "expected '",
        "- item",
        'f("""',
        "\x0c",
        "é",
    ]
)


@given(st.lists(_LINES | st.text(max_size=30), max_size=25).map("\n".join))
@settings(max_examples=150, deadline=None)
def test_any_text_that_can_be_read_is_told(text: str) -> None:
    data = text.encode("utf-8", "replace")
    assume(text.strip("\ufeff").strip() and b"\0" not in data)
    assert len(tell(read_report(data)).steps) <= MAX_STEPS


@pytest.mark.parametrize(
    "piece",
    [
        "It should be [1, 2 ",
        "`f(1)` gives (3. ",
        "# T\n",
        ">>> f(1)\n",
        "a.\n",
        "<!--",
        "- x\n\n",
        "```\n",
        "*",
        "f(((\n",
    ],
)
def test_a_report_of_a_megabyte_is_read_in_reasonable_time(piece: str) -> None:
    data = (piece * (1 << 20)).encode()[: 1 << 20]
    before = time.process_time()
    tell(read_report(data))
    assert time.process_time() - before < 5
