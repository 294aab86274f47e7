# SPDX-License-Identifier: Apache-2.0
"""What the gate adds to a bare test command on a Django-size checkout, and what it leaves behind.

One bundle with one fast test of ``django.utils.text`` on the Django 5.2 source distribution. In one process,
with Base and environment prepared and ``repeat=1``, a judgement and the bare command are timed in turn; the
figures are the median difference and ratio. Then ``--leaks`` judgements in a row, with the number of
processes, mounts, descriptors and files and the memory before and after, and both timed in turn again.
Printed as JSON.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import redfirst
from redfirst.core.bundle import TestBundle
from redfirst.gate import GateSession, GateSettings

DJANGO = "5.2"
PR_SET_CHILD_SUBREAPER = 36
OWN_GROUP = f"redfirst-{os.getpid()}-"
TEST_FILE = "tests/overhead/test_slug.py"
TEST = """from django.utils.text import slugify


def test_slug():
    assert slugify("Red First") == "red_first"
"""
NODE = f"{TEST_FILE}::test_slug"
CONTRACT = {
    "entrypoint": "django.utils.text.slugify",
    "trigger": "slugify('Red First')",
    "expected_output": "red_first",
    "issue_evidence": ["a made-up claim that fails"],
    "alternative_hypotheses": ["none"],
    "non_assertions": ["anything else"],
    "test_nodes": [NODE],
}


def bundle() -> TestBundle:
    """The bundle that is judged."""
    lines = TEST.splitlines()
    patch = f"--- /dev/null\n+++ b/{TEST_FILE}\n@@ -0,0 +1,{len(lines)} @@\n"
    patch += "".join(f"+{line}\n" for line in lines)
    command = f"python -m pytest {NODE}\n"
    return TestBundle(patch.encode(), command.encode(), json.dumps(CONTRACT).encode())


def prepare(work: Path) -> tuple[Path, Path]:
    """Fetch Django's sources and make an environment for them; (checkout, interpreter)."""
    pip = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "-d", str(work), f"Django=={DJANGO}"], check=True, stdin=subprocess.DEVNULL)
    (work / "tree").mkdir()
    # tarfile's safe filters came with 3.11.4; tar refuses paths that lead out by itself
    unpack = ["tar", "--no-same-owner", "-xzf", next(work.glob("[Dd]jango*.tar.gz")), "-C", work / "tree"]
    subprocess.run(unpack, check=True)
    checkout = next((work / "tree").iterdir())
    subprocess.run([sys.executable, "-m", "venv", str(work / "venv")], check=True)
    python = work / "venv" / "bin" / "python"
    wanted = ["asgiref", "sqlparse", "pytest"]
    subprocess.run(
        [str(python), "-m", "pip", "install", "-qq", *wanted], check=True, stdin=subprocess.DEVNULL
    )
    return checkout, python


def bare(checkout: Path, python: Path) -> float:
    """Milliseconds of the bare command in a checkout that has the test."""
    argv = [str(python), "-m", "pytest", NODE]
    started = time.perf_counter()
    done = subprocess.run(argv, cwd=checkout, stdin=subprocess.DEVNULL, capture_output=True)
    spent = (time.perf_counter() - started) * 1000
    if done.returncode != 1:
        sys.exit(f"the bare command should fail on its assertion: {done.stdout.decode()}")
    return spent


def judged(session: GateSession) -> float:
    """Milliseconds of one judgement in process."""
    started = time.perf_counter()
    verdict = session.judge(bundle())
    spent = (time.perf_counter() - started) * 1000
    if verdict.kind != "assertion_failed":
        sys.exit(f"the judgement should be assertion_failed, not {verdict.kind}: {verdict.why}")
    return spent


def in_turn(session: GateSession, checkout: Path, python: Path, rounds: int) -> dict[str, float]:
    """Medians of both, measured alternately; the first pair warms up and is dropped."""
    pairs = [(bare(checkout, python), judged(session)) for _ in range(rounds + 1)][1:]
    return {
        "rounds": rounds,
        "bare_ms": round(statistics.median(plain for plain, _ in pairs), 1),
        "gate_ms": round(statistics.median(gate for _, gate in pairs), 1),
        "difference_ms": round(statistics.median(gate - plain for plain, gate in pairs), 1),
        "ratio": round(statistics.median(gate / plain for plain, gate in pairs), 3),
    }


def adopt_orphans() -> None:
    """Become the parent of every process below us that loses its own, so that it can be counted."""
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("this kernel cannot adopt orphans")


def descendants() -> int:
    """How many processes live below us; the ended ones of others, which init would reap, do not count."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text("utf-8", "replace")
            except OSError:
                continue
            state, parent = stat.rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(entry.name)] = int(parent)
    found, level = 0, {os.getpid()}
    while level := {pid for pid, parent in parents.items() if parent in level}:
        found += len(level)
    return found


def residue(work: Path) -> dict[str, float]:
    """What is there now: processes below us, mounts, our descriptors, control groups, files, memory."""
    status = Path("/proc/self/status").read_text("ascii").splitlines()
    memory = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    return {
        "processes": descendants(),
        "mounts": len(Path("/proc/self/mountinfo").read_text("utf-8").splitlines()),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "control_groups": sum(
            1 for _, names, _ in os.walk("/sys/fs/cgroup") for name in names if name.startswith(OWN_GROUP)
        ),
        "files": sum(len(names) for _, _, names in os.walk(work)),
        "memory_mb": round(memory / 1024, 1),
    }


def leaks(session: GateSession, work: Path, count: int) -> dict[str, object]:
    """Residue before and after ``count`` judgements."""
    judged(session)
    before = residue(work)
    for _ in range(count):
        judged(session)
    return {"judgements": count, "before": before, "after": residue(work)}


def main() -> int:
    """Prepare, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--leaks", type=int, default=200)
    options = parser.parse_args()
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="redfirst-bench-") as text:
        work = Path(text)
        tempfile.tempdir = os.environ["TMPDIR"] = str(work / "tmp")
        (work / "tmp").mkdir()
        checkout, python = prepare(work)
        plain = work / "plain"
        shutil.copytree(checkout, plain, symlinks=True)
        (plain / TEST_FILE).parent.mkdir(parents=True)
        (plain / TEST_FILE).write_text(TEST, "utf-8")
        settings = GateSettings(checkout, work / "cache", work / "store", python=str(python), repeat=1)
        session = GateSession(settings)
        result = {
            "benchmark": "gate_overhead",
            "redfirst": redfirst.__version__,
            "django": DJANGO,
            "files_in_checkout": sum(len(names) for _, _, names in os.walk(checkout)),
            "machine": {
                "python": platform.python_version(),
                "cpus": os.cpu_count(),
                "system": platform.platform(),
            },
            "in_turn": in_turn(session, plain, python, options.rounds),
            "leaks": leaks(session, work, options.leaks),
            "in_turn_afterwards": in_turn(session, plain, python, options.rounds),
        }
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
