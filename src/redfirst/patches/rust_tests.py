# SPDX-License-Identifier: Apache-2.0
"""Which lines of a Rust source file are tests: the modules under ``#[cfg(test)]``."""

from __future__ import annotations

import re
from collections.abc import Callable

_CFG = re.compile(r"#\s*\[\s*cfg\s*\(\s*(?:test|all\s*\([^)]*\btest\b[^)]*\))\s*\)\s*\]")
_MODULE = re.compile(r"\s*(?:#\s*\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*(?:\{|;)")
#: Comments of Rust nest; four levels are read.
COMMENT = r"/\*(?:(?!/\*|\*/).)*\*/"
for _ in range(3):
    COMMENT = rf"/\*(?:(?!/\*|\*/).|{COMMENT})*\*/"
_TOKEN = re.compile(
    rf'//[^\n]*|{COMMENT}|b?r(#*)".*?(?:"\1|\Z)|b?"(?:[^"\\]|\\.)*(?:"|\\?\Z)|b?\'(?:[^\'\\\n]|\\.[^\'\n]*)\'',
    re.DOTALL,
)
_TEST = re.compile(r"#\s*\[\s*(?:\w+\s*::\s*)*test\b[^\]]*\]")
_ATTRIBUTES = re.compile(r"((?:#\s*\[[^\]]*\]\s*)*)(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s+(\w+)")


def masked(text: str) -> str:
    """The text with comments and literals blanked, line ends and length kept."""
    return _TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def split_tests(text: str) -> tuple[str, str]:
    """(everything outside the test modules, the test modules), blank lines and margins dropped."""
    text = _TOKEN.sub(_on_one_line, text)
    blank = masked(text)
    outside, inside, at = [], [], 0
    for start, end in _modules(blank):
        outside.append(text[at:start])
        inside.append(text[start:end])
        at = end
    outside.append(text[at:])
    return _squeezed(outside), _squeezed(inside)


def _on_one_line(match: re.Match[str]) -> str:
    """A literal over several lines is one piece: its margins and blank lines are content."""
    return match[0] if match[0].startswith("/") else match[0].replace("\n", "\0")


def _modules(blank: str) -> list[tuple[int, int]]:
    found, at = [], 0
    while (attribute := _CFG.search(blank, at)) is not None:
        module = _MODULE.match(blank, attribute.end())
        at = attribute.end()
        if module is None:
            continue
        end = module.end() if module[0].endswith(";") else _closing(blank, module.end())
        found.append((attribute.start(), end))
        at = end
    return found


def _closing(blank: str, at: int) -> int:
    """Just behind the brace that closes the one before ``at``."""
    depth = 1
    while at < len(blank) and depth:
        depth += {"{": 1, "}": -1}.get(blank[at], 0)
        at += 1
    return at


def _squeezed(pieces: list[str]) -> str:
    return "\n".join(line.strip() for line in "\n".join(pieces).splitlines() if line.strip())


def declared_for_tests(path: str, read: Callable[[str], bytes | None]) -> bool:
    """Whether the module that holds the file ``path`` declares it as ``#[cfg(test)] mod name;``."""
    parts = path.removesuffix(".rs").split("/")
    if parts[-1] == "mod":
        parts = parts[:-1]
    if len(parts) < 2:
        return False
    folder, name = "/".join(parts[:-1]), parts[-1]
    declared = re.compile(
        _CFG.pattern + rf"\s*(?:#\s*\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+{re.escape(name)}\s*;"
    )
    for parent in (f"{folder}.rs", f"{folder}/mod.rs", f"{folder}/lib.rs", f"{folder}/main.rs"):
        text = read(parent)
        if text is not None and declared.search(masked(_text(text))):
            return True
    return False


def changed_outside_tests(old: bytes | None, new: bytes | None) -> bool:
    """Whether anything but test modules differs; a missing file counts as empty."""
    return split_tests(_text(old))[0] != split_tests(_text(new))[0]


def changed_test_lines(old: bytes | None, new: bytes | None) -> bool:
    """Whether any test module differs."""
    return split_tests(_text(old))[1] != split_tests(_text(new))[1]


def test_attributes(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Name of each ``#[test]`` function with its attributes, sorted and without spaces."""
    found = []
    for match in _ATTRIBUTES.finditer(masked(text)):
        words = tuple(sorted(re.sub(r"\s+", "", word) for word in re.findall(r"#\s*\[[^\]]*\]", match[1])))
        if any(_TEST.match(word) for word in words):
            found.append((match[2], words))
    return found


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def with_tests_of(source: str, tests: str) -> str | None:
    """``source`` with its test modules replaced by those of ``tests``; None where their number does not allow it.

    Test modules that ``source`` does not have yet are put at its end.
    """
    old, new = _modules(masked(source)), _modules(masked(tests))
    if len(old) > len(new):
        return None
    pieces, at = [], 0
    for (start, end), (first, last) in zip(old, new, strict=False):
        pieces += [source[at:start], tests[first:last]]
        at = end
    pieces.append(source[at:])
    added = [tests[first:last] for first, last in new[len(old) :]]
    return "".join(pieces) + "".join(f"\n{text}\n" for text in added)
