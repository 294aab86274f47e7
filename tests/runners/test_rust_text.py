# SPDX-License-Identifier: Apache-2.0
"""Keeps out a test that only a comment or a string defines, and a source line taken for test text."""

from __future__ import annotations

import pytest

from redfirst.runners.rust_panic import panic_of
from redfirst.runners.rust_text import declaring_files, module_of, scan

TEXT = """\
//! #[test] fn in_a_comment() {}
/* #[test] /* nested */ fn also_not() {} */
const TEXT: &str = r#"#[test] fn nor_this() {}"#;
const BRACE: char = '{';
fn life<'a>(x: &'a str) -> &'a str { x }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first() { assert_eq!("}", "}"); }

    mod inner {
        #[tokio::test(flavor = "current_thread")]
        async fn second() {}
        fn helper() {}
    }
}

#[test]
#[should_panic]
pub fn third() {
    panic!()
}

fn plain() {}
#[cfg(all(unix, test))]
mod elsewhere;
"""


def test_tests_are_found_with_their_modules() -> None:
    assert scan(TEXT).tests == ("tests::first", "tests::inner::second", "third")


def test_test_lines_are_those_of_test_modules_and_functions() -> None:
    found = scan(TEXT)
    lines = [number for number in range(1, 32) if found.is_test_line(number)]
    assert lines == [*range(7, 20), *range(21, 26)]
    assert found.test_modules == ("elsewhere",)


def test_a_text_whose_braces_do_not_close_is_known() -> None:
    assert not scan("mod a { fn b() {").balanced
    assert not scan("} {").balanced


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("src/lib.rs", ""),
        ("src/main.rs", ""),
        ("src/a.rs", "a"),
        ("src/a/mod.rs", "a"),
        ("src/a/b.rs", "a::b"),
        ("src/bin/tool.rs", ""),
        ("src/bin/tool/main.rs", ""),
        ("src/bin/tool/part.rs", "part"),
        ("crates/x/src/y.rs", "y"),
        ("tests/words.rs", ""),
        ("tests/words/main.rs", ""),
        ("tests/common/mod.rs", "common"),
    ],
)
def test_a_file_has_the_module_of_its_place(path: str, module: str) -> None:
    assert "::".join(module_of(path)) == module


def test_a_module_in_its_own_file_is_declared_beside_or_above_it() -> None:
    assert ("src/lib.rs", "tests") in declaring_files("src/tests.rs")
    assert ("src/a.rs", "tests") in declaring_files("src/a/tests.rs")
    assert ("src/a/mod.rs", "tests") in declaring_files("src/a/tests.rs")


def test_the_last_panic_of_the_tests_own_thread_counts() -> None:
    text = (
        "thread 'a' panicked at src/x.rs:1:2:\nfirst\nnote: run\n\n"
        "thread '<unnamed>' (7) panicked at src/y.rs:3:4:\nother\n\n"
        "thread 'a' (8) panicked at src/z.rs:5:6:\nassertion failed: b\nmore\nstack backtrace:\n   0: x\n"
    )
    panic = panic_of("a", text)
    assert panic is not None
    assert (panic.file, panic.line, panic.message) == ("src/z.rs", 5, "assertion failed: b\nmore")
    older = panic_of("a", "thread 'main' panicked at 'it's\nbroken', src/x.rs:1:2\nnote: run")
    assert older is not None
    assert (older.file, older.message) == ("src/x.rs", "it's\nbroken")
    assert panic_of("a", "Error: x") is None
