# SPDX-License-Identifier: Apache-2.0
"""Keeps `redfirst check` answering as its documents say, on two commits of a real repository."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.journeys.story import BASE, FIXED, GOOD, IDLE, Story, begin, labels

EVERY_LABEL = """
import pytest


def test_fails_first():
    assert sum(change(9, 3)) == 9


def test_never_failed():
    assert change(9, 3)


def test_fails_on_both():
    assert change(9, 3) == "wrong"


def test_breaks():
    assert len(change(9, 3)) == 4


def test_asks_for_a_new_name():
    from coins.purse import count
    assert count(9, 3) == 3


def test_flickers():
    import os
    assert os.environ["PYTHONHASHSEED"] == "0"


@pytest.mark.skip(reason="later")
def test_skipped():
    assert False


def test_dies():
    import os
    os._exit(3)


def test_mistaken():
    assert undefined_name
"""
COUNTED = FIXED + "\n\ndef count(total, coin):\n    return len(change(total, coin))\n"


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return begin(tmp_path / "coins")


def test_every_label_is_given_in_one_change_and_a_test_that_dies_hides_no_other(story: Story) -> None:
    story.commit({"coins/purse.py": COUNTED, "tests/test_purse.py": story.more_tests(EVERY_LABEL)})
    done, report = story.check()
    assert done.exit == 1
    assert labels(report) == {
        "test_fails_first": "fail-to-pass",
        "test_never_failed": "pass-to-pass",
        "test_fails_on_both": "fail-to-fail",
        "test_breaks": "pass-to-fail",
        "test_asks_for_a_new_name": "new API",
        "test_flickers": "flaky",
        "test_skipped": "not run",
        "test_dies": "undecidable",
        "test_mistaken": "undecidable",
    }
    assert {test["change"] for test in report["tests"]} == {"added"}
    assert report["labels"]["fail-to-pass"] == 1


def test_a_proven_fix_holds(story: Story) -> None:
    story.commit({"coins/purse.py": FIXED, "tests/test_purse.py": story.more_tests(GOOD + IDLE)})
    before = story.git("status", "--porcelain", "--ignored"), story.git("for-each-ref")
    done, report = story.check()
    assert (done.exit, report["answer"]) == (0, "holds")
    assert labels(report) == {"test_sum": "fail-to-pass", "test_idle": "pass-to-pass"}
    assert (story.git("status", "--porcelain", "--ignored"), story.git("for-each-ref")) == before
    done, report = story.check("--require", "all")
    assert (done.exit, report["answer"]) == (1, "does not hold")
    assert "test_idle" in report["why"][0]


def test_a_test_that_never_failed_proves_nothing(story: Story) -> None:
    story.commit({"coins/purse.py": FIXED, "tests/test_purse.py": story.more_tests(IDLE)})
    done, report = story.check()
    assert (done.exit, labels(report)) == (1, {"test_idle": "pass-to-pass"})
    assert "add a test" in report["todo"]
    done, report = story.check("--no-behaviour-change")
    assert (done.exit, report["answer"]) == (0, "holds")


def test_source_without_a_test_does_not_hold(story: Story) -> None:
    story.commit({"coins/purse.py": FIXED})
    done, report = story.check()
    assert (done.exit, report["tests"]) == (1, [])
    assert report["why"] == ["the change touches coins/purse.py and no test"]
    assert story.check("--no-behaviour-change")[0].exit == 0


def test_a_refactor_that_changes_behaviour_is_seen(story: Story) -> None:
    story.commit({"coins/purse.py": FIXED, "tests/test_purse.py": story.more_tests(GOOD)})
    done, report = story.check("--no-behaviour-change")
    assert (done.exit, report["answer"]) == (1, "does not hold")


def test_a_new_api_counts_only_where_it_is_allowed(story: Story) -> None:
    test = "from coins.purse import count\n\n\ndef test_count():\n    assert count(9, 3) == 3\n"
    story.commit({"coins/purse.py": COUNTED, "tests/test_count.py": test})
    done, report = story.check()
    assert (done.exit, labels(report)) == (1, {"test_count": "new API"})
    assert "--allow-new-api" in report["todo"]
    assert story.check("--allow-new-api")[0].exit == 0


def test_a_new_module_is_a_new_api_and_hides_no_other_file(story: Story) -> None:
    files = {
        "mint/__init__.py": "def press():\n    return 1\n",
        "tests/test_mint.py": "import mint\n\n\ndef test_press():\n    assert mint.press() == 1\n",
        "coins/purse.py": FIXED,
        "tests/test_purse.py": story.more_tests(GOOD),
    }
    story.commit(files)
    done, report = story.check()
    assert (done.exit, labels(report)) == (0, {"test_press": "new API", "test_sum": "fail-to-pass"})


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": "# More\n", "docs/use.txt": "words\n"},
        {".github/workflows/ci.yml": "on: push\n"},
        {"coins/purse.py": "# a comment\n" + BASE["coins/purse.py"]},
    ],
    ids=["documentation", "configuration", "comments"],
)
def test_documentation_and_configuration_pass_and_say_so(story: Story, files: dict[str, str]) -> None:
    story.commit(files)
    done, report = story.check()
    assert (done.exit, report["tests"]) == (0, [])
    assert "no fix to prove" in report["why"][0]


def test_tests_alone_run_on_one_side_for_both(story: Story) -> None:
    story.commit({"tests/test_purse.py": story.more_tests(IDLE)})
    done, report = story.check()
    assert (done.exit, labels(report)) == (0, {"test_idle": "pass-to-pass"})
    story.commit({"tests/test_purse.py": story.more_tests(GOOD)})
    done, report = story.check()
    assert (done.exit, labels(report)["test_sum"]) == (1, "fail-to-fail")
    assert [item["test"] for item in report["deleted"]] == ["tests/test_purse.py::test_idle"]


def test_only_the_new_case_of_a_grown_table_owes_a_proof(story: Story) -> None:
    table = (
        "\nimport pytest\n\n\n@pytest.mark.parametrize('total', [{}])\n"
        "def test_kinds(total):\n    assert sum(change(total, 3)) == (12 if total == 9 else 6)\n"
    )
    story.commit({"tests/test_purse.py": story.more_tests(table.format("9"))})
    story.commit(
        {
            "coins/purse.py": "def change(total, coin):\n    return [coin] * (total // coin + (total == 9))\n",
            "tests/test_purse.py": story.more_tests(table.format("9, 6")),
        }
    )
    done, report = story.check("--require", "all")
    assert {t["test"].rpartition("::")[2]: (t["change"], t["label"]) for t in report["tests"]} == {
        "test_kinds[9]": ("kept", "pass-to-pass"),
        "test_kinds[6]": ("added", "fail-to-pass"),
    }
    assert done.exit == 0, report["why"]


def test_a_changed_fixture_helper_and_data_file_reach_the_tests_that_use_them(tmp_path: Path) -> None:
    files = {
        "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef nine():\n    return 3\n",
        "tests/making.py": "def least():\n    return 1\n",
        "tests/expected/sums.json": "12",
        "tests/test_fixture.py": "from coins.purse import change\n\n\ndef test_by_fixture(nine):\n"
        "    assert len(change(nine, 3)) * 3 != nine + 6\n",
        "tests/test_helper.py": "import sys, os\nsys.path.insert(0, os.path.dirname(__file__))\n"
        "from making import least\nfrom coins.purse import change\n\n\n"
        "def test_by_helper():\n    assert len(change(9, 3)) >= least()\n\n\n"
        "def test_beside():\n    assert change(9, 3)\n",
        "tests/test_data.py": "import json, pathlib\nfrom coins.purse import change\n\n\ndef test_by_data():\n"
        "    want = json.loads((pathlib.Path(__file__).parent / 'expected' / 'sums.json').read_text())\n"
        "    assert sum(change(9, 3)) == want\n",
    }
    story = begin(tmp_path / "coins", files)
    story.commit(
        {
            "coins/purse.py": FIXED,
            "tests/conftest.py": files["tests/conftest.py"].replace("3", "9"),
            "tests/making.py": "def least():\n    return 2\n",
            "tests/expected/sums.json": "9",
        }
    )
    done, report = story.check()
    assert labels(report) == {
        "test_by_fixture": "pass-to-pass",
        "test_by_helper": "pass-to-pass",
        "test_by_data": "fail-to-pass",
    }
    assert {test["change"] for test in report["tests"]} == {"reached"}
    assert done.exit == 0


def test_moved_and_renamed_tests_are_known_and_prove_nothing(story: Story) -> None:
    story.git("mv", "tests/test_purse.py", "tests/test_wallet.py")
    story.commit({"coins/purse.py": FIXED})
    done, report = story.check()
    assert [(t["change"], t["label"]) for t in report["tests"]] == [("moved", "pass-to-pass")]
    assert report["moved"] == [
        {"test": "tests/test_wallet.py::test_kind", "was": "tests/test_purse.py::test_kind"}
    ]
    assert (done.exit, report["deleted"]) == (1, [])
    story.commit({"tests/test_wallet.py": BASE["tests/test_purse.py"].replace("test_kind", "test_first")})
    report = story.check()[1]
    assert [item["was"] for item in report["moved"]] == ["tests/test_wallet.py::test_kind"]


def test_head_s_configuration_is_tried_where_that_of_base_does_not_fit(tmp_path: Path) -> None:
    strict = BASE["pyproject.toml"] + 'addopts = "--strict-markers"\n'
    story = begin(tmp_path / "coins", {"pyproject.toml": strict})
    marked = "\nimport pytest\n\n\n@pytest.mark.money\ndef test_sum():\n    assert sum(change(9, 3)) == 9\n"
    story.commit(
        {
            "pyproject.toml": strict + 'markers = ["money: about coins"]\n',
            "coins/purse.py": FIXED,
            "tests/test_purse.py": story.more_tests(marked),
        }
    )
    done, report = story.check()
    assert (done.exit, labels(report)) == (0, {"test_sum": "fail-to-pass"}), report
    assert any("head's pyproject.toml" in note for note in report["notes"])


def test_a_fix_of_configuration_alone_can_be_proven(tmp_path: Path) -> None:
    test = "import json, pathlib\n\n\ndef test_setting():\n" + (
        "    text = (pathlib.Path(__file__).parents[1] / 'package.json').read_text()\n"
        "    assert json.loads(text)['coins'] == 3\n"
    )
    story = begin(tmp_path / "coins", {"package.json": '{"coins": 2}'})
    story.commit({"package.json": '{"coins": 3}', "tests/test_setting.py": test})
    done, report = story.check()
    assert (done.exit, labels(report)) == (0, {"test_setting": "fail-to-pass"})


def test_unittest_classes_run_by_their_own_runner(tmp_path: Path) -> None:
    case = (
        "import unittest\n\nfrom coins.purse import change\n\n\nclass Purse(unittest.TestCase):\n"
        "    def test_kind(self):\n        self.assertEqual(change(9, 3)[0], 3)\n"
    )
    files = {"pyproject.toml": None, "tests/test_purse.py": case, "tests/__init__.py": ""}
    story = begin(tmp_path / "coins")
    story.commit(files)
    more = "\n    def test_sum(self):\n        self.assertEqual(sum(change(9, 3)), 9)\n"
    story.commit({"coins/purse.py": FIXED, "tests/test_purse.py": case + more})
    done, report = story.check()
    assert [(t["runner"], t["test"], t["label"]) for t in report["tests"]] == [
        ("unittest", "tests.test_purse.Purse.test_sum", "fail-to-pass")
    ]
    assert done.exit == 0


def test_a_language_without_a_runner_is_undecided_not_passed(story: Story) -> None:
    story.commit({"coins/purse.go": "package coins\n", "coins/purse_test.go": "package coins\n"})
    done, report = story.check()
    assert (done.exit, report["answer"]) == (3, "undecided")
    assert "no runner" in report["why"][0]


def test_a_person_reads_a_table_and_programs_their_own_formats(story: Story, tmp_path: Path) -> None:
    story.commit({"coins/purse.py": FIXED, "tests/test_purse.py": story.more_tests(GOOD + IDLE)})
    summary, junit = tmp_path / "summary.md", tmp_path / "junit.xml"
    written = ("--summary", str(summary), "--junit", str(junit))
    done = story.call(
        "--base", "HEAD~1", "--python", sys.executable, *written, env={"GITHUB_ACTIONS": "true"}
    )
    assert done.exit == 0, done
    assert "fail-to-pass" in done.out
    assert "HOLDS" in done.out
    assert "::notice file=tests/test_purse.py,line=8,title=fail-to-pass::" in done.err
    assert "holds" in summary.read_text("utf-8")
    assert junit.read_text("utf-8").count("<testcase") == 3
    quiet = story.call("--base", "HEAD~1", "--python", sys.executable, "--quiet")
    assert quiet.err == ""


def test_hostile_names_stay_text_in_every_format(tmp_path: Path) -> None:
    story = begin(tmp_path / "coins")
    hostile = (
        "\nimport pytest\n\n\n@pytest.mark.parametrize('word', ['::error::x', '\\x1b[31mred', '<b>|`x`', '%0A::set'])\n"
        "def test_words(word):\n    assert sum(change(9, 3)) == 9, word + '\\n::error::injected'\n"
    )
    story.commit({"coins/purse.py": FIXED, "tests/test_purse.py": story.more_tests(hostile)})
    summary, junit = tmp_path / "summary.md", tmp_path / "junit.xml"
    written = ("--summary", str(summary), "--junit", str(junit), "--annotations")
    done = story.call("--base", "HEAD~1", "--python", sys.executable, "--quiet", *written)
    assert done.exit == 0, done
    assert "\x1b" not in done.out + done.err + summary.read_text("utf-8") + junit.read_text("utf-8")
    assert all(line.startswith("::notice ") for line in done.err.splitlines())
    assert "<b>" not in summary.read_text("utf-8")
    assert json.dumps(story.check()[1])
