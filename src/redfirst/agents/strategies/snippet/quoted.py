# SPDX-License-Identifier: Apache-2.0
"""Finds the files that a report quotes: blocks that it introduces by a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.report import Block, Report, Sentence

_NAME = r"(?:[\w-][\w.-]*/)*[\w.-]*[\w-]\.[A-Za-z]\w{0,9}|(?:[\w-]+/)*(?:Makefile|Dockerfile|\.[a-z]\w+)"
_ONE = re.compile(rf"(?<![\w./:@-])(?:\./)?({_NAME})(?![\w/(=-]|\.\w)")
_WHOLE = re.compile(
    rf"\W*(?:(?:the |my |a |this |and |file|contents? of|in|with|here is|here's|given|where|is|named|called)\s+)*"
    rf"[`*_\"']*(?:\./)?({_NAME})[`*_\"']*(?:\s*\([^()]*\))?\s*(?:is|contains|has|looks like this)?\s*:?\W*",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(
    r"\b(?:save|saved|put|store|write|create|place|copy|paste)\b[^.;:]*\b(?:as|to|in|into|a|the|named|called)\b|"
    r"\b(?:contents? of|file (?:named|called)|(?:named|called)|with (?:this|the following|a|the)|"
    r"(?:given|have|using|use) (?:this|the following|a|an)|the following|this file)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(rf"^(#|//|;|--|%)\s*(?:file(?:name)?:?\s+)?(?:\./)?({_NAME})\s*:?\s*$", re.IGNORECASE)
_INFO = re.compile(rf"(?:title|file(?:name)?|name)\s*=\s*[\"']?({_NAME})|^[\w+-]*[:\s]\s*({_NAME})\s*$")
_CODE_LIKE = re.compile(r"^(?:\w+\.)+(?:com|org|net|io)$|^(?:e\.g|i\.e|etc)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quoted:
    """A file. ``part``: the place of its block among the report's parts, -1 if a session makes it."""

    name: str
    text: str
    line: int
    part: int = -1


def quoted_files(report: Report) -> Iterator[Quoted]:
    """Every block that a name is given to, in the report's order."""
    before: Sentence | None = None
    for number, part in enumerate(report.parts):
        if isinstance(part, Sentence):
            before = part
            continue
        name = _by_info(part) or _by_comment(part) or (named_in(before.text) if before else None)
        if name is not None and _is_file(name, part):
            yield Quoted(name, _content(part, name), part.line, number)
        before = None


def named_in(sentence: str) -> str | None:
    """The one file that a sentence leads up to, or None."""
    text = sentence.strip()
    whole = _WHOLE.fullmatch(text)
    if whole:
        return _proper(whole.group(1))
    names = list(dict.fromkeys(_ONE.findall(text)))
    leads = text.rstrip("*_ ").endswith(":") or bool(_INTRODUCES.search(text))
    introduced = bool(_INTRODUCES.search(text)) or re.search(
        rf"(?:{re.escape(names[0])})[`*_\"']*\s*(?:is|contains|looks like this|reads)?\s*:$"
        if names
        else r"$^",
        text,
    )
    return _proper(names[0]) if len(names) == 1 and leads and introduced else None


def _proper(name: str) -> str | None:
    """A relative path that stays below its folder, no name of a host or of a version."""
    bad = ".." in name.split("/") or name.startswith("/") or _CODE_LIKE.match(name)
    return None if bad or re.fullmatch(r"[\d.]+\w?", name) else name


def _by_info(block: Block) -> str | None:
    match = _INFO.search(block.info)
    return _proper(match.group(1) or match.group(2)) if match else None


def _by_comment(block: Block) -> str | None:
    match = _FIRST.match(block.text.splitlines()[0])
    return _proper(match.group(2)) if match else None


def _is_file(name: str, block: Block) -> bool:
    """Whether a block can be the text of a file: no session, and Python where the name says so."""
    session = re.search(r"^(?:>>> |In \[\d+\]:|\$ )", block.text, re.MULTILINE)
    python = block.language in ("python", "py", "python3")
    return not session and (not python or name.endswith((".py", ".pyi")))


def _content(block: Block, name: str) -> str:
    """The file's text; a first line that only names it goes where the format may have no such comment."""
    first, _, rest = block.text.partition("\n")
    match = _FIRST.match(first)
    keep = (
        match is None
        or match.group(1) == "#"
        or not name.endswith((".json", ".xml", ".html", ".csv", ".txt"))
    )
    return (block.text if keep else rest.lstrip("\n")) + "\n"
