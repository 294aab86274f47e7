# SPDX-License-Identifier: Apache-2.0
"""A small project with a command line and several bugs, and its repair: what shell sessions are about."""

from __future__ import annotations

from pathlib import Path

from tests.agents.ledger import Ledger, make_ledger, source_patch

CLI = '''\
"""Counts words from the command line."""

import argparse
import os
import sys
from pathlib import Path

STYLES = {"plain": "{}", "loud": "{}!"}


def read_settings():
    path = Path("teller.ini")
    if not path.exists():
        return {}
    pairs = [line.split("=") for line in path.read_text().splitlines() if line]
    return {name.strip(): value for name, value in pairs}


def load(name):
    return Path(name).read_text().split(" ")


def main(argv=None):
    parser = argparse.ArgumentParser(prog="teller")
    parser.add_argument("-s", "--style", default="plain")
    parser.add_argument("-c", "--count", action="store_true")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args(argv)
    style = STYLES.get(arguments.style)
    if style is None:
        print(f"no style named {arguments.style}", file=sys.stderr)
        return 0
    words = arguments.words or sys.stdin.read().split(" ")
    if words == ["-"]:
        return 1 / 0
    text = str(len(words)) if arguments.count else " ".join(words)
    print(style.format(read_settings().get("prefix", os.environ.get("TELLER_PREFIX", "")) + text))
    return 0
'''
MAIN = "import sys\n\nfrom teller.cli import main\n\nsys.exit(main())\n"
REPAIRED = (
    CLI.replace("file=sys.stderr)\n        return 0", "file=sys.stderr)\n        return 3")
    .replace('read_text().split(" ")', "read_text().split()")
    .replace('stdin.read().split(" ")', "stdin.read().split()")
    .replace("        return 1 / 0\n", "        words = []\n")
    .replace("name.strip(): value for", "name.strip(): value.strip() for")
)
PYPROJECT = (
    '[project]\nname = "teller"\nversion = "1"\n\n[project.scripts]\nteller = "teller.cli:main"\n\n'
    '[tool.pytest.ini_options]\npythonpath = ["src"]\n'
)
TESTS = (
    "import subprocess\nimport sys\n\nfrom teller import cli\n\n\n"
    'def test_words(capsys):\n    assert cli.main(["a"]) == 0\n    assert capsys.readouterr().out == "a\\n"\n'
)


def teller_files(folder: str = "src/") -> dict[str, str]:
    """The project's files; ``folder``: where its package lies, '' for the root."""
    settings = PYPROJECT if folder else PYPROJECT.partition("[tool")[0]
    return {
        "pyproject.toml": settings,
        f"{folder}teller/__init__.py": "",
        f"{folder}teller/__main__.py": MAIN,
        f"{folder}teller/cli.py": CLI,
        "tests/test_cli.py": TESTS,
    }


def make_teller(place: Path, held: dict[str, str] | None = None) -> Ledger:
    """A fresh checkout below ``place``."""
    return make_ledger(place, held or teller_files())


def repair(ledger: Ledger, text: str = REPAIRED) -> bytes:
    """A source patch with the repair of every bug, or with another ``text`` for the module."""
    path = "src/teller/cli.py" if (ledger.root / "src").is_dir() else "teller/cli.py"
    return source_patch(path, CLI, text)
