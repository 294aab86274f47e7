# SPDX-License-Identifier: Apache-2.0
"""Keeps the snippet strategy from handing over a test that its fix would not pass, and from giving up too early."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.agents.ledger import PYTEST_FILE, UNITTEST_FILE, Ledger, files, flat_files, make_ledger
from tests.agents.reports import CONFIRMED, REFUSED

from redfirst.agents.strategies.snippet import SnippetStrategy
from redfirst.agents.task import QualifiedBundle, Refusal, Task
from redfirst.core.errors import UsageError
from redfirst.core.kinds import Outcome

SPLIT = CONFIRMED["session with a stated value"][0].encode()


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """One checkout for all reports: the gate never writes to it."""
    return make_ledger(tmp_path_factory.mktemp("pytest"))


def reproduce(ledger: Ledger, report: bytes) -> QualifiedBundle | Refusal:
    return SnippetStrategy().reproduce(Task(report), ledger.gate)


def qualified_nowhere(ledger: Ledger, report: bytes) -> QualifiedBundle:
    """The bundle, where the ledger's repair says nothing of what it is about."""
    result = reproduce(ledger, report)
    assert isinstance(result, QualifiedBundle), result
    return result


def qualified(ledger: Ledger, report: bytes) -> QualifiedBundle:
    """The bundle; it must pass on the repaired source."""
    result = reproduce(ledger, report)
    assert isinstance(result, QualifiedBundle), result
    assert result.verdict.outcome is Outcome.FAIL
    judged = ledger.session.judge(result.bundle, ledger.repair)
    assert judged.outcome is Outcome.PASS, judged.why
    return result


@pytest.mark.parametrize("name", CONFIRMED)
def test_what_is_confirmed_becomes_a_test_that_the_repair_passes(ledger: Ledger, name: str) -> None:
    report, line = CONFIRMED[name]
    result = qualified(ledger, report.encode())
    assert line in (result.bundle.patch or b"").decode()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_confirmed_is_refused_with_reasons(ledger: Ledger, name: str) -> None:
    result = reproduce(ledger, REFUSED[name].encode())
    assert isinstance(result, Refusal), (result.bundle.patch or b"").decode()
    assert result.decided
    assert result.reason
    assert result.lacks


def test_the_test_joins_the_file_that_imports_the_same_module(ledger: Ledger) -> None:
    patch = (qualified(ledger, SPLIT).bundle.patch or b"").decode()
    assert "--- a/tests/test_money.py" in patch
    assert "+from ledger import money, split" in patch
    gone = [line for line in patch.splitlines() if line.startswith("-") and not line.startswith("---")]
    assert gone == ["-from ledger import money"]


def test_the_contract_quotes_the_report_and_says_what_is_not_asserted(ledger: Ledger) -> None:
    contract = json.loads(qualified(ledger, SPLIT).bundle.contract or b"")
    assert contract["issue_evidence"] == ["I expected 100."]
    assert contract["trigger"] == "sum(split(100, 3))"
    assert contract["expected_output"] == "100"
    assert contract["non_assertions"][0].startswith("Strength: exact")
    assert all(contract.values())
    weak = json.loads(
        qualified(ledger, CONFIRMED["wrong value seen, nothing stated"][0].encode()).bundle.contract or b""
    )
    assert weak["non_assertions"][0].startswith("Strength: not-this-value")
    assert "weakest property" in weak["non_assertions"][1]


def test_every_submission_is_told(ledger: Ledger) -> None:
    told = []
    SnippetStrategy().reproduce(
        Task(SPLIT, submitted=lambda bundle, verdict: told.append((bundle, verdict))), ledger.gate
    )
    assert [verdict.outcome for _, verdict in told] == [Outcome.FAIL]


def test_a_file_with_windows_line_ends_keeps_them(tmp_path: Path) -> None:
    text = "from ledger import money\r\n\r\n\r\ndef test_check():\r\n    assert money.check(5)\r\n"
    patch = qualified(make_ledger(tmp_path, files(text)), SPLIT).bundle.patch or b""
    added = [line for line in patch.split(b"\n") if line.startswith(b"+") and not line.startswith(b"+++")]
    assert added
    assert all(line.endswith(b"\r") for line in added)


def test_a_file_of_test_cases_gets_a_method(tmp_path: Path) -> None:
    result = qualified(make_ledger(tmp_path, files(UNITTEST_FILE)), SPLIT)
    patch = (result.bundle.patch or b"").decode()
    assert "+    def test_split_loses_cent(self):" in patch
    assert "self.assertEqual(sum(split(100, 3)), 100)" in patch
    assert b"::MoneyTest::test_split_loses_cent" in (result.bundle.command or b"")


TABLE = """\
import pytest

from ledger import check, show


@pytest.mark.parametrize(("sum_", "expected"), [(250, "2.50"), (1000, "10.0")])
def test_show(sum_, expected):
    assert show(sum_).startswith(expected)


@pytest.mark.parametrize("sum_", [1, 2])
def test_check(sum_):
    assert check(sum_)
"""


def test_a_table_holds_what_fails_beside_what_must_stay(tmp_path: Path) -> None:
    report = CONFIRMED["imports left out, several values"][0].encode()
    result = qualified(make_ledger(tmp_path, files(TABLE)), report)
    patch = (result.bundle.patch or b"").decode()
    assert '(250, "2.50"),' in patch
    assert '(9, "0.09"),' in patch
    assert [one.guard for one in result.asserted] == [True, False, False]
    assert len([node for node in result.verdict.nodes if node.kind.value == "passed"]) == 1


def test_a_project_without_pytest_gets_tests_for_unittest(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path, flat_files())
    for name, line in (
        ("should raise", "self.assertRaises(LedgerError)"),
        ("a loop that prints", "redirect_stdout"),
    ):
        bundle = qualified(ledger, CONFIRMED[name][0].encode()).bundle
        assert line in (bundle.patch or b"").decode()
        assert (bundle.command or b"").startswith(b"python -m unittest tests.test_money.MoneyTest.test_")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"a\0b", "binary"),
        (b"caf\xe9", "UTF-8"),
        ("ü".encode("utf-16"), "UTF-16"),
        (b"x" * (1 << 20) + b"y", "1 MiB"),
    ],
)
def test_a_report_that_cannot_be_read_is_a_usage_error_in_one_line(
    ledger: Ledger, data: bytes, word: str
) -> None:
    with pytest.raises(UsageError) as caught:
        reproduce(ledger, data)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_import_that_is_left_out_comes_from_the_module_that_has_the_name(tmp_path: Path) -> None:
    held = {**files(PYTEST_FILE), "src/ledger/days.py": "def due(day):\n    return day + 1\n"}
    report = "due is a day late\n\n```\n>>> due(Fraction(6, 2))\nFraction(4, 1)\n```\n\nI expected 3.\n"
    patch = (qualified_nowhere(make_ledger(tmp_path, held), report.encode()).bundle.patch or b"").decode()
    assert "from ledger.days import due" in patch
    assert "from fractions import Fraction" in patch


def test_a_test_that_uses_nothing_but_a_fixture_of_the_project_is_about_that(tmp_path: Path) -> None:
    plugin = "import pytest\n\n\n@pytest.fixture\ndef monkeypatch():\n    return {}\n"
    held = {**files(PYTEST_FILE), "src/ledger/plugin.py": plugin}
    held["tests/conftest.py"] = 'pytest_plugins = ["ledger.plugin"]\n'
    report = (
        "The fixture is empty\n\n```python\ndef test_fixture(monkeypatch):\n    assert monkeypatch == {'a': 1}\n```\n\n"
        "This fails.\n"
    )
    patch = (qualified_nowhere(make_ledger(tmp_path, held), report.encode()).bundle.patch or b"").decode()
    assert "(monkeypatch):" in patch
