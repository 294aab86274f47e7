# SPDX-License-Identifier: Apache-2.0
"""A report as a list of its parts: headings, paragraphs and blocks of code or output, in order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from redfirst.core.errors import UsageError

MAX_BYTES = 1 << 20
MAX_LINES = 10_000  # what stands further down is not read
_MAX_PARAGRAPH = 8_000
_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*([^`]*)$")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BOLD_HEADING = re.compile(r"^\s*(?:\*\*|__)([^*_]{2,60})(?:\*\*|__)\s*:?\s*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{3,})\s*$")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_PROMPT = re.compile(r"^\s*(?:>>> ?|In \[\d+\]:)")
_SENTENCE_END = re.compile(r"(?<=[.!?;])(?:\s+|$)|\n(?=\s*[-*+]\s)")
_CODE_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_ABBREVIATIONS = ("e.g.", "i.e.", "etc.", "vs.", "cf.", "resp.", "approx.")


class Section(StrEnum):
    """What the heading over a part announces."""

    OTHER = ""
    EXPECTED = "expected"
    ACTUAL = "actual"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced, indented or prompted stretch of lines; ``line`` is that of its first line, 1-based.

    ``info``: all that stands behind the opening fence.
    """

    text: str
    language: str
    line: int
    section: Section = Section.OTHER
    info: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of prose, code spans kept in their backticks."""

    text: str
    line: int
    section: Section = Section.OTHER

    @property
    def spans(self) -> tuple[str, ...]:
        """What stands in backticks."""
        return tuple(match.group(2).strip() for match in _CODE_SPAN.finditer(self.text))


Part = Block | Sentence


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was read. ``title`` is its first line or heading, '' only if it has no words."""

    title: str
    parts: tuple[Part, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(part for part in self.parts if isinstance(part, Block))

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        return tuple(part for part in self.parts if isinstance(part, Sentence))


def read_report(data: bytes) -> Report:
    """Decode and split a report. Raises UsageError: empty, over 1 MiB, binary or not UTF-8."""
    text = _decode(data)
    lines = _without_hidden(text).expandtabs(4).splitlines()[:MAX_LINES]
    parts = tuple(_Splitter(lines).split())
    title = next((_plain(line) for line in lines if _plain(line)), "")
    return Report(title, parts)


def _decode(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise UsageError(f"the report is larger than 1 MiB ({len(data)} bytes)", "shorten it to what matters")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError("the report is not UTF-8 but UTF-16", "save it as UTF-8")
    if b"\0" in data:
        raise UsageError("the report is a binary file", "name a text file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"the report is not UTF-8 (byte {error.start})", "save it as UTF-8") from None
    if not text.strip():
        raise UsageError("the report is empty", "say what happens and what should happen")
    return text


def _without_hidden(text: str) -> str:
    """Drop HTML comments; their line ends are kept so that line numbers stay right."""
    pieces: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        pieces += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + 3
    return "".join([*pieces, text[at:]])


def _plain(line: str) -> str:
    heading = _HEADING.match(line)
    text = heading.group(1) if heading else line.strip()
    return "" if _FENCE.match(line) or _UNDERLINE.match(line) else text


def section_of(heading: str) -> Section:
    """What a heading of an issue template announces."""
    words = heading.lower()
    if re.search(r"\b(?:expect|desired|should (?:be|happen))", words) and "unexpected" not in words:
        return Section.OTHER if re.search(r"\b(?:actual|vs|and)\b", words) else Section.EXPECTED
    if re.search(r"\b(?:actual|current|observed|unexpected|what happen(?:s|ed)|instead)\b", words):
        return Section.ACTUAL
    return Section.OTHER


class _Splitter:
    """Walks over the lines once; each method takes what begins at ``at`` and moves on."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.section = Section.OTHER
        self.parts: list[Part] = []

    def split(self) -> list[Part]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                self.at += 1
            elif _FENCE.match(line):
                self._fenced()
            elif self._is_heading():
                self._heading()
            elif _PROMPT.match(line):
                self._prompted()
            elif line.startswith("    ") and self._after_break():
                self._indented()
            else:
                self._paragraph()
        return self.parts

    def _is_heading(self) -> bool:
        line = self.lines[self.at]
        under = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        return bool(_HEADING.match(line) or _BOLD_HEADING.match(line) or _UNDERLINE.match(under))

    def _heading(self) -> None:
        line = self.lines[self.at]
        match = _HEADING.match(line) or _BOLD_HEADING.match(line)
        text = match.group(1) if match else line.strip()
        self.section = section_of(text)
        self.parts.append(Sentence(text, self.at + 1, self.section))
        self.at += 1 if match else 2

    def _fenced(self) -> None:
        match = _FENCE.match(self.lines[self.at])
        indent, mark, info = match.groups() if match else ("", "```", "")
        first = self.at + 1
        end = first
        closing = re.compile(rf"^\s{{0,6}}{re.escape(mark[0])}{{{len(mark)},}}\s*$")
        while end < len(self.lines) and not closing.match(self.lines[end]):
            end += 1
        body = [line.removeprefix(indent) for line in self.lines[first:end]]
        words = re.split(r"[\s,{}]+", info.strip())
        self._block(body, words[0].lower() if words else "", first, info.strip())
        self.at = end + 1

    def _indented(self) -> None:
        first = self.at
        end = first
        while end < len(self.lines) and (self.lines[end].startswith("    ") or not self.lines[end].strip()):
            end += 1
        self._block(self.lines[first:end], "", first)
        self.at = end

    def _prompted(self) -> None:
        """A session that nobody fenced: up to the next empty line that no prompt follows."""
        first = self.at
        end = first
        while end < len(self.lines):
            line = self.lines[end]
            following = next((text for text in self.lines[end:] if text.strip()), "")
            if _FENCE.match(line) or (not line.strip() and not _PROMPT.match(following)):
                break
            end += 1
        self._block(self.lines[first:end], "pycon", first)
        self.at = end

    def _block(self, lines: list[str], language: str, first: int, info: str = "") -> None:
        filled = [line for line in lines if line.strip()]
        if not filled:
            return
        margin = min(len(line) - len(line.lstrip()) for line in filled)
        text = "\n".join(line[margin:].rstrip() for line in lines).strip("\n")
        self.parts.append(Block(text, language, first + 1, self.section, info))

    def _after_break(self) -> bool:
        """Whether an indented line begins a block: after an empty line, outside a list item."""
        before = self.lines[self.at - 1] if self.at else ""
        last = next((line for line in reversed(self.lines[: self.at]) if line.strip()), "")
        return not before.strip() and not (_LIST_ITEM.match(last) and not last.rstrip().endswith(":"))

    def _paragraph(self) -> None:
        first = self.at
        end = first + 1
        while end < len(self.lines) and self._goes_on(end):
            end += 1
        self.at = end
        line = first + 1
        for text in split_sentences("\n".join(part.strip() for part in self.lines[first:end])):
            self.parts.append(Sentence(" ".join(text.split()), line, self.section))
            line += text.count("\n")

    def _goes_on(self, at: int) -> bool:
        line = self.lines[at]
        return bool(line.strip()) and not (_FENCE.match(line) or _HEADING.match(line) or _PROMPT.match(line))


def split_sentences(text: str) -> list[str]:
    """Split prose at sentence ends outside code spans, numbers and abbreviations."""
    text = text[:_MAX_PARAGRAPH]
    hidden = [(match.start(), match.end()) for match in _CODE_SPAN.finditer(text)]
    cuts = [0]
    for match in _SENTENCE_END.finditer(text):
        inside = any(start < match.start() < end for start, end in hidden)
        before = text[: match.start()].lower()
        if not inside and not before.endswith(_ABBREVIATIONS) and match.end() < len(text):
            cuts.append(match.end())
    pieces = (text[a:b] for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True))
    return [piece for piece in pieces if piece.strip()]
