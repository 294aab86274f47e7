# SPDX-License-Identifier: Apache-2.0
"""A diff lies where it says, or at the one place where its text occurs, or nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.patches.checkout_driver import base_of, diff, snapshot, write

from redfirst.core.errors import PatchConflict, PatchMalformed
from redfirst.patches.apply import apply_patch
from redfirst.patches.base import PreparedBase
from redfirst.patches.export import export_patch

TWICE = "".join(f"{line}\n" for line in ("a", "b", "c", "d", "a", "b", "c", "e"))
FILES: dict[str, bytes | str | None] = {
    "lines.txt": "".join(f"line {number}\n" for number in range(1, 41)),
    "twice.txt": TWICE,
    "crlf.txt": b"one\r\ntwo\r\nthree\r\n",
    "open.txt": "one\ntwo",
    "latin.txt": b"caf\xe9\nna\xefve\n\x0c\nend\n",
    "cr.txt": b"a\rb\x0bc\x1c\x85d\nnext\n",
    "space.txt": "a\n  indented\nb\n",
    "data.bin": bytes(range(256)),
    "run.sh": "echo\n",
    "dé/é t.txt": "x\n",
    "dé/e": "x\n",
    "one.txt": "one\n",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> PreparedBase:
    return base_of(tmp_path_factory.mktemp("apply"), FILES)


@pytest.fixture(scope="module", autouse=True)
def store_untouched(base: PreparedBase) -> Iterator[None]:
    before = _stored(base)
    yield
    assert _stored(base) == before


def _stored(base: PreparedBase) -> dict[str, tuple[object, ...]]:
    """All of the store's entry; Git sets the times of objects that it would have written again."""
    found = snapshot(base.tree_dir.parent)
    return {name: (*facts[:2], facts[3]) if "/objects/" in name else facts for name, facts in found.items()}


def test_exact(base: PreparedBase) -> None:
    applied = apply_patch(base, diff("lines.txt", " line 1", "+new", " line 2", at=(1, 2, 1, 3)))
    (change,) = applied.changes
    assert (change.path, change.status, change.old_mode, change.new_mode) == (
        "lines.txt",
        "M",
        "100644",
        "100644",
    )
    assert change.new is not None
    assert change.new.startswith(b"line 1\nnew\nline 2\n")
    assert applied.tree != base.tree
    assert applied.step == applied.changes


@pytest.mark.parametrize(
    ("data", "new"),
    [
        (diff("crlf.txt", " one\r", "-two\r", "+TWO\r", " three\r", at=(1, 3, 1, 3)), b"one\r\nTWO\r\nthree\r\n"),
        (
            diff("open.txt", " one", "-two", "\\ No newline at end of file", "+three", at=(1, 2, 1, 2)),
            b"one\nthree\n",
        ),
        (
            diff("one.txt", "-one", "+two", "\\ No newline at end of file", at=(1, 1, 1, 1)),
            b"two",
        ),
        (b"--- a/latin.txt\n+++ b/latin.txt\n@@ -1,3 +1,3 @@\n-caf\xe9\n+th\xe9\n na\xefve\n \x0c\n", None),
        (b"--- a/cr.txt\n+++ b/cr.txt\n@@ -1,2 +1,3 @@\n a\rb\x0bc\x1c\x85d\n+new\n next\n", None),
        ("--- a/dé/é t.txt\n+++ b/dé/é t.txt\n@@ -1 +1,2 @@\n x\n+y\n".encode(), b"x\ny\n"),
        (b'--- "a/d\\303\\251/e"\n+++ "b/d\\303\\251/e"\n@@ -1 +1,2 @@\n x\n+y\n', b"x\ny\n"),
        (diff("space.txt", " a", "-  indented", "+    indented", " b", at=(1, 3, 1, 3)), b"a\n    indented\nb\n"),
        (diff("one.txt", " one", "+two", at=(1, 1, 1, 2)), b"one\ntwo\n"),
        (diff("one.txt", "+zero", " one", at=(1, 1, 1, 2)), b"zero\none\n"),
    ],
)  # fmt: skip
def test_bytes_are_those_of_the_diff(base: PreparedBase, data: bytes, new: bytes | None) -> None:
    (change,) = apply_patch(base, data).changes
    assert new is None or change.new == new


@pytest.mark.parametrize(
    "data",
    [
        diff("lines.txt", " line 11", "+new", " line 12", at=(3, 2, 3, 3)),
        diff("lines.txt", " line 1", "+new", " line 2", at=(30, 2, 30, 3)),
        diff("twice.txt", " a", "+new", " b", at=(1, 2, 1, 3)),
        diff("twice.txt", " a", "+new", " b", at=(5, 2, 5, 3)),
        diff("twice.txt", " c", "+new", " d", at=(7, 2, 7, 3)),
    ],
)
def test_another_line_where_the_context_is_unique_or_as_told(base: PreparedBase, data: bytes) -> None:
    assert apply_patch(base, data).changes[0].status == "M"


@pytest.mark.parametrize(
    "data",
    [
        diff("twice.txt", " a", "+new", " b", at=(2, 2, 2, 3)),
        diff("twice.txt", " a", "+new", " b", at=(4, 2, 4, 3)),
        diff("twice.txt", " b", "-c", "+C", at=(3, 2, 3, 2)),
        diff("lines.txt", " line 1", "+new", " line 3", at=(1, 2, 1, 3)),
        diff("lines.txt", " line 1 ", "+new", " line 2", at=(1, 2, 1, 3)),
        diff("lines.txt", " LINE 1", "+new", " line 2", at=(1, 2, 1, 3)),
        diff("lines.txt", " line 1\r", "+new\r", " line 2\r", at=(1, 2, 1, 3)),
        diff("crlf.txt", " one", "-two", "+TWO", " three", at=(1, 3, 1, 3)),
        diff("space.txt", " a", "- indented", "+indented", " b", at=(1, 3, 1, 3)),
        diff("gone.txt", " a", "+b", at=(1, 1, 1, 2)),
        diff("open.txt", " one", "-two", "+three", at=(1, 2, 1, 2)),
        b"--- /dev/null\n+++ b/lines.txt\n@@ -0,0 +1 @@\n+new\n",
        b"--- a/one.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n",
        b"--- a/lines.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n",
        b"--- /dev/null\n+++ b/one.txt/below.txt\n@@ -0,0 +1 @@\n+new\n",
        diff("lines.txt", " line 1", "+new", " line 2", at=(1, 2, 1, 3))
        + diff("one.txt", " other", "+x", at=(1, 1, 1, 2)),
        diff("lines.txt", " line 9", "+new", " line 10", at=(9, 2, 9, 3))
        + b"@@ -2,2 +2,3 @@\n line 2\n+new\n line 3\n",
        b"diff --git a/gone.txt b/there.txt\nsimilarity index 100%\nrename from gone.txt\nrename to there.txt\n",
        b"diff --git a/one.txt b/lines.txt\nsimilarity index 100%\nrename from one.txt\nrename to lines.txt\n",
    ],
)
def test_conflicts(base: PreparedBase, data: bytes) -> None:
    with pytest.raises(PatchConflict):
        apply_patch(base, data)


def test_no_change_is_a_conflict(base: PreparedBase) -> None:
    with pytest.raises(PatchConflict, match="changes nothing"):
        apply_patch(base, diff("one.txt", "-one", "+one", at=(1, 1, 1, 1)))


def test_several_hunks_and_files(base: PreparedBase) -> None:
    data = diff("lines.txt", " line 1", "+new", " line 2", at=(1, 2, 1, 3))
    data += b"@@ -39,2 +40,3 @@\n line 39\n+last\n line 40\n" + diff(
        "one.txt", " one", "+two", at=(1, 1, 1, 2)
    )
    applied = apply_patch(base, data)
    assert [change.path for change in applied.changes] == ["lines.txt", "one.txt"]
    assert applied.changes[0].new is not None
    assert applied.changes[0].new.endswith(b"line 39\nlast\nline 40\n")


@pytest.mark.parametrize(
    ("data", "status", "modes"),
    [
        (b"--- /dev/null\n+++ b/sub/new.txt\n@@ -0,0 +1 @@\n+new\n", "A", (None, "100644")),
        (b"diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n", "A", (None, "100644")),
        (b"diff --git a/e b/e\nnew file mode 100755\nindex 0000000..e69de29\n", "A", (None, "100755")),
        (b"--- a/one.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "D", ("100644", None)),
        (b"diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n", "M", ("100644", "100755")),
        (
            b"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+one.txt\n"
            b"\\ No newline at end of file\n",
            "A",
            (None, "120000"),
        ),
    ],
)  # fmt: skip
def test_kinds_of_change(
    base: PreparedBase, data: bytes, status: str, modes: tuple[str | None, str | None]
) -> None:
    (change,) = apply_patch(base, data).changes
    assert (change.status, (change.old_mode, change.new_mode)) == (status, modes)
    assert (change.old is None, change.new is None) == (status == "A", status == "D")


def test_rename_is_a_removal_and_an_addition(base: PreparedBase) -> None:
    data = b"diff --git a/one.txt b/uno.txt\nsimilarity index 100%\nrename from one.txt\nrename to uno.txt\n"
    old, new = apply_patch(base, data).changes
    assert (old.path, old.status, new.path, new.status, new.renamed_from) == (
        "one.txt",
        "D",
        "uno.txt",
        "A",
        "one.txt",
    )


@pytest.mark.parametrize(
    "data",
    [
        b"--- a/n.txt\t1970-01-01 00:00:00 +0000\n+++ b/n.txt\t2026-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+new\n",
        b"--- a/n.txt\n+++ b/n.txt\n@@ -0,0 +1 @@\n+new\n",
        b"--- /dev/null\r\n+++ b/n.txt\r\n@@ -0,0 +1 @@\r\n+new\n",
    ],
)
def test_a_new_file_in_every_notation(base: PreparedBase, data: bytes) -> None:
    (change,) = apply_patch(base, data).changes
    assert (change.path, change.status, change.new) == ("n.txt", "A", b"new\n")


def test_one_file_in_several_pieces(base: PreparedBase) -> None:
    added = b"--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+one\n"
    more = diff("n.txt", " one", "+two", at=(1, 1, 1, 2))
    assert apply_patch(base, added + more).changes[0].new == b"one\ntwo\n"
    gone = b"--- a/one.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
    again = b"--- /dev/null\n+++ b/one.txt\n@@ -0,0 +1 @@\n+uno\n"
    assert apply_patch(base, gone + again).changes[0].new == b"uno\n"
    for twice in (added + added, gone + gone, added + again.replace(b"one.txt", b"n.txt")):
        with pytest.raises(PatchConflict):
            apply_patch(base, twice)


def test_onto_another_applied_tree(base: PreparedBase) -> None:
    first = apply_patch(base, b"--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n")
    second = apply_patch(base, diff("new.txt", " new", "+more", at=(1, 1, 1, 2)), onto=first)
    assert [change.status for change in second.step] == ["M"]
    assert [(change.status, change.new) for change in second.changes] == [("A", b"new\nmore\n")]
    with pytest.raises(PatchConflict):
        apply_patch(base, diff("new.txt", " new", "+more", at=(1, 1, 1, 2)))


def test_deletion_then_addition_onto(base: PreparedBase) -> None:
    gone = apply_patch(base, b"--- a/one.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n")
    back = apply_patch(base, b"--- /dev/null\n+++ b/one.txt\n@@ -0,0 +1 @@\n+one\n", onto=gone)
    assert back.tree == base.tree
    assert back.changes == ()


def test_canonical_form_is_the_same_for_the_same_change(base: PreparedBase) -> None:
    near = apply_patch(base, diff("lines.txt", " line 11", "+new", " line 12", at=(11, 2, 11, 3)))
    far = apply_patch(base, diff("lines.txt", " line 11", "+new", " line 12", at=(2, 2, 2, 3)))
    assert near.canonical == far.canonical
    assert apply_patch(base, near.canonical) == near


@pytest.mark.parametrize(
    "data",
    [
        b"diff --git a/x.bin b/x.bin\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 3\nzzzz\n\n",
        b"Prose.\n",
    ],
)
def test_malformed_is_not_a_conflict(base: PreparedBase, data: bytes) -> None:
    with pytest.raises(PatchMalformed):
        apply_patch(base, data)


_TEXTS = st.lists(
    st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"\xff\n", b"--- a\n", b"@@\n"]), max_size=12
).map(b"".join)
_BYTES = st.one_of(_TEXTS, _TEXTS.map(lambda text: text + b"tail"), st.binary(max_size=30))
_NAMES = st.sampled_from([*FILES, "new.txt", 'sub/é "q".txt', "sub/b\\c.txt", "tab\there"])


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(_NAMES, st.one_of(st.none(), _BYTES), min_size=1, max_size=4))
def test_export_and_apply_agree(
    base: PreparedBase, tmp_path_factory: pytest.TempPathFactory, edits: dict[str, bytes | None]
) -> None:
    folder = tmp_path_factory.mktemp("edited")
    expected = {**FILES, **edits}
    write(folder, {name: content for name, content in expected.items() if content is not None})
    patch = export_patch(folder, base)
    if not patch:
        return
    applied = apply_patch(base, patch)
    now = {change.path: change.new for change in applied.changes}
    for name, content in edits.items():
        if name in now:
            assert now[name] == content
        else:
            assert content is None or FILES.get(name) in (content, content.decode("latin-1"))
    assert applied.canonical == patch


def test_paths_of_the_result_are_real_names(base: PreparedBase, tmp_path: Path) -> None:
    write(tmp_path, {**FILES, 'sub/é "q"\t.txt': "x\n"})
    applied = apply_patch(base, export_patch(tmp_path, base))
    assert [change.path for change in applied.changes] == ['sub/é "q"\t.txt']
