# SPDX-License-Identifier: Apache-2.0
"""Which lines of a Rust file are test text, and which tests it plainly defines.

A scan, not a compiler: comments and literals are blanked first, then modules, attributes and
functions are followed by their braces. Tests that macros make are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LITERALS = re.compile(
    r"""
      //[^\n]*
    | /\*
    | \bb?r(?P<hashes>\#*)"(?:.*?)"(?P=hashes)
    | \b[bc]?"(?:\\.|[^"\\])*"
    | "(?:\\.|[^"\\])*"
    | b?'(?:\\(?:u\{[0-9a-fA-F_]*\}|x..|.)|[^'\\\n])'
    """,
    re.VERBOSE | re.DOTALL,
)
_TOKENS = re.compile(
    r"""
      \#(?P<inner>!?)\s*\[
    | \bmod\s+(?P<mod>(?:r\#)?\w+)\s*(?P<opens>[{;])
    | \bfn\s+(?P<fn>(?:r\#)?\w+)
    | [{};]
    """,
    re.VERBOSE,
)
_TEST_ATTRIBUTE = re.compile(r"(?:\w+\s*::\s*)*test\s*(?:\(.*)?", re.DOTALL)
_TEST_ONLY = re.compile(r"cfg\s*\(\s*(?:test\b|all\s*\((?:[^()]*,)?\s*test\b).*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RustText:
    """``tests``: paths inside the file. ``spans``: 1-based lines of test text, both ends included.

    ``test_modules``: names of ``#[cfg(test)] mod name;`` whose text is another file.
    """

    tests: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    test_modules: tuple[str, ...] = ()
    balanced: bool = True

    def is_test_line(self, line: int) -> bool:
        """Whether ``line`` lies in a ``#[cfg(test)]`` module or in a test function."""
        return any(first <= line <= last for first, last in self.spans)


def blanked(text: str) -> str:
    """The text with comments and literals as spaces; line ends stay where they are."""
    pieces: list[str] = []
    position = 0
    while match := _LITERALS.search(text, position):
        end = _comment_end(text, match.start()) if match[0] == "/*" else match.end()
        pieces.append(text[position : match.start()])
        pieces.append(re.sub(r"[^\n]", " ", text[match.start() : end]))
        position = end
    return "".join((*pieces, text[position:]))


def _comment_end(text: str, start: int) -> int:
    """Where a block comment ends; they nest."""
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    return len(text)


@dataclass(slots=True)
class _Block:
    """An open brace: the module it belongs to, and where its test text began, if it is one."""

    module: str | None = None
    test_since: int | None = None


@dataclass(slots=True)
class _Scan:
    text: str
    stack: list[_Block] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    test_modules: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    since: int = 0
    pending: _Block | None = None
    balanced: bool = True

    def line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1

    def attribute(self, content: str, start: int) -> None:
        if not self.attributes:
            self.since = start
        self.attributes.append(content.strip())

    def marked(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(content) for content in self.attributes)

    def function(self, name: str) -> None:
        test = self.marked(_TEST_ATTRIBUTE)
        if test:
            modules = [block.module for block in self.stack if block.module]
            self.tests.append("::".join((*modules, name)))
        only = test or self.marked(_TEST_ONLY)
        self.pending = _Block(test_since=self.since if only else None)
        self.attributes.clear()

    def module(self, name: str, opens: str, start: int) -> None:
        only = self.marked(_TEST_ONLY)
        since = self.since if self.attributes else start
        self.attributes.clear()
        if opens == "{":
            self.stack.append(_Block(name, since if only else None))
        elif only:
            self.test_modules.append(name)

    def brace(self, character: str, position: int) -> None:
        if character == "{":
            self.stack.append(self.pending or self._item())
        elif character == "}":
            if not self.stack:
                self.balanced = False
                return
            block = self.stack.pop()
            if block.test_since is not None:
                self.spans.append((self.line(block.test_since), self.line(position)))
        self.pending = None
        self.attributes.clear()

    def _item(self) -> _Block:
        """A brace of anything else, an ``impl`` or a macro call, with the attributes before it."""
        return _Block(test_since=self.since if self.marked(_TEST_ONLY) else None)


def scan(text: str) -> RustText:
    """Read one file."""
    plain = blanked(text)
    state = _Scan(plain)
    for match in _significant(plain):
        if match["mod"]:
            state.module(match["mod"], match["opens"], match.start())
        elif match["fn"]:
            state.function(match["fn"])
        elif match[0][0] == "#":
            if not match["inner"]:
                state.attribute(plain[match.end() : _bracket_end(plain, match.end()) - 1], match.start())
        else:
            state.brace(match[0], match.start())
    balanced = state.balanced and not state.stack
    return RustText(tuple(state.tests), tuple(state.spans), tuple(state.test_modules), balanced)


def _significant(plain: str) -> Iterator[re.Match[str]]:
    position = 0
    while match := _TOKENS.search(plain, position):
        yield match
        position = _bracket_end(plain, match.end()) if match[0][0] == "#" else match.end()


def _bracket_end(plain: str, start: int) -> int:
    """Behind the bracket that closes the one before ``start``."""
    depth = 1
    for match in re.compile(r"[\[\]]").finditer(plain, start):
        depth += 1 if match[0] == "[" else -1
        if depth == 0:
            return match.end()
    return len(plain)


def module_of(path: str) -> tuple[str, ...]:
    """The module path that Cargo's conventions give a file inside its target."""
    parts = path.split("/")
    for root in ("src", "tests", "benches", "examples"):
        if root in parts[:-1]:
            below = parts[len(parts) - parts[::-1].index(root) :]
            break
    else:
        return ()
    names = [*below[:-1], below[-1].removesuffix(".rs")]
    if root == "src" and names[0] == "bin":
        return tuple(name for name in names[2:] if name not in ("main", "mod"))
    if names[-1] in ("lib", "main", "mod"):
        names = names[:-1] if names[-1] == "mod" or root == "src" else []
        return tuple(names)
    return () if root != "src" and len(names) == 1 else tuple(names)


def declaring_files(path: str) -> tuple[tuple[str, str], ...]:
    """Files that may hold ``mod name;`` for this one, each with that name."""
    folder, _, file = path.rpartition("/")
    name = file.removesuffix(".rs")
    if name == "mod":
        folder, _, name = folder.rpartition("/")
    above, _, last = folder.rpartition("/")
    files = [f"{folder}/{root}" for root in ("lib.rs", "main.rs", "mod.rs")]
    files.append(f"{above}/{last}.rs" if above else f"{last}.rs")
    return tuple((candidate, name) for candidate in files if candidate != path)
