# SPDX-License-Identifier: Apache-2.0
"""The demo: a real report of a real bug, the test that redfirst writes from it, and its two verdicts.

``python examples/demo.py [NAME]`` takes ``examples/NAME/report.md`` and ``bug.toml`` (default ``demo``),
fetches the release that has the bug and the one that fixed it from the package index through pip, and keeps
both in the user's cache folder. Nothing is installed outside that folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
COMMAND = str(Path(sys.executable).parent / "redfirst")
TEST_FOLDERS = frozenset({"tests", "test", "testing"})
NOT_SOURCE = frozenset({"conftest.py", "setup.py"})
FAILED = "This did not come out as it should."
TOOLS = {"bwrap": "bubblewrap", "git": "git"}


@dataclass(frozen=True, slots=True)
class Bug:
    """What ``bug.toml`` says: a package, the release with the bug, the one with the fix, and how it ends."""

    package: str
    buggy: str
    fixed: str
    outcome: str


def say(text: str) -> None:
    """One heading of the demo's story."""
    print(f"\n== {text}", flush=True)


def need_tools() -> None:
    """End in one line that names the packages, if a system tool is missing."""
    packages = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if packages:
        sys.exit(f"missing system packages: apt-get install {' '.join(packages)}")


def read_bug(folder: Path) -> Bug:
    """Read ``bug.toml``."""
    data = tomllib.loads((folder / "bug.toml").read_text("utf-8"))
    return Bug(data["package"], data["buggy"], data["fixed"], data["outcome"])


def cache() -> Path:
    """The demo's own folder in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "redfirst" / "demo"


def release(package: str, version: str) -> Path:
    """The unpacked source distribution of a release, fetched once."""
    place = cache() / f"{package}-{version}"
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as text:
        work = Path(text)
        pip = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check"]
        wanted = ["--no-deps", "--no-binary", ":all:", "-d", text, f"{package}=={version}"]
        if subprocess.run([*pip, *wanted], stdin=subprocess.DEVNULL).returncode != 0:
            sys.exit(f"pip could not fetch {package} {version}: is the package index reachable?")
        (work / "tree").mkdir()
        # tarfile's safe filters came with 3.11.4; tar refuses paths that lead out by itself
        unpack = ["tar", "--no-same-owner", "-xzf", next(work.glob("*.tar.gz")), "-C", work / "tree"]
        subprocess.run(unpack, check=True)
        next((work / "tree").iterdir()).rename(place)
    return place


def redfirst(*args: str) -> int:
    """Run the command with its output on the terminal; its exit code."""
    print("$ redfirst", *args, flush=True)
    return subprocess.run([COMMAND, *args], stdin=subprocess.DEVNULL).returncode


def verdict(*args: str) -> dict[str, Any]:
    """Ask the gate; the verdict's JSON object."""
    print("$ redfirst gate", *args, flush=True)
    done = subprocess.run([COMMAND, "gate", *args, "--json"], stdin=subprocess.DEVNULL, capture_output=True)
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"the gate gave no verdict (exit {done.returncode}): {done.stderr.decode(errors='replace')}")
    return answer


def tell(answer: dict[str, Any]) -> None:
    """The verdict in two lines."""
    print(f"  {(answer['outcome'] or 'not valid').upper()}  {answer['kind']}\n  {answer['why']}")


def source_difference(buggy: Path, fixed: Path, patch: Path) -> None:
    """Write what the fixed release changed in Python files outside its tests, as a patch on the buggy one."""
    with tempfile.TemporaryDirectory() as text:
        tree = Path(text) / "tree"
        shutil.copytree(buggy, tree)
        git = ["git", "-C", str(tree), "-c", "user.name=demo", "-c", "user.email=demo@localhost"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "-A", "-f"], check=True)
        for path in sorted(fixed.rglob("*.py")):
            name = path.relative_to(fixed)
            if not {"tests", "test", "testing"} & set(name.parts) and name.name not in {
                "conftest.py",
                "setup.py",
            }:
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, tree / name)
        subprocess.run([*git, "add", "-A", "-N", "-f"], check=True)
        done = subprocess.run([*git, "diff", "--binary"], check=True, capture_output=True)
    patch.write_bytes(done.stdout)


def on_the_fix(bundle: Path, buggy: Path, fixed: Path, work: Path) -> dict[str, Any]:
    """The same bundle on the fixed release: on its tree, or as a source patch if it does not apply there."""
    answer = verdict(str(bundle), "--repo", str(fixed), "--expect", "pass")
    if answer["kind"] != "patch_conflict":
        return answer
    print("  its tests differ there; so the fix goes to the test:")
    patch = work / "fix.patch"
    source_difference(buggy, fixed, patch)
    return verdict(str(bundle), "--repo", str(buggy), "--source-patch", str(patch))


def main() -> int:
    """Tell the story; 0 if it ends as it should: red on the bug and green on the fix, or a refusal."""
    need_tools()
    folder = HERE / (sys.argv[1] if len(sys.argv) > 1 else "demo")
    bug = read_bug(folder)
    say(f"The report: {bug.package} {bug.buggy}")
    print((folder / "report.md").read_text("utf-8").strip())
    say(f"Fetching {bug.package} {bug.buggy} (has the bug) and {bug.fixed} (has the fix)")
    buggy, fixed = release(bug.package, bug.buggy), release(bug.package, bug.fixed)
    with tempfile.TemporaryDirectory() as text:
        work = Path(text)
        say("From the report to a test")
        runs = cache() / "runs"
        code = redfirst("reproduce", str(folder / "report.md"), "--repo", str(buggy), "--out", str(runs))
        bundle = max(runs.glob("*/bundle"), default=None)
        if bug.outcome == "refusal":
            say("Refused, as it should be: nothing in this report can be run." if code == 1 else FAILED)
            return 0 if code == 1 else 1
        if code != 0 or bundle is None:
            say(FAILED)
            return code or 1
        say(f"The same test on {bug.package} {bug.fixed}")
        after = on_the_fix(bundle, buggy, fixed, work)
        tell(after)
    say("Red on the bug, green on the fix." if after["outcome"] == "pass" else FAILED)
    return 0 if after["outcome"] == "pass" else 1


if __name__ == "__main__":
    sys.exit(main())
