# SPDX-License-Identifier: Apache-2.0
"""Keeps shell sessions and quoted files right, from the report's text to a test that its repair passes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.decided import decided, told
from tests.agents.ledger import Ledger
from tests.agents.sessions import SESSIONS
from tests.agents.teller import CLI, make_teller, repair, teller_files

from redfirst.agents.strategies.snippet import SnippetStrategy
from redfirst.agents.strategies.snippet.tools import Entry, Tools, tools_of
from redfirst.agents.task import QualifiedBundle, Task
from redfirst.core.kinds import Outcome

TELLER = Tools(
    {"teller": Entry("teller.cli", "main")},
    frozenset({"teller", "teller.cli", "teller.__main__"}),
    {"teller": ("teller.cli",)},
)


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_comes_to_its_findings_and_guards(tmp_path: Path, name: str) -> None:
    report, findings, guards = SESSIONS[name]
    held = {path: text for path, text in teller_files("").items() if path.startswith("teller/")}
    story, decision = decided(tmp_path, report, TELLER, held)
    assert [told(story, f) for f in decision.findings] == findings, decision.doubts
    assert [told(story, f) for f in decision.guards] == guards


@pytest.fixture(scope="module")
def teller(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """One checkout with a ``src`` folder that nothing installs."""
    return make_teller(tmp_path_factory.mktemp("teller"))


def patch_of(ledger: Ledger, report: str, wrong: str | None = None) -> str:
    """The lines that a report's test adds; the repair must pass it, and the ``wrong`` one must not."""
    result = SnippetStrategy().reproduce(Task(report.encode()), ledger.gate)
    assert isinstance(result, QualifiedBundle), result
    judged = ledger.session.judge(result.bundle, repair(ledger))
    assert judged.outcome is Outcome.PASS, judged.why
    if wrong is not None:
        assert ledger.session.judge(result.bundle, repair(ledger, wrong)).outcome is Outcome.FAIL
    lines = (result.bundle.patch or b"").decode().splitlines()
    return "\n".join(line[1:] for line in lines if line.startswith("+"))


STATUS = (
    "Unknown styles are no failure\n\n```console\n$ teller -s typo a\nno style named typo\n$ echo $?\n0\n"
    "$ teller -s loud a && echo fine  # correct\na!\nfine\n```\n\n"
    "The first command should exit with a non-zero status.\n"
)


@pytest.mark.slow
def test_a_command_is_started_as_it_is_found_and_what_is_fine_must_stay(teller: Ledger) -> None:
    always = CLI.replace("return 0\n", "return 3\n")
    added = patch_of(teller, STATUS, wrong=always)
    assert '[sys.executable, "-m", "teller", "-s", "typo", "a"]' in added
    assert '"PYTHONPATH": os.pathsep.join(sys.path)' in added
    assert "assert result.returncode != 0" in added
    assert 'assert result.stdout.strip() == "a!"' not in added
    assert "assert result.returncode == 0" in added


@pytest.mark.slow
def test_a_project_that_a_process_finds_from_the_root_is_not_pointed_out(tmp_path: Path) -> None:
    added = patch_of(
        make_teller(tmp_path, teller_files("")), "`teller -s typo a` exits with 0\n\nI expect status 3.\n"
    )
    assert "PYTHONPATH" not in added
    assert "assert result.returncode == 3" in added


@pytest.mark.slow
def test_a_quoted_script_runs_in_a_folder_of_its_own(teller: Ledger) -> None:
    added = patch_of(teller, SESSIONS["a script with arguments"][0])
    assert "(tmp_path, monkeypatch):" in added
    assert 'pathlib.Path("repro.py").write_text(' in added
    assert '[sys.executable, "repro.py", "-s", "typo", "a"]' in added


@pytest.mark.slow
def test_a_quoted_file_is_there_for_a_call_in_a_test_case_too(tmp_path: Path) -> None:
    held = teller_files("")
    held["tests/__init__.py"] = ""
    held["tests/test_cli.py"] = (
        "import unittest\n\nfrom teller import cli\n\n\nclass CliTest(unittest.TestCase):\n"
        '    def test_styles(self):\n        self.assertIn("loud", cli.STYLES)\n'
    )
    added = patch_of(make_teller(tmp_path, held), SESSIONS["a script that is its statements"][0])
    assert "self.addCleanup(os.chdir, os.getcwd())" in added
    assert 'pathlib.Path("words.txt").write_text(' in added
    assert "self.assertEqual(cli.load('words.txt'), ['a', 'b', 'c'])" in added.replace('"', "'")


@pytest.mark.parametrize(
    ("held", "scripts"),
    [
        (
            {"pyproject.toml": '[project.scripts]\na = "teller.cli:main"\n'},
            {"a": Entry("teller.cli", "main")},
        ),
        (
            {"pyproject.toml": '[tool.poetry.scripts]\na = "teller.cli:main"\n'},
            {"a": Entry("teller.cli", "main")},
        ),
        (
            {
                "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    a-b = teller.cli:App.run\n    c = x\n"
            },
            {"a-b": Entry("teller.cli", "App.run")},
        ),
        (
            {
                "setup.py": 'setup(entry_points={"console_scripts": ["a = teller:main", f"b{x} = teller:main"]})\n'
            },
            {"a": Entry("teller", "main")},
        ),
        (
            {"setup.py": 'setup(entry_points="""\n[console_scripts]\na=teller:main\n[other]\nb=c:d\n""")\n'},
            {"a": Entry("teller", "main")},
        ),
        (
            {
                "teller.egg-info/entry_points.txt": "[console_scripts]\na = teller:main [extra]\n\n[x]\nb = c:d\n"
            },
            {"a": Entry("teller", "main")},
        ),
        ({"pyproject.toml": "[project\n", "setup.py": "def (\n", "setup.cfg": "x\n"}, {}),
    ],
)
def test_console_scripts_are_found_where_they_are_declared(
    tmp_path: Path, held: dict[str, str], scripts: dict[str, Entry]
) -> None:
    base = {name: text for name, text in teller_files("").items() if name != "pyproject.toml"}
    tools = tools_of(make_teller(tmp_path, {**base, **held}).gate)
    assert tools.scripts == scripts
    assert {"teller", "teller.cli"} <= tools.modules
    assert "tests.test_cli" not in tools.modules
    assert tools.behind == {"teller": ("teller.cli",)}
