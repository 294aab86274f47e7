# SPDX-License-Identifier: Apache-2.0
"""Keeps source lines of Rust out of test patches, and test lines out of source patches."""

from __future__ import annotations

import pytest

from redfirst.patches.rust_tests import changed_outside_tests, changed_test_lines, declared_for_tests

SOURCE = """\
//! Rings.
pub fn get(at: usize) -> char {
    let text = "} mod tests {
  two  lines";
    text.chars().nth(at).unwrap_or('{') // #[cfg(test)] mod no {
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first() {
        assert_eq!(get(0), '}');
    }
}
"""


def swap(old: str, new: str) -> bytes:
    assert old in SOURCE
    return SOURCE.replace(old, new, 1).encode()


@pytest.mark.parametrize(
    ("new", "outside", "inside"),
    [
        (swap("    use super::*;", "    use super::*;\n\n    #[test]\n    fn new() {}"), False, True),
        (swap("'}'", "'{'"), False, True),
        (swap("//! Rings.\n", "//! Rings.\n\n"), False, False),
        (swap("unwrap_or('{')", "unwrap_or('}')"), True, False),
        (swap("  two  lines", "    two  lines"), True, False),
        (swap("#[cfg(test)]\nmod tests", "mod tests"), True, True),
        (swap("#[cfg(test)]\nmod tests", "#[cfg(any())]\nmod tests"), True, True),
        (
            SOURCE.encode()
            + b"\n#[cfg(test)]\nmod more {\n    fn a<'a>() { b('\\'', b'}', r#\"}\"#); }\n}\n",
            False,
            True,
        ),
        (SOURCE.encode() + b"\n#[cfg(test)]\nmod elsewhere;\n", False, True),
        (SOURCE.encode() + b"\n#[cfg(test)]\nfn helper() {}\n", True, False),
        (SOURCE.encode() + b"\n#[cfg(not(test))]\nmod tests2 {\n}\n", True, False),
        (None, True, True),
    ],
)
def test_which_lines_changed(new: bytes | None, outside: bool, inside: bool) -> None:
    assert changed_outside_tests(SOURCE.encode(), new) is outside
    assert changed_test_lines(SOURCE.encode(), new) is inside


@pytest.mark.parametrize(
    ("path", "parent", "text", "declared"),
    [
        ("src/tests.rs", "src/lib.rs", "#[cfg(test)]\nmod tests;\n", True),
        ("src/ring/tests.rs", "src/ring.rs", "#[cfg(test)] pub(crate) mod tests;\n", True),
        ("src/ring/tests.rs", "src/ring/mod.rs", "#[cfg(test)]\n#[rustfmt::skip]\nmod tests;\n", True),
        ("src/ring/tests/mod.rs", "src/ring.rs", "#[cfg(test)]\nmod tests;\n", True),
        ("src/tests.rs", "src/lib.rs", "mod tests;\n", False),
        ("src/tests.rs", "src/lib.rs", "// #[cfg(test)] mod tests;\n", False),
        ("src/other.rs", "src/lib.rs", "#[cfg(test)]\nmod tests;\nmod other;\n", False),
    ],
)
def test_a_file_that_is_a_test_module(path: str, parent: str, text: str, declared: bool) -> None:
    assert declared_for_tests(path, lambda name: text.encode() if name == parent else None) is declared
