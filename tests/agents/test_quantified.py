# SPDX-License-Identifier: Apache-2.0
"""Keeps "all four of these" and "so far so good" apart from what only sounds like them."""

from __future__ import annotations

import pytest

from redfirst.agents.strategies.snippet.claims import claims_in
from redfirst.agents.strategies.snippet.quantified import (
    Quantity,
    announces_right,
    calls_block_right,
    chosen,
    quantity_of,
)


@pytest.mark.parametrize(
    ("sentence", "quantity"),
    [
        ("All four of these should be 0.", Quantity(4)),
        ("I think both of them should be 0.", Quantity(2)),
        ("Both should be 0.", Quantity(2)),
        ("All of these should be 0.", Quantity(None)),
        ("These should all be 0.", Quantity(None)),
        ("They should both be 0.", Quantity(2)),
        ("The three should all be 0.", Quantity(3)),
        ("I would expect 0 for all of them.", Quantity(None)),
        ("I would expect 0 for all three.", Quantity(3)),
        ("Expected: 0 in both cases.", Quantity(2)),
        ("It should be 0.", None),
        ("These should be 0.", None),
        ("After all it should be 0.", None),
        ("Not all of these should be 0.", None),
        ("The last of these should be 0.", None),
        ("I would expect 0 for all that it matters.", None),
    ],
)
def test_a_sentence_speaks_of_so_many_results(sentence: str, quantity: Quantity | None) -> None:
    [claim] = claims_in(sentence, 1)
    assert quantity_of(claim) == quantity


@pytest.mark.parametrize(
    ("number", "results", "differing", "places"),
    [
        (None, [0, 1, 2], [0, 2], [0, 2]),
        (2, [0, 1, 2], [0, 2], [0, 2]),
        (3, [0, 1, 2], [0, 2], [0, 2]),
        (4, [0, 1, 2], [0, 2], []),
        (1, [0], [0], []),
        (None, [0, 1], [], []),
    ],
)
def test_a_number_must_fit(
    number: int | None, results: list[int], differing: list[int], places: list[int]
) -> None:
    assert chosen(Quantity(number), results, differing) == places


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("So far so good.", True),
        ("So far, so good:", True),
        ("That's fine.", True),
        ("All of that is as expected.", True),
        ("Works fine so far.", True),
        ("This is right, of course.", True),
        ("That's not fine.", False),
        ("All of that is right, except the second.", False),
        ("That would be fine.", False),
        ("Right now it gives 3.", False),
        ("Works for me only once.", False),
        ("That is wrong.", False),
    ],
)
def test_a_block_is_called_right(sentence: str, right: bool) -> None:
    assert calls_block_right(sentence) is right


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("This works:", True),
        ("The following works fine:", True),
        ("With one argument it works:", True),
        ("The opposite case, i.e. fewer of them, works and I'd like to keep it as it is:", True),
        ("and ordinary ones aren't affected either, also not if they are longer (or shorter):", True),
        ("Plain names are not affected:", True),
        ("These must stay as they are:", True),
        ("It no longer works:", False),
        ("This is right but slow:", False),
        ("This does not work:", False),
        ("This only works once:", False),
        ("This works.", False),
        ("How it works:", False),
        ("It should work:", False),
    ],
)
def test_what_comes_is_said_to_work(sentence: str, right: bool) -> None:
    assert announces_right(sentence) is right
