# SPDX-License-Identifier: Apache-2.0
"""Keeps out a title that only a comment, a string or a regular expression holds."""

from __future__ import annotations

from redfirst.runners.js_text import declared_titles

TEXT = r"""#!/usr/bin/env node
import { test, it, describe, suite } from "node:test";
// test("in a comment", () => {});
/* it("also not", () => {}) */
const text = 'test("in a string", () => {})';
const odd = /test\("in a regex[/(]", \(/g;
const ratio = 4 / 2; const other = `test("in a template ${`deep ${1}`}")`;
test("plain", () => {});
test('it\'s \u00e4', { skip: true }, () => {});
test(`template`, async (t) => { await t.test("a part", () => {}); test("inside a test", () => {}); });
test(`made of ${text}`, () => {});
test(text, () => {});
describe("outer", () => {
  it("one", () => { /* ) */ });
  describe.skip("inner", function () { it.only("two", () => {}); });
  it("three", () => {});
});
suite("second", () => { test("one", () => {}); });
object.test("a method", () => {});
contest("another name", () => {});
function test2() { return it; }
"""


def test_titles_are_found_with_their_levels() -> None:
    assert declared_titles(TEXT) == (
        "plain",
        "it's ä",
        "template",
        "outer > one",
        "outer > inner > two",
        "outer > three",
        "second > one",
    )


def test_brackets_that_do_not_close_are_known() -> None:
    assert declared_titles('test("a", () => {') is None
    assert declared_titles("test(]") is None
