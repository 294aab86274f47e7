# SPDX-License-Identifier: Apache-2.0
"""Keeps `redfirst check` right about Git: merge bases, shallow clones, renames, odd paths, what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.journeys.story import BASE, FIXED, GOOD, Story, begin, labels

FIX = {"coins/purse.py": FIXED, "tests/test_purse.py": BASE["tests/test_purse.py"] + GOOD}
ONCE = ("--repeat", "1")


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return begin(tmp_path / "coins")


def clone(story: Story, folder: Path, *words: str) -> Story:
    """A clone over the file protocol, so that its depth is kept."""
    allowed = ["-c", "protocol.file.allow=always"]
    where = f"file://{story.folder}"
    subprocess.run(["git", *allowed, "clone", "-q", *words, where, folder], check=True, capture_output=True)
    return Story(folder)


def test_head_is_compared_with_the_merge_base_although_base_moved_on(story: Story) -> None:
    story.git("switch", "-q", "-c", "topic")
    story.commit(FIX)
    story.git("switch", "-q", "main")
    story.commit({"coins/purse.py": "broken(", "tests/test_other.py": "def test_other():\n    pass\n"})
    done, report = story.check("--head", "topic", *ONCE, base="main")
    assert (done.exit, labels(report)) == (0, {"test_sum": "fail-to-pass"})
    assert report["compared_with"] == story.git("merge-base", "main", "topic").strip()
    assert report["base"]["commit"] == story.git("rev-parse", "main").strip()
    assert report["deleted"] == []
    report = story.check("--head", "topic", "--direct", *ONCE, base="main")[1]
    assert [item["test"] for item in report["deleted"]] == ["tests/test_other.py::test_other"]


def test_two_merge_bases_are_said(story: Story) -> None:
    for name in ("left", "right"):
        story.git("switch", "-q", "-c", name, "main")
        story.commit({f"{name}.md": name})
    story.git("branch", "right-before", "right")
    story.git("merge", "-q", "-m", "crossed", "left")
    story.git("switch", "-q", "left")
    story.git("merge", "-q", "-m", "crossed too", "right-before")
    story.commit(FIX)
    done, report = story.check(*ONCE, base="right")
    assert (done.exit, labels(report)) == (0, {"test_sum": "fail-to-pass"})
    assert any("2 merge bases" in note for note in report["notes"])


def test_no_common_ancestor_is_a_usage_error_with_a_way_out(story: Story) -> None:
    story.git("switch", "-q", "--orphan", "apart")
    story.commit({**BASE, **FIX})
    done = story.call("--base", "main")
    assert done.exit == 2
    assert "no common ancestor" in done.err
    assert "--direct" in done.err
    assert story.check("--direct", *ONCE, base="main")[0].exit == 0


def test_a_shallow_clone_says_which_fetch_to_run(story: Story, tmp_path: Path) -> None:
    story.git("switch", "-q", "-c", "topic")
    story.commit(FIX)
    story.git("switch", "-q", "main")
    story.commit({"NEWS.md": "news"})
    shallow = clone(story, tmp_path / "shallow", "--depth", "1", "--no-single-branch")
    done = shallow.call("--base", "origin/main", "--head", "origin/topic")
    assert (done.exit, "git fetch --unshallow origin" in done.err) == (2, True), done
    shallow.git("fetch", "-q", "--unshallow", "origin")
    done, report = shallow.check("--head", "origin/topic", *ONCE, base="origin/main")
    assert (done.exit, labels(report)) == (0, {"test_sum": "fail-to-pass"})


def test_a_missing_ref_says_which_fetch_to_run(story: Story, tmp_path: Path) -> None:
    story.git("branch", "topic")
    single = clone(story, tmp_path / "single", "--single-branch")
    done = single.call("--base", "origin/topic")
    assert done.exit == 2
    command = "git fetch origin topic:refs/remotes/origin/topic"
    assert command in done.err
    single.git(*command.split()[1:])
    assert single.check(*ONCE, base="origin/topic")[0].exit == 0


def test_what_is_no_checkout_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    done = Story(tmp_path / "plain").call("--base", "main")
    assert (done.exit, "no Git checkout" in done.err) == (2, True), done
    assert "Traceback" not in done.err


def test_uncommitted_changes_are_left_out_and_said(story: Story) -> None:
    story.commit(FIX)
    story.write({"coins/purse.py": "broken("})
    done, report = story.check(*ONCE)
    assert done.exit == 0
    assert any("1 uncommitted change is left out" in note for note in report["notes"])


def test_the_same_commit_twice_holds_with_nothing_to_say(story: Story) -> None:
    done, report = story.check(base="HEAD")
    assert (done.exit, report["why"]) == (0, ["nothing changed between base and head"])


def test_a_subfolder_names_the_whole_checkout_and_odd_paths_are_paths(story: Story) -> None:
    odd = "tests/with space/test_Grüße.py"
    story.commit({"coins/purse.py": FIXED, odd: BASE["tests/test_purse.py"] + GOOD})
    done = story.call(
        "--base", "HEAD~1", "--repo", "coins", "--python", sys.executable, *ONCE, "--annotations"
    )
    assert done.exit == 0, done
    assert f"fail-to-pass  added  {odd}::test_sum" in done.out
    assert f"::notice file={odd},line=8," in done.err


def test_line_ends_do_not_alter_a_test(story: Story) -> None:
    windows = {"tests/test_purse.py": BASE["tests/test_purse.py"].replace("\n", "\r\n").encode()}
    story.commit({"coins/purse.py": FIXED, **windows})
    done, report = story.check(*ONCE)
    assert (done.exit, report["tests"]) == (1, [])
    crlf = (BASE["tests/test_purse.py"] + GOOD).replace("\n", "\r\n").encode()
    story.git("reset", "-q", "--hard", "HEAD~1")
    story.commit({"coins/purse.py": FIXED, "tests/test_purse.py": crlf})
    assert labels(story.check(*ONCE)[1]) == {"test_sum": "fail-to-pass"}


def test_deleted_tests_are_listed_and_warned_of(story: Story) -> None:
    story.commit(
        {
            "coins/purse.py": FIXED,
            "tests/test_purse.py": None,
            "tests/test_new.py": FIX["tests/test_purse.py"]
            .replace("test_kind", "test_type")
            .replace("[0] == 3", "[0] > 2"),
        }
    )
    done, report = story.check(*ONCE)
    assert [item["test"] for item in report["deleted"]] == ["tests/test_purse.py::test_kind"]
    assert "tests/test_purse.py::test_kind was deleted" in report["warnings"]
    assert done.exit == 0


def test_absent_submodules_are_said(story: Story, tmp_path: Path) -> None:
    other = begin(tmp_path / "other")
    story.git("submodule", "--quiet", "add", f"file://{other.folder}", "vendored")
    story.commit({})
    story.commit(FIX)
    done, report = story.check(*ONCE)
    assert (done.exit, labels(report)) == (0, {"test_sum": "fail-to-pass"})
    assert "submodules are absent from the runs: vendored" in report["notes"]


def test_a_merge_commit_as_a_service_checks_it_out(story: Story) -> None:
    story.git("switch", "-q", "-c", "topic")
    story.commit(FIX)
    story.git("switch", "-q", "main")
    story.commit({"NEWS.md": "news"})
    story.git("switch", "-q", "--detach")
    story.git("merge", "-q", "--no-ff", "-m", "topic into main", "topic")
    done, report = story.check(*ONCE, base="main")
    assert (done.exit, labels(report)) == (0, {"test_sum": "fail-to-pass"})
    assert report["compared_with"] == story.git("rev-parse", "main").strip()
