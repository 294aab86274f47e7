# SPDX-License-Identifier: Apache-2.0
"""Keeps existing tests of JavaScript, Rust, Go, Java and C from being weakened beside new ones."""

from __future__ import annotations

import pytest

from redfirst.patches.apply import TreeChange
from redfirst.patches.code_lines import code_lines
from redfirst.patches.existing import existing_faults

SCRIPT = """\
import test from 'node:test';
import assert from 'node:assert/strict';
import { slugify } from '../src/slug.js';

const CASES = [
  ['a b', 'a-b'],
  ['c', 'c']
];

// joins words
test('joins', () => {
  assert.equal(slugify('a b'), 'a-b');
  const re = /[({]/;
  assert.deepEqual(slugify('x').split(re), [
    'x',
  ]);
});

describe('table', () => {
  for (const [text, want] of CASES) {
    it(`says ${text}`, () => {
      assert.equal(slugify(text), want);
    });
  }
});
"""
JS, RS = "tests/a.test.js", "tests/a.rs"
NEW_SCRIPT_TEST = "\ntest('new one', () => {\n  assert.equal(slugify(' a'), 'a');\n});\n"
RUST = """\
use rusty::parse;

const CASES: &[(&str, u64)] = &[("1h", 3600), ("1m", 60)];

#[test]
fn parses() {
    for (text, want) in CASES {
        assert_eq!(parse(text), *want);
    }
    assert_eq!(parse("2h"), 7200);
}

#[test]
#[should_panic(expected = "empty")]
fn refuses() {
    parse("");
}
"""
NEW_RUST_TEST = '#[test]\nfn adds_up() {\n    assert_eq!(parse("1h30m"), 5400);\n}\n\n'
GO = 'package a\n\nfunc TestA(t *testing.T) {\n\tif got := F(1); got != 2 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n'
JAVA = "class ATest {\n  @Test\n  void adds() {\n    assertEquals(2, A.f(1));\n  }\n}\n"
CPP = "TEST(A, B) {\n  EXPECT_EQ(f(1), 2);\n  EXPECT_EQ(f(2), 3);\n}\n"


def faults(path: str, old: str, new: str) -> list[str]:
    return existing_faults(TreeChange(path, "M", "100644", "100644", old.encode(), new.encode()))


def swap(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        pytest.param(JS, SCRIPT, SCRIPT + NEW_SCRIPT_TEST, id="a new test at the end"),
        pytest.param(JS, SCRIPT, SCRIPT.replace("\n", "\r\n"), id="other line ends"),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "// joins words\n", NEW_SCRIPT_TEST), id="comment gone"),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "  ['c', 'c']\n", "  ['c', 'c'],\n  ['d', 'd'],\n"), id="rows"),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "['c', 'c']", "['c', 'c'], ['d', 'd']"), id="row in line"),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "{ slugify }", "{ slugify, other }"), id="import grows"),
        pytest.param(
            JS, SCRIPT, swap(SCRIPT, "  const re", "  assert.ok(slugify('q'));\n  const re"), id="assertion"
        ),
        pytest.param(
            JS,
            SCRIPT,
            SCRIPT + "test('odd', (t) => {\n  if (!x) return t.skip('later');\n});\n",
            id="own skip",
        ),
        pytest.param(RS, RUST, swap(RUST, "#[test]\n", NEW_RUST_TEST + "#[test]\n"), id="rust test before"),
        pytest.param(
            RS, RUST, RUST + '\n#[test]\n#[should_panic]\nfn new() {\n    parse("x");\n}\n', id="panic"
        ),
        pytest.param(RS, RUST, swap(RUST, '("1m", 60)]', '("1m", 60), ("1d", 86400)]'), id="rust table"),
        pytest.param(
            RS, RUST, swap(RUST, "use rusty::parse;", "use rusty::{parse, Ring};"), id="rust import"
        ),
        pytest.param("a_test.go", GO, GO + "\nfunc TestB(t *testing.T) {\n\tt.Skip()\n}\n", id="go"),
        pytest.param(
            "src/test/ATest.java",
            JAVA,
            swap(JAVA, "  @Test\n", "  @Test\n  void b() {\n  }\n\n  @Test\n"),
            id="java",
        ),
        pytest.param("a_test.cc", CPP, CPP + "TEST(A, C) {\n  EXPECT_EQ(f(9), 1);\n}\n", id="c++"),
    ],
)
def test_growing_is_allowed(path: str, old: str, new: str) -> None:
    assert faults(path, old, new) == []


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        pytest.param(JS, SCRIPT, swap(SCRIPT, "  assert.equal(slugify('a b'), 'a-b');\n", ""), id="gone"),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "'a-b');", "'a_b');"), id="changed"),
        pytest.param(
            JS, SCRIPT, swap(SCRIPT, "slugify('a b'), 'a-b'", "slugify('a b', {}), 'a-b'"), id="argument"
        ),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "test('joins'", "test.skip('joins'"), id="skip"),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "test('joins', ", "test('joins', { todo: true }, "), id="todo"),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "test('joins'", "test('other'"), id="renamed"),
        pytest.param(JS, SCRIPT, SCRIPT + NEW_SCRIPT_TEST.replace("test(", "test.only("), id="only"),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "  const re", "  return;\n  const re"), id="return"),
        pytest.param(
            JS, SCRIPT, swap(SCRIPT, "  const re", "  if (x) throw 1;\n  return;\n  const re"), id="two"
        ),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "    it(`", "    break;\n    it(`"), id="break"),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "    'x',\n", "    'x',\n    'y',\n"), id="expected value"),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "  ['c', 'c']\n", ""), id="row gone"),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "['a b', 'a-b']", "['a b', 'a_b']"), id="row changed"),
        pytest.param(JS, SCRIPT, "/*\n" + SCRIPT + "*/\n" + NEW_SCRIPT_TEST, id="in a comment"),
        pytest.param(JS, SCRIPT, "const s = `\n" + SCRIPT.replace("`", "'") + "`;\n", id="in a template"),
        pytest.param(
            JS,
            SCRIPT,
            swap(SCRIPT, "describe('table'", "if (false) {\ndescribe('table'") + "}\n",
            id="behind an if",
        ),
        pytest.param(
            JS, SCRIPT, SCRIPT + "beforeEach(function () {\n  this.skip();\n});\n", id="skip for all"
        ),
        pytest.param(JS, SCRIPT, swap(SCRIPT, "const CASES", "const assert = {};\nconst CASES"), id="assert"),
        pytest.param(RS, RUST, swap(RUST, "fn parses", "#[ignore]\nfn parses"), id="ignore"),
        pytest.param(
            RS, RUST, swap(RUST, "#[test]\nfn parses", "#[test] #[ignore]\nfn parses"), id="same line"
        ),
        pytest.param(
            RS, RUST, swap(RUST, "#[test]\nfn parses", "#[test]\n#[should_panic]\nfn parses"), id="panics"
        ),
        pytest.param(RS, RUST, swap(RUST, '(expected = "empty")', ""), id="expectation"),
        pytest.param(RS, RUST, swap(RUST, "fn parses", "fn decoy() {}\n\nfn parses"), id="attribute stolen"),
        pytest.param(RS, RUST, "#![cfg(any())]\n" + RUST, id="file switched off"),
        pytest.param(RS, RUST, swap(RUST, "    for (", "    return;\n    for ("), id="rust return"),
        pytest.param(RS, RUST, "macro_rules! assert_eq {\n    ($($x:tt)*) => {};\n}\n" + RUST, id="macro"),
        pytest.param("a_test.go", GO, swap(GO, "\tif got", "\tt.Skip()\n\tif got"), id="go skip"),
        pytest.param("a_test.go", GO, swap(GO, "got != 2", "got != 3"), id="go changed"),
        pytest.param(
            "src/test/ATest.java",
            JAVA,
            swap(JAVA, "  void adds", "  @Disabled\n  void adds"),
            id="java disabled",
        ),
        pytest.param(
            "src/test/ATest.java",
            JAVA,
            swap(JAVA, "  void adds", "  void b() {\n  }\n\n  void adds"),
            id="java stolen",
        ),
        pytest.param("a_test.cc", CPP, "#if 0\n" + CPP + "#endif\n", id="c++ left out"),
        pytest.param(
            "spec/a_spec.rb", "it 'x' do\n  expect(1).to eq 1\nend\n", "it 'x' do\nend\n", id="ruby"
        ),
    ],
)
def test_weakening_is_a_fault(path: str, old: str, new: str) -> None:
    assert faults(path, old, new)


@pytest.mark.parametrize(
    ("path", "old", "new", "allowed"),
    [
        ("tests/a.csv", "a,1\n", "a,1\nb,2\n", True),
        ("tests/a.csv", "a,1\nb,2\n", "0,0\na,1\nb,2\n", True),
        ("tests/a.csv", "a,1\n", "a,1,x\n", True),
        ("tests/a.csv", "a,1\n", "a,12\n", False),
        ("tests/a.csv", "a,1\nb,2\n", "b,2\na,1\n", False),
        ("tests/a.txt", "a\r\nb\r\n", "a\nb\n", False),
        ("tests/a.txt", "a", "a\nb", True),
        ("tests/a.txt", "a\n\nb\n", "a\nb\n", False),
        ("tests/a.yaml", "rows: [1, 2]\n", "rows: [1, 2, 3]\n", True),
        ("tests/a.yaml", "rows: [1, 2]\n", "rows: [1, 3]\n", False),
        ("tests/a.json", '{"a": [1, {"b": 2}]}', '{\n "z": 0, "a": [0, 1, {"b": 2, "c": 3}]\n}', True),
        ("tests/a.json", '{"a": [1, 2]}', '{"a": [2, 1]}', False),
        ("tests/a.json", '{"a": 1}', '{"a": true}', False),
        ("tests/a.bin", "\0\1", "\0\1\2", True),
        ("tests/a.bin", "\0\1", "\0\2", False),
    ],
)
def test_data_may_grow(path: str, old: str, new: str, allowed: bool) -> None:
    assert (faults(path, old, new) == []) is allowed


def test_a_removed_file_is_a_fault_and_a_new_one_is_none() -> None:
    assert existing_faults(TreeChange("tests/a.csv", "D", "100644", None, b"a\n", None))
    assert existing_faults(TreeChange("tests/a.test.js", "A", None, "100644", None, SCRIPT.encode())) == []


def test_brackets_in_literals_are_no_code() -> None:
    text = "f('(', \"{\", `[${a}`, /[({]/g, a / b / c); // {\nx;\n"
    assert [(line.text, line.around) for line in code_lines("a.js", text)][1] == ("x;", ())
    rust = "fn f<'a>(x: &'a str) {\n    g('{', b'\\'', r#\"(\"#);\n    /* } */ h();\n}\n"
    assert [line.around for line in code_lines("a.rs", rust)] == [
        (),
        ("fn f<'a>(x: &'a str) {",),
        ("fn f<'a>(x: &'a str) {",),
        (),
    ]


def test_a_long_file_is_judged_at_once() -> None:
    old = "".join(f"test('n{n}', () => {{\n  assert.equal(f({n}), {n});\n}});\n" for n in range(3000))
    assert faults("tests/a.test.js", old, old + NEW_SCRIPT_TEST) == []
    rows = "".join(f"{n},{n}\n" for n in range(50_000))
    assert faults("tests/a.csv", rows, rows[4:])
