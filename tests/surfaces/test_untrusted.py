# SPDX-License-Identifier: Apache-2.0
"""Keeps text that tests bring from acting on a terminal, a job summary, a workflow or an XML reader."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st

from redfirst.surfaces.github.untrusted import in_command, in_markdown, in_property, in_xml, plain

NASTY = st.one_of(
    st.text(),
    st.text(alphabet="\x1b[]31m;\x07::%0A\r\n\u202e\u2028|`<>*_&#,=- abc"),
    st.sampled_from(
        ["::error::x", "a\n::set-output name=x::y", "\x1b]8;;http://x\x07y", "</testcase>", "| a | b |"]
    ),
)


@given(NASTY)
def test_one_printable_line_of_any_text(text: str) -> None:
    for made in (plain(text), in_command(text), in_property(text), in_xml(text), in_markdown(text)):
        assert made.isprintable()
        made.encode("utf-8")


@given(NASTY)
def test_nothing_in_a_property_ends_it(text: str) -> None:
    made = in_property(text)
    assert "::" not in made
    assert not set(made) & {",", ":", "\n", "\r"}
    assert re.fullmatch(r"(?:[^%]|%25|%2C|%3A)*", made)


@given(NASTY)
def test_nothing_in_markdown_is_markup(text: str) -> None:
    bare = re.sub(r"&#\d+;", "", in_markdown(text))
    assert not set(bare) & set("\\`*_{}[]()#+!|~<>&@:$=")


@given(NASTY)
def test_xml_can_hold_it(text: str) -> None:
    whole = ElementTree.Element("a", {"b": in_xml(text)})
    ElementTree.fromstring(ElementTree.tostring(whole, encoding="unicode"))


def test_long_text_is_cut_and_says_so() -> None:
    assert plain("x" * 500, 10) == "x" * 9 + "…"
