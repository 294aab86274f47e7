# SPDX-License-Identifier: Apache-2.0
"""Keeps the texts of tests in unparsed languages apart: a change of one is not taken for a change of another."""

from __future__ import annotations

import pytest

from redfirst.gate.check.plain_text import read_plain

RUST = b"""pub fn total(coins: &[u32]) -> u32 { coins.iter().sum() }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one() { assert_eq!(total(&[1]), 1); }

    #[test]
    fn two() { assert_eq!(total(&[1, 1]), 2); }
}
"""
NODE = b"""const { total } = require('../coins.js');

test('one', () => { total([1]); });

test('two', () => { total([1, 1]); });
"""
CHANGES = {
    "source above a module of tests": (RUST, ["one", "two"], b"coins.iter().sum()", b"0", set()),
    "what a module of tests uses": (RUST, ["one", "two"], b"super::*", b"super::total", {"head"}),
    "a test": (RUST, ["one", "two"], b"(&[1]), 1", b"(&[1]), 0", {"one"}),
    "the last test": (RUST, ["one", "two"], b"1]), 2", b"1]), 3", {"two"}),
    "the margin of a test": (RUST, ["one", "two"], b"    fn one", b"\tfn one", set()),
    "what a file of tests requires": (NODE, ["one", "two"], b"coins.js", b"purse.js", {"head"}),
    "a titled test": (NODE, ["one", "two"], b"([1]);", b"([2]);", {"one"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen_where_it_is(name: str) -> None:
    text, tests, old, new, expected = CHANGES[name]
    assert old in text
    before, after = read_plain(text, tests), read_plain(text.replace(old, new), tests)
    changed = {test for test in tests if before.bodies[test] != after.bodies[test]}
    assert changed | ({"head"} if before.head != after.head else set()) == expected


def test_lines_are_those_of_the_declarations() -> None:
    assert read_plain(RUST, ["one", "two"]).lines == {"one": 8, "two": 11}
    assert read_plain(NODE, ["one", "two"]).lines == {"one": 3, "two": 5}
    assert read_plain(None, ["one"]).lines == {}
