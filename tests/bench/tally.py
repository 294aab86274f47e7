# SPDX-License-Identifier: Apache-2.0
"""A data set of one small package with two releases, and the installed command to measure on it; no network."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

COMMAND = str(Path(sys.executable).parent / "redfirst")
BACKEND = '''\
"""A build back end of its own, so that nothing else is needed to install the package."""
import os, zipfile

NAME = "tally-{version}.dist-info"


def _wheel(folder, files):
    name = "tally-{version}-py3-none-any.whl"
    files[NAME + "/METADATA"] = "Metadata-Version: 2.1\\nName: tally\\nVersion: {version}\\n"
    files[NAME + "/WHEEL"] = "Wheel-Version: 1.0\\nGenerator: own\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[NAME + "/RECORD"] = "".join(f"{{key}},,\\n" for key in [*files, NAME + "/RECORD"])
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for key, text in files.items():
            archive.writestr(key, text)
    return name


def build_editable(folder, config_settings=None, metadata_directory=None):
    if os.environ["TALLY_EDITION"] != "full":
        raise SystemExit("TALLY_EDITION is not set")
    return _wheel(folder, {{"tally.pth": os.getcwd() + "\\n"}})


def build_wheel(folder, config_settings=None, metadata_directory=None):
    return _wheel(folder, {{}})
'''
PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["tools"]

[project]
name = "tally"
version = "{version}"
"""
MODULE = '''\
"""Adds up."""
{helper}

def total(numbers):
    """The sum of the numbers."""
{body}
'''
BUGGY = "    return sum(numbers[:-1])\n"
FIXED = "    return _sum(numbers)\n"
CORRECT = "    return sum(list(numbers))\n"
WRONG = {
    "the reported case alone": "    return 6 if numbers == [1, 2, 3] else sum(numbers[:-1])\n",
    "leaves out the other end": "    return sum(numbers[1:])\n",
}
TESTS = """\
import unittest

from tally import total


class TestTotal(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(total([]), 0)
"""
REPORT = """\
total() leaves out the last number

```python
>>> from tally import total
>>> total([1, 2, 3])
3
```

I expected 6.
"""
PROSE = "total() is wrong sometimes\n\nIt loses numbers, please have a look.\n"


def module(body: str, helper: str = "") -> str:
    """The text of tally.py."""
    return MODULE.format(body=body.rstrip("\n"), helper=helper)


def source_patch(body: str) -> str:
    """A diff of the buggy tally.py."""
    old, new = (text.splitlines(keepends=True) for text in (module(BUGGY), module(body)))
    return "".join(unified_diff(old, new, "a/tally.py", "b/tally.py"))


def sdist(folder: Path, version: str, files: dict[str, str]) -> None:
    """A source distribution of the package."""
    metadata = f"Metadata-Version: 2.1\nName: tally\nVersion: {version}\n"
    texts = {
        "PKG-INFO": metadata,
        "pyproject.toml": PYPROJECT.format(version=version),
        "tools/backend.py": BACKEND.format(version=version),
        "tests/test_total.py": TESTS,
        **files,
    }
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / f"tally-{version}.tar.gz", "w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(f"tally-{version}/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


def instance(name: str, report: str = REPORT, **changes: object) -> dict[str, object]:
    """The content of instance.json."""
    return {
        "instance_id": name,
        "package": "tally",
        "import_name": "tally",
        "base_version": "1.0",
        "requirements": [],
        "pip_install": "-e .",
        "install_env": {"TALLY_EDITION": "full"},
        "runner": "unittest",
        "test_paths": ["tests"],
        "problem_statement": report,
        **changes,
    }


def add_bug(bugs: Path, name: str, report: str = REPORT, **changes: object) -> Path:
    """One folder of the data set. The third wrong patch does not apply."""
    folder = bugs / name
    folder.mkdir(parents=True)
    wrong = [{"why": why, "diff": source_patch(body)} for why, body in WRONG.items()]
    wrong.append({"why": "for another release", "diff": source_patch(FIXED).replace("[:-1]", "[:-2]")})
    hidden = {"fixed_version": "1.1", "gold": {"files": ["tally.py", "tally_sum.py"]}}
    files = {
        "instance.json": json.dumps(instance(name, report, **changes)),
        "hidden.json": json.dumps(hidden),
        "wrong_patches.json": json.dumps(wrong),
        "correct_patch.diff": source_patch(CORRECT),
    }
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Tally:
    """The data set below ``folder``; calls of the command see its releases and no package index."""

    folder: Path

    @property
    def bugs(self) -> Path:
        return self.folder / "bugs"

    @property
    def dataset(self) -> str:
        return f"pypi-releases:{self.bugs}"

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        links = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.folder / "links")}
        return {**kept, **links, "PIP_CONFIG_FILE": os.devnull, "REDFIRST_TRACEBACK": "1"}

    def start(self, *words: str) -> subprocess.Popen[str]:
        """The command at work."""
        return subprocess.Popen(
            [COMMAND, "bench", *words],
            env=self.environ,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *words: str) -> tuple[int, str, str]:
        """Exit code, output and errors of one call."""
        process = self.start(*words)
        out, err = process.communicate(timeout=240)
        return process.returncode, out, err

    def results(self, run: str) -> dict[str, dict[str, Any]]:
        """What a run has kept, by id."""
        lines = (self.folder / run / "results.jsonl").read_text(encoding="utf-8").splitlines()
        return {record["instance_id"]: record for record in map(json.loads, lines)}


def make_tally(folder: Path) -> Tally:
    """Both releases, and no bugs yet."""
    links = folder / "links"
    sdist(links, "1.0", {"tally.py": module(BUGGY)})
    helper = "from tally_sum import total as _sum\n"
    summed = "def total(numbers):\n    return sum(numbers)\n"
    sdist(links, "1.1", {"tally.py": module(FIXED, helper), "tally_sum.py": summed})
    (folder / "bugs").mkdir()
    return Tally(folder)
