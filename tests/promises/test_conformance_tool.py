# SPDX-License-Identifier: Apache-2.0
"""Keeps the conformance tool from accepting an answer that contradicts itself."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "conformance.py"
SPEC = importlib.util.spec_from_file_location("conformance", TOOL)
assert SPEC is not None
assert SPEC.loader is not None
conformance = importlib.util.module_from_spec(SPEC)
sys.modules["conformance"] = conformance
SPEC.loader.exec_module(conformance)

Answer = conformance.Answer
FAIL, PASS = ("fail",), ("pass",)


@pytest.mark.parametrize(
    ("answer", "kinds", "wanted"),
    [
        (Answer(0, "assertion_failed", True, "fail"), ("assertion_failed",), FAIL),
        (Answer(1, "passed", True, "pass"), ("passed",), FAIL),
        (Answer(0, "passed", True, "pass"), ("passed",), PASS),
        (Answer(1, "exception_raised", True, "fail"), ("assertion_failed", "exception_raised"), PASS),
        (Answer(3, "timeout", False, None), ("timeout",), PASS),
        (Answer(0, "assertion_failed", True, "fail"), ("assertion_failed",), ("fail", "pass")),
    ],
)
def test_consistent_answers_conform(answer: object, kinds: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    assert conformance.disagreements(answer, kinds, wanted) == []


@pytest.mark.parametrize(
    ("answer", "kinds", "wanted"),
    [
        (Answer(0, "assertion_failed", True, "fail"), ("exception_raised",), FAIL),
        (Answer(1, "assertion_failed", True, "fail"), ("assertion_failed",), FAIL),
        (Answer(0, "assertion_failed", False, None), ("assertion_failed",), FAIL),
        (Answer(1, "timeout", False, None), ("timeout",), FAIL),
        (Answer(3, "timeout", True, "fail"), ("timeout",), FAIL),
        (Answer(0, "no_such_kind", True, "fail"), ("no_such_kind",), FAIL),
        (Answer(2, problem="no verdict"), ("timeout",), FAIL),
    ],
)
def test_other_answers_do_not(answer: object, kinds: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    assert conformance.disagreements(answer, kinds, wanted) != []


def test_output_that_is_more_than_the_verdict_is_no_answer() -> None:
    good = b'{"kind": "passed", "valid": true, "outcome": "pass", "why": ""}'
    assert conformance.read_answer(0, good, b"").problem == ""
    assert conformance.read_answer(0, b"note\n" + good, b"").problem != ""
