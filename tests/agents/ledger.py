# SPDX-License-Identifier: Apache-2.0
"""A small project with several bugs, its repair, and a gate over it: what the strategies' tests run on."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from redfirst.agents.gateway import SessionGate
from redfirst.gate.session import GateSession, GateSettings

BUGGY = '''\
"""Sums of money."""


class LedgerError(ValueError):
    """A text that is no sum."""


class Account:
    """Holds entries."""

    def __init__(self, owner):
        self.owner = owner
        self.entries = []

    def __repr__(self):
        return f"Account({self.owner!r}, {len(self.entries)})"

    def add(self, sum_):
        self.entries.append(sum_)

    def total(self):
        return sum(self.entries[1:])


def split(total, people):
    return [total // people] * people


def parse(text):
    whole, cents = text.split(".")
    return int(whole) * 100 + int(cents)


def show(cents):
    return f"{cents // 100}.{cents % 100}"


def check(cents):
    return cents is not None


def lines(sums):
    return [show(sum_) for sum_ in sums]


def statement(days):
    yield from [*days, days[-1]]
'''
FIXED = (
    BUGGY.replace("sum(self.entries[1:])", "sum(self.entries)")
    .replace(
        "    return [total // people] * people",
        "    share, rest = divmod(total, people)\n    return [share + (place < rest) for place in range(people)]",
    )
    .replace(
        '    whole, cents = text.split(".")\n',
        '    if not text:\n        raise LedgerError("no sum")\n    whole, _, cents = text.partition(".")\n'
        '    cents = cents or "0"\n',
    )
    .replace("{cents % 100}", "{cents % 100:02}")
    .replace("[*days, days[-1]]", "days")
    .replace(
        "    return cents is not None",
        '    if cents < 0:\n        raise LedgerError("negative")\n    return True',
    )
)
PYPROJECT = '[project]\nname = "ledger"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = ["src"]\n'
INIT = "from ledger.money import Account, LedgerError, check, lines, parse, show, split, statement\n"
PYTEST_FILE = "from ledger import money\n\n\ndef test_check():\n    assert money.check(5)\n"
UNITTEST_FILE = """\
import unittest

from ledger import money


class MoneyTest(unittest.TestCase):
    def test_check(self):
        self.assertTrue(money.check(5))


if __name__ == "__main__":
    unittest.main()
"""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The project in a Git checkout, and the gate as a strategy sees it."""

    root: Path
    session: GateSession
    gate: SessionGate

    @property
    def repair(self) -> bytes:
        """A source patch with the repair of every bug."""
        path = "src/ledger/money.py" if (self.root / "src").is_dir() else "ledger/money.py"
        return source_patch(path, BUGGY, FIXED)


def source_patch(path: str, before: str, after: str) -> bytes:
    """A patch that puts one text in the place of another."""
    old, new = before.splitlines(), after.splitlines()
    lines = [f"--- a/{path}", f"+++ b/{path}"]
    lines += [
        f"@@ -1,{len(old)} +1,{len(new)} @@",
        *(f"-{line}" for line in old),
        *(f"+{line}" for line in new),
    ]
    return ("\n".join(lines) + "\n").encode()


def files(test_file: str) -> dict[str, str]:
    """The project's files with one test file."""
    return {
        "pyproject.toml": PYPROJECT,
        "src/ledger/__init__.py": INIT,
        "src/ledger/money.py": BUGGY,
        "tests/test_money.py": test_file,
    }


def flat_files() -> dict[str, str]:
    """The project as one that knows nothing of pytest: no settings, no ``src`` folder, TestCases alone."""
    moved = {name.removeprefix("src/"): text for name, text in files(UNITTEST_FILE).items()}
    return {**moved, "pyproject.toml": PYPROJECT.partition("[tool")[0], "tests/__init__.py": ""}


def make_ledger(folder: Path, held: dict[str, str] | None = None) -> Ledger:
    """A fresh checkout below ``folder``."""
    root = folder / "ledger"
    for name, text in (held or files(PYTEST_FILE)).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    who = ["-c", "user.name=ledger", "-c", "user.email=ledger@localhost", "-c", "core.autocrlf=false"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "base"]):
        subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)
    settings = GateSettings(repo=root, cache=folder / "cache", store=folder / "store", python=sys.executable)
    session = GateSession(settings)
    return Ledger(root, session, SessionGate(session))
