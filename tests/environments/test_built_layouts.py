# SPDX-License-Identifier: Apache-2.0
"""A checkout that tells its packages or test requirements in an odd place gets an environment that runs its tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.environments.checkouts import committed, write

COMMAND = str(Path(sys.executable).parent / "redfirst")
COUNT = "import six\n\n\ndef total(numbers):\n    return sum(numbers[1:]) if six.PY3 else 0\n"
PACKAGE = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "1"
dependencies = [{needs}]
"""
SHELF = PACKAGE.format(name="shelf", needs='"six"')
SRC = {"src/shelf/__init__.py": "", "src/shelf/count.py": COUNT}
TEST = """\
import idna
from shelf.count import total


def test_one():
    assert idna and total([1]) == 0
"""

LAYOUTS = {
    "src that is not installed": {
        **SRC,
        "pyproject.toml": SHELF,
        "tests/test_count.py": TEST.replace("import idna\n", "").replace("idna and ", ""),
    },
    "tox alone": {
        **SRC,
        "pyproject.toml": SHELF,
        "tox.ini": "[tox]\nenvlist = lint,py3\n[testenv]\ndeps =\n    pytest\n    -r{toxinidir}/ci/needs.txt\n"
        "commands = pytest\n[testenv:lint]\ndeps = nowhere-to-be-found\n",
        "ci/needs.txt": "idna\n",
        "tests/test_count.py": TEST,
    },
    "nox alone": {
        **SRC,
        "pyproject.toml": SHELF,
        "noxfile.py": "import nox\n\nNEEDS = ['idna']\n\n\n@nox.session\ndef tests(session):\n"
        "    session.install('pytest', *NEEDS)\n    session.install('-e', '.')\n    session.run('pytest')\n",
        "tests/test_count.py": TEST,
    },
    "two packages": {
        **{f"packages/a/{name}": text for name, text in SRC.items()},
        "packages/a/pyproject.toml": SHELF,
        "packages/a/tests/test_count.py": TEST.replace("idna", "other"),
        "packages/b/pyproject.toml": PACKAGE.format(name="other", needs='"shelf"'),
        "packages/b/src/other/__init__.py": "from shelf.count import total\n",
        "packages/b/tests/test_count.py": "import other\n\n\ndef test_b():\n    assert other.total([1]) == 0\n",
    },
    "a requirement that cannot be had": {
        **SRC,
        "pyproject.toml": SHELF,
        "requirements-test.txt": "idna\nsix>=1\nredfirst-nowhere-to-be-found==1\n",
        "tests/test_count.py": TEST,
    },
}


def call(repo: Path, cache: Path, *words: str) -> dict[str, object]:
    """The answer of a command with --json."""
    env = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    env |= {"XDG_CACHE_HOME": str(cache), "XDG_STATE_HOME": str(cache)}
    done = subprocess.run(
        [COMMAND, *words, "--repo", repo, "--json"], env=env, capture_output=True, check=False
    )
    assert done.stdout, done.stderr.decode()
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_the_suite_is_collected_and_a_failing_test_qualifies(tmp_path, name):
    files = LAYOUTS[name]
    repo = committed(write(tmp_path / "repo", files))
    found = call(repo, tmp_path / "cache", "doctor")
    suite = found["suites"][0]
    assert (suite["runner"], suite["errors"], suite["problem"]) == ("pytest", 0, ""), suite
    assert suite["tests"] == sum("/test_" in path for path in files)
    test = next(path for path in files if path.endswith("test_count.py"))
    added = files[test] + "\n\ndef test_two():\n    assert total([1, 2]) == 3\n"
    size = len(files[test].splitlines())
    lines = "".join(f"+{line}\n" for line in added.splitlines()[size:])
    context = "".join(f" {line}\n" for line in files[test].splitlines()[-1:])
    patch = f"--- a/{test}\n+++ b/{test}\n@@ -{size},1 +{size},5 @@\n{context}{lines}"
    folder, _, rest = test.rpartition("tests/")
    start = f"cd {folder} && " if folder else ""
    contract = {
        **{key: "x" for key in ("entrypoint", "trigger", "expected_output")},
        **{key: ["x"] for key in ("issue_evidence", "alternative_hypotheses", "non_assertions")},
        "test_nodes": [f"{test}::test_two"],
    }
    bundle = {
        "test.patch": patch,
        "test_command": f"{start}pytest tests/{rest}::test_two",
        "test_contract.json": json.dumps(contract),
    }
    verdict = call(repo, tmp_path / "cache", "gate", str(write(tmp_path / "bundle", bundle)))
    assert verdict["kind"] == "assertion_failed", verdict
