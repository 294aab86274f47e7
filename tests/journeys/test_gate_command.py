# SPDX-License-Identifier: Apache-2.0
"""Keeps `redfirst gate` answering as its documents say: kinds, exit codes, JSON, and an untouched checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from tests.journeys.shop import NODE, Shop


def test_a_test_that_shows_the_bug_qualifies_and_the_checkout_stays_as_it_was(shop: Shop) -> None:
    before = shop.git("status", "--porcelain", "--ignored"), shop.git("for-each-ref")
    done = shop.gate("--json")
    assert (done.exit, done.verdict["kind"]) == (0, "assertion_failed"), done
    assert [node["node"] for node in done.verdict["nodes"]] == [NODE]
    assert (shop.git("status", "--porcelain", "--ignored"), shop.git("for-each-ref")) == before


def test_the_same_test_passes_with_the_fix(shop: Shop) -> None:
    done = shop.gate("--json", "--source-patch", shop.fix())
    assert (done.exit, done.verdict["outcome"]) == (0, "pass"), done


def test_a_wrong_fix_is_a_valid_fail_and_exit_1(shop: Shop) -> None:
    done = shop.gate("--json", "--source-patch", shop.fix("    return [total // people + 1] * people\n"))
    assert (done.exit, done.verdict["kind"]) == (1, "assertion_failed"), done


def test_expect_changes_what_is_wanted_not_the_verdict(shop: Shop) -> None:
    done = shop.gate("--json", "--expect", "pass", "--repeat", "1")
    assert (done.exit, done.verdict["kind"]) == (1, "assertion_failed"), done


def test_uncommitted_changes_are_not_judged(shop: Shop) -> None:
    (shop.checkout / "src/till/money.py").write_text("broken(", "utf-8")
    assert shop.gate("--json", "--repeat", "1").verdict["kind"] == "assertion_failed"


def test_a_plain_folder_is_a_base_too(shop: Shop) -> None:
    shutil.rmtree(shop.checkout / ".git")
    assert shop.gate("--json", "--repeat", "1").verdict["kind"] == "assertion_failed"


def test_an_earlier_commit_can_be_base(shop: Shop) -> None:
    patch = shop.fix()
    shop.git("apply", patch)
    shop.git("commit", "-q", "-a", "-m", "fixed")
    assert shop.gate("--json", "--repeat", "1").exit == 1
    assert shop.gate("--json", "--repeat", "1", "--base", "HEAD~1").exit == 0


def test_without_json_a_person_can_read_it(shop: Shop) -> None:
    done = shop.gate("--repeat", "1")
    assert done.exit == 0
    assert "assertion_failed" in done.out
    assert NODE in done.out


def test_what_is_not_there_is_a_usage_error_in_one_line(shop: Shop) -> None:
    for args in (("gate", "nowhere"), ("gate", str(shop.bundle), "--repo", "nowhere")):
        done = shop.call(*args)
        assert done.exit == 2, done
        assert "Traceback" not in done.err


def test_a_test_that_proves_nothing_is_exit_3(shop: Shop) -> None:
    (shop.bundle / "test_command").write_text("python -m pytest tests/test_money.py\n", "utf-8")
    done = shop.gate("--json")
    assert (done.exit, done.verdict["kind"], done.verdict["valid"]) == (3, "command_rejected", False)


def test_without_a_sandbox_there_is_no_run(shop: Shop, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for tool in ("git", "env", "sh"):
        (programs / tool).symlink_to(shutil.which(tool) or tool)
    done = shop.gate("--json", env={"PATH": str(programs)})
    assert (done.exit, done.verdict["kind"]) == (3, "infrastructure_error"), done


def test_the_caller_s_secrets_do_not_reach_the_test(shop: Shop) -> None:
    probe = '\n\ndef test_split_loses_nothing():\n    import os\n\n    assert "SHOP_TOKEN" in os.environ\n'
    (shop.bundle / "test.patch").write_text(shop.test_patch(probe), "utf-8")
    done = shop.gate("--json", "--repeat", "1", env={"SHOP_TOKEN": "secret"})
    assert done.verdict["kind"] == "assertion_failed"
    assert "secret" not in done.out


def test_a_saved_verdict_can_be_checked_again(shop: Shop) -> None:
    saved = shop.file("verdict.json", shop.gate("--json", "--repeat", "1").out)
    assert shop.gate("--verify-receipt", saved).exit == 0
    (shop.bundle / "test_command").write_text(f"python -m pytest -q {NODE}\n", "utf-8")
    assert shop.gate("--verify-receipt", saved).exit == 1


def test_nothing_is_left_behind(shop: Shop, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    mounts = Path("/proc/self/mountinfo").read_text("utf-8").count("\n")
    assert shop.gate("--json", "--scratch", str(scratch)).exit == 0
    assert list(scratch.iterdir()) == []
    assert Path("/proc/self/mountinfo").read_text("utf-8").count("\n") == mounts
    mine = str(scratch)
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert mine not in listed


def test_the_receipt_names_what_was_judged(shop: Shop) -> None:
    receipt = shop.gate("--json").verdict["receipt"]
    tree = shop.git("rev-parse", "HEAD^{tree}").strip()
    assert receipt["base_tree"] == tree
    assert receipt["base_tree_after"] == tree
    assert len(receipt["runs"]) == 2
    assert receipt["runs"][0]["seed"] != receipt["runs"][1]["seed"]
    assert os.path.isabs(receipt["modules"][0][1] if isinstance(receipt["modules"], list) else "/")
    assert json.dumps(receipt)
