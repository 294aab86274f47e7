# SPDX-License-Identifier: Apache-2.0
"""What a patch does to an existing test file in a language with braces: its lines stay, in their blocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from redfirst.patches.code_lines import SCRIPTS, Line, code_lines

_TOKEN = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\w+|[^\w\s]""")
_ADDED = "added"
_PUNCTUATION = frozenset(",:.[]{}()-#&")
_KEYWORDS = frozenset(
    {"return", "throw", "break", "continue", "if", "else", "while", "for", "await", "yield"}
)
_ASSERTION = re.compile(
    r".*(?:\b(?:assert\w*|expect|panic|EXPECT_\w+|ASSERT_\w+)\b\s*[!.(]|\.\s*should\b|\bt\s*\.\s*(?:Error|Fatal|Fail)\w*\s*\()"
)
_FIXED = re.compile(
    r"#!?\[|@|[)\]}]*\s*(?:async\s+)?(?:pub\b.*\b)?(?:fn|func|function|if|else|while|return|throw|switch|match|case)\b"
    r"|(?:\w+\s*\.\s*)?(?:test|it|describe|suite|context|specify|before|after|beforeEach|afterEach|beforeAll|afterAll)"
    r"\b(?!\s*\.\s*each)"
)
_IMPORT = re.compile(r"(?:import|use|from|export)\b")
_LEAVES = re.compile(
    r"(?:return|throw|break|continue)\b"
    r"|[)\]}]*\s*(?:if|else|for|while|switch|do|try)\b(?!.*(?:=>|\bfunction\b)).*\b(?:return|throw|break|continue)\b"
    r"|.*(?:\bprocess\s*(?:\.|::)\s*(?:exit|abort)|\bos\.Exit|\bpanic!|\bSystem\.exit"
    r"|\.\s*(?:skip|todo|Skip|Skipf|SkipNow)\s*\(|\bassume\w*\s*\()"
)
_SWITCH = re.compile(
    r"\.\s*(?:skip|todo|only|skipIf|failing|Skip\w*)\b|\b(?:xit|xtest|xdescribe|fit|fdescribe)\s*\("
    r"|\b(?:skip|todo|only)\s*[:,}]|@(?:Disabled|Ignore)\b"
)
_TEST_HEAD = re.compile(
    r"(?:\w+\s*\.\s*)?(?:test|it|specify)\b.*\(|func\s+Test|(?:public\s+)?void\s+\w+\s*\("
)
_ATTRIBUTE = re.compile(r"#!?\s*\[|@\w")
_SWITCHING_ATTRIBUTE = re.compile(
    r"#!?\s*\[\s*(?:cfg|cfg_attr|ignore|should_panic|test_case)|@(?:Disabled|Ignore|Enabled|DisabledIf)"
)
_REDEFINES = re.compile(
    r"macro_rules!\s*(?:assert|debug_assert|panic)|(?:const|let|var|function)\s+(?:assert|expect)\b(?!.*\brequire\s*\()"
)
_CONDITIONAL = re.compile(r"#\s*(?:if|ifdef|ifndef)\b|#\s*define\s+(?:EXPECT|ASSERT|TEST)")


def code_faults(path: str, old: bytes, new: bytes) -> list[str]:
    """Faults of the new text: lines that are gone, changed or moved, left early, or switched off."""
    before, after = (code_lines(path, _text(data)) for data in (old, new))
    matches = _matched(before, after)
    lost = [line for line, place in zip(before, matches, strict=True) if place is None]
    faults = [f"an existing line is gone, changed or moved: {line.text[:80]!r}" for line in lost[:3]]
    kept = {place for place in matches if place is not None}
    faults += _separated(before, after, matches)
    faults += _in_assertions(before, after, kept)
    added = [line for at, line in enumerate(after) if at not in kept]
    faults += _left_early(after, kept)
    faults += _switched(after, kept, before)
    faults += [
        f"it replaces what tests rely on: {line.text[:60]!r}" for line in added if _REDEFINES.match(line.code)
    ]
    if path.endswith((".c", ".cc", ".cpp", ".h", ".hpp")):
        faults += [
            f"it may leave code out: {line.text[:60]!r}" for line in added if _CONDITIONAL.match(line.code)
        ]
    if path.endswith(SCRIPTS):
        faults += _only(before, after)
    return list(dict.fromkeys(faults))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def _matched(before: Sequence[Line], after: Sequence[Line]) -> list[int | None]:
    """The place of each old line in the new text, in order; None where it has none."""
    matches: list[int | None] = []
    at = 0
    for line in before:
        found = next((place for place in range(at, len(after)) if _same_line(line, after[place])), None)
        matches.append(found)
        at = at if found is None else found + 1
    _attributes_last(before, after, matches)
    return matches


def _same_line(old: Line, new: Line) -> bool:
    if len(old.around) != len(new.around) or old.within != new.within:
        return False
    if bool(old.code.strip("\"'` ")) != bool(new.code.strip("\"'` ")):
        return False
    if old.text != new.text and (
        any(map(_ASSERTION.match, old.around)) or not line_grown(old.text, new.text, old.within)
    ):
        return False
    return all(map(_head_kept, old.around, new.around))


def _head_kept(old: str, new: str) -> bool:
    return old == new or line_grown(old, new)


def line_grown(old: str, new: str, within: str = "") -> bool:
    """Whether the line of a table or an import holds more items now, and is otherwise as it was."""
    if any(map(_FIXED.match, (old, new))) or any(map(_ASSERTION.match, (old, new))) or _SWITCH.search(new):
        return False
    wanted, tokens = _TOKEN.findall(old), _TOKEN.findall(new)
    at, brackets = 0, [within]
    for place, token in enumerate(tokens):
        kept = at < len(wanted) and token == wanted[at]
        at += kept
        if not (kept or _is_item(token)):
            return False
        if not (kept or _IMPORT.match(old) or _may_grow(brackets, token, place == len(tokens) - 1)):
            return False
        if token in "([{":
            brackets.append(token if kept else _ADDED)
        elif token in ")]}" and len(brackets) > 1:
            brackets.pop()
    return at == len(wanted) < len(tokens)


def _may_grow(brackets: list[str], token: str, last: bool) -> bool:
    """Lists may take items, object literals of the line itself too; a row may end in a comma."""
    if last and token == ",":
        return brackets[-1] != ""
    return brackets[-1] in ("[", _ADDED) or (brackets[-1] == "{" and len(brackets) > 1)


def _is_item(token: str) -> bool:
    if token in _KEYWORDS:
        return False
    return token[0] in "\"'`" or token.isidentifier() or token[0].isdigit() or token in _PUNCTUATION


def _attributes_last(before: Sequence[Line], after: Sequence[Line], matches: list[int | None]) -> None:
    """Of equal attributes, an old one belongs to the item that follows it."""
    following: int | None = None
    for at in range(len(before) - 1, -1, -1):
        place = matches[at]
        movable = place is not None and following is not None and place < following - 1
        if movable and _ATTRIBUTE.match(before[at].code) and following is not None:
            nearest = following - 1
            place = matches[at] = nearest if _same_line(before[at], after[nearest]) else place
        following = place


def _separated(before: Sequence[Line], after: Sequence[Line], matches: list[int | None]) -> Iterator[str]:
    """Old attributes between which and their item something else has been put."""
    for line, here, there in zip(before, matches, matches[1:], strict=False):
        if here is None or there is None or not _ATTRIBUTE.match(line.code):
            continue
        if any(not _ATTRIBUTE.match(other.code) for other in after[here + 1 : there]):
            yield f"an existing {line.text[:40]!r} is cut off from what it belongs to"


def _left_early(after: Sequence[Line], kept: set[int]) -> Iterator[str]:
    """Added lines that end a block of which an existing line is still to come."""
    for at, line in enumerate(after):
        if at in kept or not _LEAVES.match(line.code):
            continue
        rest = (after[later] for later in range(at + 1, len(after)) if later in kept)
        if line.around and any(
            later.around[: len(line.around)] == line.around and not later.code.startswith((")", "]", "}"))
            for later in rest
        ):
            yield f"an added line leaves before the rest of an existing block: {line.text[:60]!r}"


def _in_assertions(before: Sequence[Line], after: Sequence[Line], kept: set[int]) -> Iterator[str]:
    """Lines put between the brackets of an existing assertion change it."""
    known = {line.text for line in before if _ASSERTION.match(line.text)}
    for at, line in enumerate(after):
        if at not in kept and any(head in known for head in line.around):
            yield f"an existing assertion is changed by {line.text[:60]!r}"


def _switched(after: Sequence[Line], kept: set[int], before: Sequence[Line]) -> Iterator[str]:
    """Added attributes that sit on existing code, and added skips that are not inside an added test."""
    old_texts = {line.text for line in before}
    for at, line in enumerate(after):
        if at in kept:
            continue
        if _SWITCHING_ATTRIBUTE.match(line.code):
            following = next(
                (n for n in range(at + 1, len(after)) if not _is_attribute(after[n], n in kept)), None
            )
            if line.code.startswith("#!") or (following in kept and not _opens_new(after, at, kept)):
                yield f"it may switch existing tests off: {line.text[:60]!r}"
        elif _SWITCH.search(line.code) and not _in_new_test(line, old_texts):
            yield f"it may switch existing tests off: {line.text[:60]!r}"


def _is_attribute(line: Line, kept: bool) -> bool:
    return not kept and bool(_ATTRIBUTE.match(line.code))


def _opens_new(after: Sequence[Line], at: int, kept: set[int]) -> bool:
    """Whether the attribute is one of a run that ends in an added item on the same line."""
    return at not in kept and bool(
        re.search(r"\b(?:fn|mod|struct|enum|const|static|use|impl)\b", after[at].code)
    )


def _in_new_test(line: Line, old_texts: set[str]) -> bool:
    if _TEST_HEAD.match(line.code):
        return not re.search(r"\b(?:only|fit|fdescribe)\b", line.code)
    return any(_TEST_HEAD.match(head) and head not in old_texts for head in line.around)


def _only(before: Sequence[Line], after: Sequence[Line]) -> list[str]:
    """``only`` switches off all other tests, wherever it stands."""
    only = re.compile(r"\.\s*only\b|\bonly\s*:|\b(?:fit|fdescribe)\s*\(")
    counts = [
        Counter(match for line in lines for match in only.findall(line.code)) for lines in (before, after)
    ]
    return ["`only` switches existing tests off"] if counts[1] - counts[0] else []
