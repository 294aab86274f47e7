# SPDX-License-Identifier: Apache-2.0
"""The gate on a small real checkout: real git, real sandbox, real pytest."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from redfirst.core.bundle import TestBundle
from redfirst.core.kinds import FailureKind, Outcome
from redfirst.core.limits import Limits
from redfirst.gate import GateSession, GateSettings, load_bundle
from redfirst.gate.wire import read_record, record_digest, verdict_record

FILES = {
    "pyproject.toml": '[project]\nname = "shelf"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = ["src"]\n',
    "src/shelf/__init__.py": "",
    "src/shelf/count.py": "def total(numbers):\n    return sum(numbers[1:])\n",
    "tests/test_count.py": "from shelf.count import total\n\n\ndef test_nothing():\n    assert total([]) == 0\n",
}
FIX = """\
--- a/src/shelf/count.py
+++ b/src/shelf/count.py
@@ -1,2 +1,2 @@
 def total(numbers):
-    return sum(numbers[1:])
+    return sum(numbers)
"""


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "core.autocrlf=false")
    done = subprocess.run(
        ["git", *identity, "-C", folder, *words], check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "shelf"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "base")
    return root


@pytest.fixture
def settings(repo: Path, tmp_path: Path) -> GateSettings:
    return GateSettings(
        repo=repo,
        cache=tmp_path / "cache",
        store=tmp_path / "store",
        python=sys.executable,
        limits=Limits(wall_s=60, cpu_s=60),
    )


def bundle(body: str, nodes: list[str] | None = None, command: str | None = None) -> TestBundle:
    """A bundle that appends ``body`` to the test file; declares ``test_sum`` unless told otherwise."""
    lines = FILES["tests/test_count.py"].splitlines()
    added = ["", "", *body.rstrip("\n").splitlines()]
    patch = [
        "--- a/tests/test_count.py",
        "+++ b/tests/test_count.py",
        f"@@ -1,{len(lines)} +1,{len(lines) + len(added)} @@",
        *(f" {line}" for line in lines),
        *(f"+{line}" for line in added),
    ]
    contract = {
        "entrypoint": "shelf.count.total",
        "trigger": "a list with a first number",
        "expected_output": "its sum",
        "issue_evidence": ["total([1, 2]) gives 2"],
        "alternative_hypotheses": ["none"],
        "non_assertions": ["other inputs"],
        "test_nodes": nodes or ["tests/test_count.py::test_sum"],
    }
    words = command or "python -m pytest tests/test_count.py::test_sum"
    return TestBundle(
        ("\n".join(patch) + "\n").encode(), words.encode() + b"\n", json.dumps(contract).encode()
    )


GOOD = bundle("def test_sum():\n    assert total([1, 2]) == 3\n")
KINDS = {
    "assert total([1, 2]) == 3": FailureKind.ASSERTION_FAILED,
    "assert total(None) == 3": FailureKind.EXCEPTION_RAISED,
    "assert total([1]) == 0": FailureKind.PASSED,
    "assert totall([1]) == 1": FailureKind.TEST_ERROR,
    "raise ValueError('mine')": FailureKind.TEST_ERROR,
    "import no_such_module_anywhere": FailureKind.ENVIRONMENT_ERROR,
    "import shelf.absent": FailureKind.EXCEPTION_RAISED,
    "import socket; socket.create_connection(('192.0.2.1', 80), 2)": FailureKind.ENVIRONMENT_ERROR,
    "import os; os._exit(0)": FailureKind.CRASH,
    "import pytest; pytest.skip('later')": FailureKind.NOT_RUN,
    "import atexit, os; atexit.register(os._exit, 7)": FailureKind.REPORT_INVALID,
    "import atexit, os; atexit.register(os._exit, 0); assert total([1, 2]) == 3": FailureKind.REPORT_INVALID,
    "open('src/shelf/count.py', 'a').write('#'); assert total([1, 2]) == 3": FailureKind.TAMPERING,
    "import subprocess as s; s.run(['sh', '-c', 'echo >> .git/config'])": FailureKind.TAMPERING,
}


@pytest.mark.parametrize("line", KINDS)
def test_what_a_test_does_decides_its_kind(settings, line):
    verdict = GateSession(replace(settings, repeat=1)).judge(bundle(f"def test_sum():\n    {line}\n"))
    assert verdict.kind is KINDS[line], verdict


def test_a_failing_test_qualifies_and_passes_with_the_fix(settings):
    session = GateSession(settings)
    qualified = session.qualify(GOOD)
    assert qualified.verdict.outcome is Outcome.FAIL, qualified.verdict
    assert qualified.frozen is not None
    frozen = load_bundle(qualified.frozen.folder)
    fixed = session.judge(frozen, FIX.encode())
    assert fixed.kind is FailureKind.PASSED, fixed
    again = session.judge(frozen)
    assert again.kind is FailureKind.ASSERTION_FAILED
    assert again.receipt.base_tree == git(settings.repo, "rev-parse", "HEAD^{tree}").strip()


def test_the_receipt_proves_where_the_modules_came_from_and_what_ran(settings):
    receipt = GateSession(settings).judge(GOOD).receipt
    modules = dict(receipt.modules)
    assert modules["shelf"].endswith("/src/shelf/__init__.py")
    assert receipt.base_tree_after == receipt.base_tree
    assert [run.seed for run in receipt.runs] == [0, 1]
    assert receipt.sandbox == "bubblewrap"


def test_nothing_in_the_checkout_is_written(settings):
    before = {path: path.stat().st_mtime_ns for path in settings.repo.rglob("*")}
    GateSession(settings).judge(GOOD)
    assert {path: path.stat().st_mtime_ns for path in settings.repo.rglob("*")} == before


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (replace(GOOD, contract=b"{}"), FailureKind.CONTRACT_INVALID),
        (replace(GOOD, patch=None), FailureKind.PATCH_MALFORMED),
        (replace(GOOD, patch=FIX.encode()), FailureKind.PATCH_FORBIDDEN),
        (replace(GOOD, patch=(GOOD.patch or b"").replace(b"== 0", b"== 9")), FailureKind.PATCH_CONFLICT),
        (replace(GOOD, command=b"pytest tests\n"), FailureKind.COMMAND_REJECTED),
        (
            replace(GOOD, command=b"/usr/bin/python3 -m pytest tests/test_count.py::test_sum"),
            FailureKind.COMMAND_REJECTED,
        ),
        (bundle("def test_sum():\n    pass\n\n\ndef test_more():\n    pass\n"), FailureKind.NODE_UNBOUND),
        (bundle("def test_sum():\n    pass\n", nodes=["test_other"]), FailureKind.NODE_UNBOUND),
        (bundle("exec('def test_sum(): pass')\nexec('def test_more(): pass')\n"), FailureKind.NODE_UNBOUND),
    ],
)
def test_what_is_refused(settings, bad, kind):
    assert GateSession(settings).judge(bad).kind is kind


def test_a_source_patch_may_not_touch_tests(settings):
    verdict = GateSession(settings).judge(GOOD, GOOD.patch)
    assert verdict.kind is FailureKind.SOURCE_PATCH_INVALID


def test_chance_is_nondeterministic(settings):
    body = "import os\n\n\ndef test_sum():\n    assert int(os.environ['PYTHONHASHSEED']) % 2\n"
    assert GateSession(settings).judge(bundle(body)).kind is FailureKind.NONDETERMINISTIC


def test_the_kernel_runs_any_nodes_without_a_contract(settings):
    verdict = GateSession(settings).run(["tests/test_count.py::test_nothing"], runner="pytest")
    assert verdict.kind is FailureKind.PASSED, verdict


def test_a_verdict_survives_the_wire(settings):
    verdict = GateSession(settings).judge(GOOD)
    data = json.dumps(verdict_record(verdict)).encode()
    record, receipt = read_record(data, "here")
    assert record["digest"] == record_digest(record)
    assert receipt.bundle == verdict.receipt.bundle
    record["kind"] = "passed"
    assert record["digest"] != record_digest(record)


def test_a_folder_rename_is_judged_on_a_copy(settings):
    body = (
        "import os\n\n\ndef test_sum():\n    os.rename('src/shelf', 'src/shelf2')\n"
        "    os.rename('src/shelf2', 'src/shelf')\n    assert total([1, 2]) == 3\n"
    )
    verdict = GateSession(replace(settings, repeat=1)).judge(bundle(body))
    assert dict(verdict.receipt.isolation)["workspace"] == "copy"
