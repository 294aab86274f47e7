# SPDX-License-Identifier: Apache-2.0
"""Keeps out: a data set that is half understood, an archive that writes elsewhere, a gold tree that is none."""

from __future__ import annotations

import contextlib
import io
import json
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bench.tally import add_bug, instance

from redfirst.bench.dataset import open_dataset
from redfirst.bench.instance import Gold, Instance
from redfirst.bench.overlay import lay_over
from redfirst.bench.pypi_releases import PypiReleases
from redfirst.bench.run import chosen
from redfirst.bench.unpack import unpack
from redfirst.core.errors import EnvironmentFailed, UsageError

REAL = Path(__file__).resolve().parents[3] / "shared" / "bugs"


def test_a_bug_is_read_in_two_parts(tmp_path: Path) -> None:
    add_bug(tmp_path, "one")
    data = open_dataset(f"pypi-releases:{tmp_path}")
    seen, hidden = data.instance("one"), data.hidden("one")
    assert (seen.package, seen.base_version, seen.install_env) == (
        "tally",
        "1.0",
        (("TALLY_EDITION", "full"),),
    )
    assert [patch.name for patch in hidden.wrong] == ["wrong-1", "wrong-2", "wrong-3"]
    assert hidden.gold == Gold(("tally.py", "tally_sum.py"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"package": None}, "field 'package' is missing"),
        ({"package": ""}, "field 'package' must be a text"),
        ({"requirements": "pytest"}, "field 'requirements' must be a list"),
        ({"requirements": [1]}, "field 'requirements' must be a list"),
        ({"install_env": ["A"]}, "field 'install_env' must be an object"),
        ({"instance_id": "two"}, "field 'instance_id' must be the folder's name"),
        ({"problem_statement": " "}, "field 'problem_statement' must be a text"),
    ],
)
def test_a_wrong_field_is_named_with_its_file(tmp_path: Path, change: dict[str, object], said: str) -> None:
    folder = add_bug(tmp_path, "one")
    (folder / "instance.json").write_text(json.dumps({**instance("one"), **change}))
    with pytest.raises(UsageError, match=said) as caught:
        PypiReleases(tmp_path).instance("one")
    assert "one/instance.json" in str(caught.value)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("hidden.json", "{", "hidden.json is not JSON"),
        ("hidden.json", "[]", "hidden.json is not a JSON object"),
        ("hidden.json", '{"fixed_version": "1.1"}', "field 'gold' is missing"),
        ("hidden.json", '{"fixed_version": "1.1", "gold": {"files": []}}', "gold: field 'files'"),
        ("hidden.json", '{"fixed_version": "1.1", "gold": {"files": "all"}}', "gold: field 'files'"),
        ("wrong_patches.json", "{}", "is not a JSON list"),
        ("wrong_patches.json", '[{"why": "x"}]', "patch 1: field 'diff' is missing"),
        ("correct_patch.diff", " ", "is empty"),
    ],
)
def test_a_wrong_hidden_file_is_named(tmp_path: Path, file: str, text: str, said: str) -> None:
    folder = add_bug(tmp_path, "one")
    (folder / file).write_text(text)
    with pytest.raises(UsageError, match=said):
        PypiReleases(tmp_path).hidden("one")


def test_patterns_choose_bugs(tmp_path: Path) -> None:
    for name in ("click-1-a", "click-2-b", "flask-1-a"):
        add_bug(tmp_path, name)
    data = PypiReleases(tmp_path)
    assert chosen(data, ()) == ("click-1-a", "click-2-b", "flask-1-a")
    assert chosen(data, ("click",)) == ("click-1-a", "click-2-b")
    assert chosen(data, ("*-a", "2-b")) == ("click-1-a", "click-2-b", "flask-1-a")
    assert chosen(data, ("click-?-b",)) == ("click-2-b",)
    with pytest.raises(UsageError, match="no bug matches none"):
        chosen(data, ("none",))


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real bugs is not beside the checkout")
def test_every_real_bug_can_be_read() -> None:
    data = PypiReleases(REAL)
    for name in data.ids():
        assert data.instance(name).report
        assert data.hidden(name).wrong


def tree(root: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def bug() -> Instance:
    return Instance("x", "p", "p", "1", (), "-e .", (), "pytest", ("tests",), "report")


def test_gold_takes_named_files_or_the_whole_source(tmp_path: Path) -> None:
    base = tree(tmp_path / "base", {"a.py": "1", "src/old.py": "1", "src/m.py": "1", "tests/t.py": "1"})
    fixed = tree(tmp_path / "fixed", {"a.py": "2", "src/new.py": "2", "src/m.py": "2", "tests/t.py": "2"})

    def made(gold: Gold) -> dict[str, str]:
        folder = lay_over(base, fixed, gold, bug(), tmp_path / "cache")
        assert lay_over(base, fixed, gold, bug(), tmp_path / "cache") == folder
        return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}

    assert made(Gold(("a.py",))) == {"a.py": "2", "src/old.py": "1", "src/m.py": "1", "tests/t.py": "1"}
    assert made(Gold(None, ("src",))) == {"a.py": "1", "src/new.py": "2", "src/m.py": "2", "tests/t.py": "1"}
    assert made(Gold(None)) == {"a.py": "2", "src/new.py": "2", "src/m.py": "2", "tests/t.py": "1"}
    assert (base / "a.py").read_text() == "1"
    for gold in (
        Gold(("none.py",)),
        Gold(("../base/a.py",)),
        Gold(None, ("none",)),
        Gold(None, ("../base",)),
    ):
        with pytest.raises(UsageError, match="gold"):
            lay_over(base, fixed, gold, bug(), tmp_path / "cache")


def archive(path: Path, *members: tuple[str, str, str]) -> Path:
    """A tar of (kind, name, content or target)."""
    kinds = {
        "file": tarfile.REGTYPE,
        "link": tarfile.SYMTYPE,
        "hard": tarfile.LNKTYPE,
        "fifo": tarfile.FIFOTYPE,
    }
    with tarfile.open(path, "w:gz") as tar:
        for kind, name, text in members:
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.uid = kinds[kind], 0o4755, 1234
            if kind == "file":
                info.size = len(text)
            else:
                info.linkname = text
            tar.addfile(info, io.BytesIO(text.encode()))
    return path


def test_an_archive_gives_files_of_ours_and_inner_links(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "a.tar.gz",
        ("file", "p-1/a.py", "one"),
        ("link", "p-1/sub/b.py", "../a.py"),
        ("hard", "p-1/c.py", "p-1/a.py"),
    )
    unpack(path, tmp_path / "out")
    root = tmp_path / "out" / "p-1"
    assert {name: (root / name).read_text() for name in ("a.py", "sub/b.py", "c.py")} == dict.fromkeys(
        ("a.py", "sub/b.py", "c.py"), "one"
    )
    state = (root / "a.py").stat()
    assert (state.st_mode & 0o7777, state.st_uid != 1234) == (0o755, True)


@pytest.mark.parametrize(
    "member",
    [
        ("file", "../out.py", "x"),
        ("file", "/etc/out.py", "x"),
        ("link", "p/l", "../../etc"),
        ("link", "p/l", "/etc"),
        ("hard", "p/l", "../etc/passwd"),
        ("fifo", "p/pipe", ""),
    ],
)
def test_an_archive_cannot_lead_out(tmp_path: Path, member: tuple[str, str, str]) -> None:
    with pytest.raises(EnvironmentFailed):
        unpack(archive(tmp_path / "a.tar.gz", member), tmp_path / "in" / "out")
    assert not (tmp_path / "in" / "out.py").exists()


def test_no_file_is_written_through_a_link_of_the_archive(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "a.tar.gz", ("link", "p/d", "e"), ("file", "p/e/x", "1"), ("file", "p/d/x", "2")
    )
    with pytest.raises(EnvironmentFailed):
        unpack(path, tmp_path / "out")


def test_a_zip_is_an_archive_too(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as bundle:
        bundle.writestr("p-1/a.py", "one")
    unpack(tmp_path / "a.zip", tmp_path / "out")
    assert (tmp_path / "out" / "p-1" / "a.py").read_text() == "one"
    (tmp_path / "b.tar.gz").write_bytes(b"no archive")
    with pytest.raises(EnvironmentFailed, match=r"b\.tar\.gz cannot be unpacked"):
        unpack(tmp_path / "b.tar.gz", tmp_path / "other")


@given(st.text(st.sampled_from("ab./\\ ~"), min_size=1, max_size=12))
def test_whatever_a_member_is_called_it_stays_inside(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with contextlib.suppress(EnvironmentFailed):
            unpack(archive(root / "x.tar.gz", ("file", name, "1")), root / "in" / "out")
        found = {path for path in root.rglob("*") if path.is_file()} - {root / "x.tar.gz"}
        assert all(path.is_relative_to(root / "in" / "out") for path in found)
