# SPDX-License-Identifier: Apache-2.0
"""The shown output keeps to its budget, marks every cut and keeps both ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from redfirst.gate.output import BUDGET, bounded


@given(st.binary(max_size=20_000), st.binary(max_size=20_000))
def test_never_over_budget(out, err):
    assert len(bounded(out, err)) <= BUDGET


def test_short_output_is_whole():
    assert bounded(b"hello\r\n", b"") == "hello\n"


def test_long_output_keeps_head_and_tail_and_says_so():
    text = bounded(b"HEAD" + b"x" * 50_000 + b"TAIL", b"")
    assert text.startswith("HEAD")
    assert text.endswith("TAIL")
    assert "left out" in text
