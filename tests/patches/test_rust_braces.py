# SPDX-License-Identifier: Apache-2.0
"""Test lines of a Rust file are those of its test modules, whatever braces stand in literals and comments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redfirst.patches.rust_tests import (
    changed_outside_tests,
    changed_test_lines,
    split_tests,
)
from redfirst.patches.rust_tests import test_attributes as attributes_of

SOURCE = "pub fn f<'a>(x: &'a str) -> char {\n    '}'\n}\n"
TESTS = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn a() {\n        assert!(true);\n    }\n}\n"
AFTER = "pub fn g() {}\n"

#: Lines that hold braces which are no code.
LITERALS = [
    'let s = "}";',
    'let s = "\\"}";',
    'let s = r"}";',
    'let s = r#"}"}"#;',
    'let s = r##"}"#}"##;',
    'let s = br#"}"#;',
    'let s = b"}";',
    'let s = "a\n}";',
    "let c = '}';",
    "let c = b'}';",
    "let c = '\\'';let d = '}';",
    "let c = '\\u{7d}';",
    "let c = '\"'; let d = '}'; let e = '\"';",
    "// }",
    "/* } */",
    "/* a\n } */",
    "/* /* } */ } */",
    "/// }",
    "fn h<'a, 'b>(x: &'a str, y: &'b str) -> &'a str { x }",
    "let x: &'static str = y; if true { z(); }",
    "'outer: loop { break 'outer; }",
    'println!("{}", 1);',
    'println!("{{");',
]


@pytest.mark.parametrize("literal", LITERALS)
def test_braces_that_are_no_code(literal: str) -> None:
    inside = TESTS.replace("        assert!(true);\n", f"        {literal}\n        assert!(true);\n")
    old, new = (SOURCE + TESTS + AFTER).encode(), (SOURCE + inside + AFTER).encode()
    assert not changed_outside_tests(old, new)
    assert changed_test_lines(old, new)
    after = (SOURCE + inside + AFTER.replace("{}", "{ h() }")).encode()
    assert changed_outside_tests(new, after)
    assert not changed_test_lines(new, after)
    outside = (SOURCE + f"fn w() {{\n    {literal}\n}}\n" + TESTS + AFTER).encode()
    assert changed_outside_tests(old, outside)
    assert not changed_test_lines(old, outside)


@pytest.mark.parametrize(
    ("head", "is_test"),
    [
        ("#[cfg(test)]\nmod tests {", True),
        ("#[cfg(test)] mod tests {", True),
        ("# [ cfg ( test ) ]\nmod t\n{", True),
        ("#[cfg(test)]\n#[allow(dead_code)]\npub(crate) mod tests {", True),
        ("#[cfg(test)]\n// a comment\nmod tests {", True),
        ('#[cfg(all(test, feature = "x"))]\nmod tests {', True),
        ("mod tests {", False),
        ("#[cfg(not(test))]\nmod tests {", False),
        ("#[cfg(all(not(test), unix))]\nmod tests {", False),
        ("#[cfg(all(unix, not(test)))]\nmod tests {", False),
        ("#[cfg(any(test, unix))]\nmod tests {", False),
        ('#[cfg(feature = "test")]\nmod tests {', False),
        ("#[cfg(test)]\nfn helper() {", False),
        ("#[cfg(test)]\nimpl X {", False),
        ("// #[cfg(test)]\nmod tests {", False),
        ('const X: &str = "#[cfg(test)]"; mod tests {', False),
        ("#[cfg(testing)]\nmod tests {", False),
    ],
)
def test_which_modules_are_tests(head: str, is_test: bool) -> None:
    text = SOURCE + head + "\n    fn inner() {}\n}\n" + AFTER
    outside, inside = split_tests(text)
    assert ("inner" in inside, "inner" in outside) == (is_test, not is_test)
    assert "fn g" in outside


def test_two_modules_and_nested_ones() -> None:
    nested = TESTS.replace("    use super::*;\n", "    mod deep {\n        mod deeper {}\n    }\n")
    outside, inside = split_tests(SOURCE + nested + AFTER + TESTS.replace("tests", "more"))
    assert inside.count("cfg(test)") == 2
    assert "deeper" in inside
    assert outside.endswith("pub fn g() {}")


def test_margins_and_blank_lines_do_not_count() -> None:
    old = (SOURCE + TESTS).encode()
    assert not changed_outside_tests(old, (SOURCE + "\n\n" + TESTS).encode())
    assert changed_outside_tests(None, SOURCE.encode())
    assert not changed_outside_tests(None, TESTS.encode())
    assert changed_outside_tests(old, None)


def test_a_module_cannot_swallow_source() -> None:
    old = (SOURCE + TESTS + AFTER).encode()
    for opening in ("{", "/* /* */ {", 'let s = "', 'let s = r#"', "'{", "/*"):
        new = old.replace(
            b"        assert!(true);\n", f"        assert!(true);\n        {opening}\n".encode()
        )
        swallowed = new.replace(b"pub fn g() {}", b"pub fn g() { h() }")
        assert changed_outside_tests(old, swallowed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#[test]\nfn a() {}", [("a", ("#[test]",))]),
        ("#[test]\n#[ignore]\nfn a() {}", [("a", ("#[ignore]", "#[test]"))]),
        ("#[tokio::test]\nasync fn a() {}", [("a", ("#[tokio::test]",))]),
        ("#[test] #[should_panic] pub fn a() {}", [("a", ("#[should_panic]", "#[test]"))]),
        ("// #[test]\nfn a() {}", []),
        ("fn a() {}", []),
        ("#[testing]\nfn a() {}", []),
    ],
)
def test_attributes(text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert attributes_of(text) == expected


@given(st.lists(st.sampled_from(LITERALS), max_size=6), st.lists(st.sampled_from(LITERALS), max_size=6))
def test_any_mixture_splits_where_the_modules_end(outside: list[str], inside: list[str]) -> None:
    body = "".join(f"        {line}\n" for line in inside)
    before = "".join(f"    {line}\n" for line in outside)
    text = f"fn first() {{\n{before}}}\n#[cfg(test)]\nmod tests {{\n    fn held() {{\n{body}    }}\n}}\n"
    text += "fn last() {}\n"
    out, within = split_tests(text)
    assert ("fn held" in within, "fn held" in out) == (True, False)
    assert "fn first" in out
    assert "fn last" in out
    assert "fn last" not in within
