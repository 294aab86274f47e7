# SPDX-License-Identifier: Apache-2.0
"""Nothing is left when a run ends, however it, the sandbox or we ourselves are ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.sandbox.conftest import SOURCE, write_tree

from redfirst.core.errors import SandboxError
from redfirst.core.limits import Limits
from redfirst.sandbox import cgroups
from redfirst.sandbox.protocol import Completed, End, Workspace
from redfirst.sandbox.select import open_sandbox

LIMITS = Limits(wall_s=30, cpu_s=30, memory_mb=512, processes=64, file_mb=64, output_mb=1, disk_mb=64)
NAP = "/usr/bin/sleep"

#: Another process that runs one nap in the sandbox; arguments: source, tree, scratch, seconds.
OTHER = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from redfirst.core.limits import Limits
from redfirst.sandbox.select import open_sandbox
workspace = open_sandbox(scratch=Path(sys.argv[3])).fresh(Path(sys.argv[2]), mount="/x/y", limits=Limits())
try:
    print(workspace.run(["/usr/bin/sleep", sys.argv[4]], env={}, limits=Limits()).end, flush=True)
finally:
    workspace.close()
"""


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


@pytest.fixture
def workspace(tree: Path, scratch: Path) -> Iterator[Workspace]:
    made = open_sandbox(scratch=scratch).fresh(tree, mount="/x/y", limits=LIMITS)
    yield made
    made.close()


def processes(word: str) -> dict[int, list[str]]:
    """Command lines of the machine that hold ``word``, by process number."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")[:-1]
        except OSError:
            continue
        if any(word in part for part in line) and int(entry.name) != os.getpid():
            found[int(entry.name)] = line
    return found


def until(condition: Callable[[], object], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())


def in_background(workspace: Workspace, *argv: str) -> tuple[threading.Thread, list[Completed]]:
    done: list[Completed] = []
    thread = threading.Thread(target=lambda: done.append(workspace.run(argv, env={}, limits=LIMITS)))
    thread.start()
    return thread, done


def groups() -> set[str]:
    """Control groups of this process that are there now."""
    mine = f"redfirst-{os.getpid()}-"
    return {str(p) for site in cgroups.sites() for p in site.folder.iterdir() if p.name.startswith(mine)}


def test_fifty_runs_leave_nothing(tree: Path, scratch: Path) -> None:
    sandbox = open_sandbox(scratch=scratch)

    def state() -> tuple[object, ...]:
        mounts = Path("/proc/self/mountinfo").read_text()
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        return len(os.listdir("/proc/self/fd")), mounts, children, list(scratch.iterdir()), groups()

    before = state()
    for number in range(50):
        workspace = sandbox.fresh(tree, mount="/x/y", limits=LIMITS, copy=number % 10 == 9)
        argv = ["/bin/sh", "-c", f"setsid sleep 61.75 & sleep {0 if number % 5 else 60}"]
        limits = LIMITS if number % 5 else Limits(wall_s=0.05)
        workspace.run(argv, env={}, limits=limits)
        workspace.changes()
        workspace.close()
    assert state() == before
    assert processes("61.75") == {}


def test_our_own_death_takes_everything_along(tree: Path, scratch: Path) -> None:
    nap = f"62.{os.getpid()}"
    argv = [sys.executable, "-c", OTHER, str(SOURCE), str(tree), str(scratch), nap]
    for pause in (0.0, 0.01, 0.015, 0.02, 0.025, 0.03, 0.05, 5):
        own = subprocess.Popen(argv)
        until(lambda: any(scratch.iterdir()))
        started = until(lambda: any(line[0] == NAP for line in processes(nap).values()), pause)
        own.kill()
        own.wait()
        assert until(lambda: not processes(nap))
        assert until(lambda: not processes(str(scratch)))
        assert not started or until(lambda: not any(scratch.iterdir()))
        for left in scratch.iterdir():
            os.utime(left, (0, 0))


def test_the_next_process_removes_what_a_killed_one_left(tree: Path, scratch: Path) -> None:
    old = scratch / "redfirst-box-old"
    (old / "tree" / "shut").mkdir(parents=True)
    (old / "tree" / "shut").chmod(0)
    os.utime(old, (0, 0))
    open_sandbox("plain", scratch=scratch).fresh(tree, mount="/x/y", limits=LIMITS).close()
    assert list(scratch.iterdir()) == []


def test_an_interrupt_ends_the_run_and_goes_on_up(tree: Path, scratch: Path) -> None:
    argv = [sys.executable, "-c", OTHER, str(SOURCE), str(tree), str(scratch), "63.75"]
    own = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
    assert until(lambda: any(line[0] == NAP for line in processes("63.75").values()))
    own.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in own.communicate(timeout=20)[1]
    assert processes("63.75") == {}
    assert list(scratch.iterdir()) == []


def test_the_sandbox_killed_from_outside_is_broken(workspace: Workspace) -> None:
    thread, done = in_background(workspace, NAP, "64.75")
    assert until(lambda: any(line[0] == NAP for line in processes("64.75").values()))
    outermost = min(number for number, line in processes("64.75").items() if "bwrap" in line[0])
    os.kill(outermost, signal.SIGKILL)
    thread.join(20)
    assert done[0].end is End.BROKEN
    assert "signal 9" in done[0].problem
    assert processes("64.75") == {}


def test_a_lost_holder_is_broken(scratch: Path, workspace: Workspace) -> None:
    thread, done = in_background(workspace, NAP, "0.5")
    holders = [
        n for n, line in processes(str(scratch)).items() if line[0] == "/bin/sh" and "upper" in line[2]
    ]
    assert len(holders) == 1
    os.kill(holders[0], signal.SIGKILL)
    thread.join(20)
    assert (done[0].end, "holds the workspace" in done[0].problem) == (End.BROKEN, True)
    with pytest.raises(SandboxError):
        workspace.run(["/bin/true"], env={}, limits=LIMITS)


def test_values_and_host_paths_are_in_no_command_line(workspace: Workspace) -> None:
    script = f"cat /proc/*/cmdline; sleep 0.5; : 65.{os.getpid()}"
    argv, done = ["/bin/sh", "-c", script], []
    thread = threading.Thread(
        target=lambda: done.append(workspace.run(argv, env={"A": "hid" + "den"}, limits=LIMITS))
    )
    thread.start()
    assert until(lambda: processes(f": 65.{os.getpid()}"))
    assert processes("hid" + "den") == {}
    thread.join()
    assert b"redfirst-box" not in done[0].out
    assert b"sleep" in done[0].out


def test_a_sandbox_that_cannot_start_is_broken(workspace: Workspace) -> None:
    done = workspace.run(["/bin/true"], cwd="not/there", env={}, limits=LIMITS)
    assert done.end is End.BROKEN
    assert "not/there" in done.problem


def test_a_workspace_outlives_the_thread_that_made_it(tree: Path, scratch: Path) -> None:
    made: list[Workspace] = []
    sandbox = open_sandbox(scratch=scratch)
    maker = threading.Thread(target=lambda: made.append(sandbox.fresh(tree, mount="/x/y", limits=LIMITS)))
    maker.start()
    maker.join()
    time.sleep(0.1)
    try:
        assert made[0].run(["/bin/cat", "top.txt"], env={}, limits=LIMITS).out == b"top\n"
    finally:
        made[0].close()


def test_runs_side_by_side(tree: Path, scratch: Path) -> None:
    sandbox = open_sandbox(scratch=scratch)
    outs: list[bytes] = []

    def one(number: int) -> None:
        workspace = sandbox.fresh(tree, mount="/x/y", limits=LIMITS)
        argv = ["/bin/sh", "-c", f"echo {number} >mine; sleep 0.2; cat mine"]
        outs.append(workspace.run(argv, env={}, limits=LIMITS).out)
        workspace.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outs) == [f"{number}\n".encode() for number in range(6)]
    assert list(scratch.iterdir()) == []


def refusal(tmp_path: Path, prepare: str, source: Path = SOURCE) -> str:
    """What ``fresh`` says in a shell of its own namespaces after ``prepare``."""
    tree = write_tree(tmp_path / "other")
    (tmp_path / "small").mkdir()
    script = f'{prepare}; exec {sys.executable} -c "$0" "$@"'
    argv = [
        "unshare",
        "-Urm",
        "sh",
        "-c",
        script,
        OTHER,
        str(source),
        str(tree),
        str(tmp_path / "small"),
        "0",
    ]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path)
    assert list((tmp_path / "small").iterdir()) == []
    return done.stderr.strip().splitlines()[-1] if done.returncode else done.stdout


def test_a_full_scratch_folder_is_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, "mount -t tmpfs -o size=16k small small")
    assert "SandboxError: there is no room in" in said
    assert "--scratch" in said


def test_missing_namespaces_are_told(tmp_path: Path) -> None:
    said = refusal(tmp_path, "echo 0 >/proc/sys/user/max_user_namespaces")
    assert "SandboxError: user namespaces are not available here" in said
    assert "--sandbox plain" in said


@pytest.mark.parametrize("scratch_name", ["not-there", "a-file"])
def test_an_unusable_scratch_folder_is_refused(tree: Path, tmp_path: Path, scratch_name: str) -> None:
    (tmp_path / "a-file").write_text("")
    for name in ("bubblewrap", "plain"):
        with pytest.raises(SandboxError, match="--scratch"):
            open_sandbox(name, scratch=tmp_path / scratch_name).fresh(tree, mount="/x/y", limits=LIMITS)


def test_an_unreadable_tree_is_refused(tmp_path: Path) -> None:
    for name in ("bubblewrap", "plain"):
        with pytest.raises(SandboxError, match="nowhere"):
            open_sandbox(name).fresh(tmp_path / "nowhere", mount="/x/y", limits=LIMITS)


def test_a_copy_that_does_not_fit_is_refused(tree: Path, scratch: Path) -> None:
    (tree / "big").write_bytes(b"x" * (3 << 20))
    small = Limits(disk_mb=2)
    with pytest.raises(SandboxError, match="disk_mb"):
        open_sandbox(scratch=scratch).fresh(tree, mount="/x/y", limits=small, copy=True)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("mount", ["relative", "/", "/usr", "/proc/x", "/dev", "/etc", "/a/\0b", "//x"])
def test_a_mount_that_cannot_be_is_refused(tree: Path, mount: str) -> None:
    with pytest.raises(SandboxError):
        open_sandbox().fresh(tree, mount=mount, limits=LIMITS)
