# SPDX-License-Identifier: Apache-2.0
"""What is no complete unified diff is malformed, and what is one keeps every byte."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redfirst.core.errors import PatchMalformed
from redfirst.patches.parse import FileKind, parse_patch, unquote

NAMES = b"--- a/t.py\n+++ b/t.py\n"
HUNK = b"@@ -1,2 +1,3 @@\n one\n+new\n two\n"
GOOD = NAMES + HUNK
NEW = b"--- /dev/null\n+++ b/t.py\n@@ -0,0 +1 @@\n+one\n"
EMPTY_NEW = b"diff --git a/t.py b/t.py\nnew file mode 100644\nindex 0000000..e69de29\n"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"Here is the patch:\n" + GOOD, "no part"),
        (GOOD + b"That was all.\n", "no part"),
        (b"```diff\n" + GOOD + b"```\n", "no part"),
        (GOOD + b"```\n", "no part"),
        (b"\x89PNG\r\n\x1a\n\0\0\n", "no part"),
        (b"\xef\xbb\xbf" + GOOD, "no part"),
        (b"diff -u a/t.py b/t.py\n" + GOOD, "no part"),
        (b"Index: t.py\n=====\n" + GOOD, "no part"),
        (b"From: a\nSubject: b\n\n" + GOOD, "no part"),
        (GOOD + b"-- \n2.39.5\n", "counts"),
        (GOOD.removesuffix(b"\n"), "line end"),
        (NAMES, "a hunk is missing"),
        (b"--- a/t.py\n" + HUNK, "line +++"),
        (b"+++ b/t.py\n" + HUNK, "no part"),
        (HUNK, "no part"),
        (b"--- /dev/null\n+++ /dev/null\n" + HUNK, "both sides"),
        (b"--- t.py\n+++ t.py\n" + HUNK, "prefixes"),
        (b"diff --git t.py t.py\n--- t.py\n+++ t.py\n" + HUNK, "prefixes"),
        (b"--- old/t.py\n+++ new/t.py\n" + HUNK, "prefixes"),
        (b"--- a/\n+++ b/\n" + HUNK, "prefixes"),
        (NAMES + b"@@ -1,2 +1,3\n one\n+new\n two\n", "hunk header"),
        (NAMES + b"@@ -1,2 @@\n one\n", "hunk header"),
        (NAMES + b"@@@ -1 -1 +1 @@@\n one\n", "hunk header"),
        (NAMES + b"@@ ... @@\n one\n+new\n", "hunk header"),
        (NAMES + b"@@ -1,2 +1,4 @@\n one\n+new\n two\n", "cut"),
        (NAMES + b"@@ -1,2 +1,2 @@\n one\n+new\n two\n", "counts"),
        (NAMES + b"@@ -1,1 +1,2 @@\n one\n+new\n two\n", "counts"),
        (NAMES + b"@@ -1,1 +1,2 @@\n one\n+new\n+more\n", "counts"),
        (NAMES + b"@@ -1,3 +1,4 @@\n one\n+new\n two\n", "cut"),
        (NAMES + b"@@ -1,2 +1,3 @@\n one\nnew\n two\n", "corrupt hunk"),
        (NAMES + b"@@ -1,2 +1,3 @@\n one\n\tnew\n two\n", "corrupt hunk"),
        (NAMES + b"@@ -1,2 +1,2 @@\n one\n two\n", "changes nothing"),
        (NAMES + b"@@ -0,0 +0,0 @@\n", "changes nothing"),
        (GOOD + b"@@ -9,2 +10,3 @@\n nine\n+new", "line end"),
        (b"diff --git a/t.py b/t.py\n", "no change"),
        (b"diff --git a/t.py b/t.py\nindex 1234567..89abcde 100644\n", "no change"),
        (
            b"diff --git a/t.bin b/t.bin\nindex 1234567..89abcde 100644\nBinary files a/t.bin and b/t.bin differ\n",
            "without its data",
        ),
        (b"diff --git a/t.bin b/t.bin\nnew file mode 100644\nindex 000..1\nGIT binary patch\n", "missing"),
        (
            b"diff --git a/t.bin b/t.bin\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 3\nKc$`",
            "line end",
        ),
        (b'--- "a/t\\q.py"\n+++ "b/t\\q.py"\n' + HUNK, "path"),
        (b'--- "a/t.py\n+++ "b/t.py\n' + HUNK, "path"),
        (b"--- a/t\xff.py\n+++ b/t\xff.py\n" + HUNK, "path"),
        (b"--- a/t\0.py\n+++ b/t\0.py\n" + HUNK, "path"),
        (b"x" * 100_000, "line end"),
        (EMPTY_NEW.replace(b"100644", b"040000"), "a mode"),
        (EMPTY_NEW.replace(b"100644", b"rwxr-xr-x"), "a mode"),
        (EMPTY_NEW + GOOD.replace(b"t.py", b"v.py"), "other paths"),
        (b"\0" * 100 + b"\n", "no part"),
    ],
)
def test_malformed(data: bytes, why: str) -> None:
    with pytest.raises(PatchMalformed, match=re.escape(why)):
        parse_patch(data)


@pytest.mark.parametrize(
    ("data", "path", "kind"),
    [
        (GOOD, "t.py", FileKind.MODIFY),
        (NEW, "t.py", FileKind.ADD),
        (b"\n" + GOOD + b"\n\n", "t.py", FileKind.MODIFY),
        (b"diff --git a/t.py b/t.py\nindex 1..2 100644\n" + GOOD, "t.py", FileKind.MODIFY),
        (EMPTY_NEW, "t.py", FileKind.ADD),
        (b"--- a/t.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "t.py", FileKind.DELETE),
        (
            b"--- a/t.py\t2026-01-01 00:00:00\n+++ b/t.py\t2026-01-01 00:00:01\n" + HUNK,
            "t.py",
            FileKind.MODIFY,
        ),
        (b"--- a/t t.py\n+++ b/t t.py\n" + HUNK, "t t.py", FileKind.MODIFY),
        (b'--- "a/t\\303\\274.py"\n+++ "b/t\\303\\274.py"\n' + HUNK, "tü.py", FileKind.MODIFY),
        (b'--- "a/\\303\\274 t"\t\n+++ "b/\\303\\274 t"\t\n' + HUNK, "ü t", FileKind.MODIFY),
        ("--- a/tü.py\n+++ b/tü.py\n".encode() + HUNK, "tü.py", FileKind.MODIFY),
        (b"--- /etc/passwd\n+++ /etc/passwd\n" + HUNK, "/etc/passwd", FileKind.MODIFY),
        (b"--- a/../up.py\n+++ b/../up.py\n" + HUNK, "../up.py", FileKind.MODIFY),
        (NAMES + b"@@ -1,2 +1,3 @@ def f():\n one\n+new\n two\n", "t.py", FileKind.MODIFY),
        (NAMES + b"@@ -1,3 +1,4 @@\n one\n\n+new\n two\n", "t.py", FileKind.MODIFY),
        (NAMES + b"@@ -1 +1,2 @@\n-one\n\\ No newline at end of file\n+one\n+two\n", "t.py", FileKind.MODIFY),
        (
            b"diff --git a/t t.py b/t t.py\nnew file mode 100644\nindex 0000000..e69de29\n",
            "t t.py",
            FileKind.ADD,
        ),
    ],
)
def test_well_formed(data: bytes, path: str, kind: FileKind) -> None:
    (file,) = parse_patch(data).files
    assert (file.paths, file.kind) == ((path,), kind)


def test_rename_names_both_paths() -> None:
    data = b"diff --git a/x.py b/y.py\nsimilarity index 100%\nrename from x.py\nrename to y.py\n"
    (file,) = parse_patch(data).files
    assert (file.kind, file.paths) == (FileKind.RENAME, ("x.py", "y.py"))


@pytest.mark.parametrize(
    ("head", "modes"),
    [
        (b"old mode 100644\nnew mode 100755\n", ("100644", "100755")),
        (b"new file mode 100755\nindex 0000000..e69de29\n", (None, "100755")),
        (b"new file mode 100664\nindex 0000000..e69de29\n", (None, "100644")),
        (b"new file mode 104711\r\nindex 0000000..e69de29\n", (None, "100755")),
        (b"new file mode 120000\nindex 0000000..e69de29\n", (None, "120000")),
        (b"new file mode 160000\nindex 0000000..e69de29\n", (None, "160000")),
        (b"deleted file mode 100644\nindex e69de29..0000000\n", ("100644", None)),
    ],
)
def test_modes(head: bytes, modes: tuple[str | None, str | None]) -> None:
    (file,) = parse_patch(b"diff --git a/t b/t\n" + head).files
    assert (file.old_mode, file.new_mode) == modes


def test_a_line_that_looks_like_a_header_belongs_to_its_hunk() -> None:
    data = NAMES + b"@@ -1,2 +1,2 @@\n--- a/x\n+++ b/x\n one\n"
    (file,) = parse_patch(data).files
    assert file.hunks[0].lines == (b"--- a/x\n", b"+++ b/x\n", b" one\n")


def test_several_files_with_and_without_git_headers() -> None:
    empty = EMPTY_NEW.replace(b"t.py", b"u.py")
    data = GOOD + GOOD.replace(b"t.py", b"v.py") + HUNK.replace(b"1,", b"9,") + empty
    patch = parse_patch(data)
    assert patch.paths == ("t.py", "v.py", "u.py")
    assert [len(file.hunks) for file in patch.files] == [1, 2, 0]


@given(
    st.lists(
        st.binary(max_size=12).map(lambda text: text.replace(b"\n", b"\r\x0c\x0b\x1c\xff\x85")),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
)
def test_added_lines_keep_every_byte(lines: list[bytes], ended: bool) -> None:
    data = b"--- /dev/null\n+++ b/t.txt\n@@ -0,0 +1,%d @@\n" % len(lines)
    data += b"".join(b"+" + line + b"\n" for line in lines)
    data += b"" if ended else b"\\ No newline at end of file\n"
    (file,) = parse_patch(data).files
    expected = b"\n".join(lines) + (b"\n" if ended else b"")
    assert b"".join(file.hunks[0].side(b"+")) == expected


@given(st.binary(max_size=200))
def test_any_bytes_are_a_patch_or_malformed(data: bytes) -> None:
    with contextlib.suppress(PatchMalformed):
        assert parse_patch(data).files


@given(st.integers(0, len(GOOD)), st.integers(0, 255), st.booleans())
def test_one_wrong_byte_is_a_patch_or_malformed(at: int, byte: int, insert: bool) -> None:
    data = GOOD[:at] + bytes([byte]) + GOOD[at + (0 if insert else 1) :]
    with contextlib.suppress(PatchMalformed):
        assert parse_patch(data).files


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (b"plain", "plain"),
        (b'"a\\tb"', "a\tb"),
        (b'"a\\"b\\\\c"', 'a"b\\c'),
        (b'"\\303\\251"', "é"),
        ("é".encode(), "é"),
    ],
)
def test_unquote(text: bytes, path: str) -> None:
    assert unquote(text) == path
