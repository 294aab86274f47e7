# SPDX-License-Identifier: Apache-2.0
"""What every backend does alike; where plain differs is listed by name in ``PLAIN_LACKS``."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from redfirst.core.environment import Bind
from redfirst.core.errors import SandboxError
from redfirst.core.limits import Limits
from redfirst.sandbox.protocol import Change, ChangeKind, Completed, End, FileEdit, Sandbox, Workspace
from redfirst.sandbox.select import open_sandbox

LIMITS = Limits(wall_s=20, cpu_s=20, memory_mb=512, processes=64, file_mb=64, output_mb=1, disk_mb=64)
MOUNT = "/somewhere/checkout"
PLAIN_LACKS = {
    "test_only_the_named_paths_are_writable",
    "test_the_disk_is_bounded",
    "test_a_bind_cannot_be_written",
    "test_a_further_run_has_no_leftovers_of_the_first_in_its_folders",
    "test_the_mount_may_lie_anywhere",
}
Run = tuple[Workspace, Completed]


@pytest.fixture(params=["bubblewrap", "bubblewrap copy", "plain"])
def kind(request: pytest.FixtureRequest) -> str:
    name = request.node.name.partition("[")[0]
    if request.param == "plain" and name in PLAIN_LACKS:
        pytest.skip("the plain backend does not promise this")
    return str(request.param)


@pytest.fixture
def sandbox(kind: str, tmp_path: Path) -> Sandbox:
    (tmp_path / "scratch").mkdir()
    return open_sandbox(kind.split()[0], scratch=tmp_path / "scratch")


@pytest.fixture
def workspace(sandbox: Sandbox, kind: str, tree: Path) -> Iterator[Workspace]:
    made = sandbox.fresh(tree, mount=MOUNT, limits=LIMITS, copy="copy" in kind)
    yield made
    made.close()
    made.close()


def sh(workspace: Workspace, script: str, *arguments: str, limits: Limits = LIMITS) -> Completed:
    return workspace.run(["/bin/sh", "-c", script, "sh", *arguments], env={}, limits=limits)


def changed(workspace: Workspace) -> dict[str, str]:
    return {change.path: change.kind.value for change in workspace.changes()}


def test_output_status_and_report_come_back(workspace: Workspace) -> None:
    done = workspace.run(
        ["/bin/sh", "-c", 'cat; echo err >&2; printf told >"/proc/self/fd/$REDFIRST_REPORT_FD"; exit 3'],
        env={},
        limits=LIMITS,
        stdin=b"typed\nin" * 50_000,
    )
    assert (done.end, done.exit, done.signal) == (End.EXITED, 3, None)
    assert (done.out, done.err, done.report) == (b"typed\nin" * 50_000, b"err\n", b"told")
    assert done.problem == ""
    assert done.reached == frozenset()


def test_standard_input_may_stay_unread(workspace: Workspace) -> None:
    done = workspace.run(["/bin/true"], env={}, limits=LIMITS, stdin=b"x" * (4 << 20))
    assert (done.end, done.exit) == (End.EXITED, 0)


def test_the_environment_is_what_was_given(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "abc")
    done = workspace.run(
        ["/usr/bin/env", "-0"], env={"A": "b c\nd", "LANG": "C", "x.y-z": "1"}, limits=LIMITS
    )
    seen = dict(pair.split("=", 1) for pair in done.out.decode().split("\0")[:-1])
    assert set(seen) == {"A", "LANG", "x.y-z", "HOME", "TMPDIR", "PATH", "REDFIRST_REPORT_FD"}
    assert seen["A"] == "b c\nd"


def test_arguments_arrive_as_they_are(workspace: Workspace) -> None:
    words = ["", "a b", "$HOME", "'\"\\", "é\n", "--", "-x"]
    done = workspace.run(["/usr/bin/printf", r"%s\0", *words], env={}, limits=LIMITS)
    assert done.out.decode() == "\0".join(words) + "\0"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_signal_is_told(workspace: Workspace, number: signal.Signals) -> None:
    done = sh(workspace, f"kill -{int(number)} $$")
    assert (done.end, done.exit, done.signal) == (End.SIGNALLED, None, number)


def test_a_missing_command_is_status_127(workspace: Workspace) -> None:
    done = workspace.run(["no-such-command"], env={}, limits=LIMITS)
    assert (done.end, done.exit) == (End.EXITED, 127)
    assert b"no-such-command" in done.err


def test_the_folder_to_start_in(workspace: Workspace) -> None:
    done = workspace.run(["/bin/pwd"], cwd="folder", env={}, limits=LIMITS)
    assert done.out.decode() == f"{workspace.mount}/folder\n"
    with pytest.raises(SandboxError):
        workspace.run(["/bin/pwd"], cwd="../..", env={}, limits=LIMITS)


def test_edits_are_seen_and_are_no_change(workspace: Workspace, tree: Path) -> None:
    edits = [
        FileEdit("top.txt", b"new\n"),
        FileEdit("a/b/run.sh", b"#!/bin/sh\necho ran\n", executable=True),
        FileEdit("folder/inner.txt", None),
        FileEdit("tool.sh/now-a-folder", b""),
        FileEdit("tool.sh", None),
        FileEdit("never-there", None),
    ]
    workspace.edit(edits)
    done = sh(workspace, "cat top.txt; a/b/run.sh; ls folder; ls tool.sh")
    assert done.out == b"new\nran\nnow-a-folder\n"
    assert changed(workspace) == {}
    assert workspace.read("top.txt") == b"new\n"
    assert (tree / "top.txt").read_text() == "top\n"


def test_changes_to_edited_files(workspace: Workspace) -> None:
    workspace.edit([FileEdit("laid.txt", b"1"), FileEdit("mode.sh", b"1"), FileEdit("gone", b"1")])
    workspace.edit([FileEdit("top.txt", None)])
    sh(workspace, "echo 2 >laid.txt; chmod +x mode.sh; rm gone; echo back >top.txt")
    assert changed(workspace) == {
        "laid.txt": "modified", "mode.sh": "modified", "gone": "removed", "top.txt": "added",
    }  # fmt: skip


def test_every_kind_of_change(workspace: Workspace) -> None:
    script = """
        echo more >>top.txt; rm -r folder; mkdir folder new new/empty; echo x >folder/other; echo y >new/file
        chmod -x tool.sh; ln -s /etc/passwd link; mkfifo pipe; mkdir -p .git/hooks; echo z >.git/hooks/pre-commit
    """
    assert sh(workspace, script).exit == 0
    assert changed(workspace) == {
        "top.txt": "modified", "tool.sh": "modified", "folder/inner.txt": "removed", "folder/other": "added",
        "new/file": "added", "new/empty": "added", "link": "added", "pipe": "added",
        ".git/hooks/pre-commit": "added",
    }  # fmt: skip
    assert workspace.read("new/file") == b"y\n"
    assert workspace.read("link") is None
    assert workspace.read("pipe") is None
    assert workspace.read("nothing") is None


def test_written_and_restored_is_modified(workspace: Workspace) -> None:
    assert sh(workspace, "cp top.txt $TMPDIR/k; echo other >top.txt; cat $TMPDIR/k >top.txt").exit == 0
    assert changed(workspace) == {"top.txt": "modified"}


def test_types_that_change(workspace: Workspace) -> None:
    assert (
        sh(workspace, "rm top.txt; mkdir top.txt; echo x >top.txt/in; rm -r folder; ln -s . folder").exit == 0
    )
    found = changed(workspace)
    assert found["top.txt/in"] == "added"
    assert found["folder/inner.txt"] == "removed"
    assert set(found) == {"top.txt", "top.txt/in", "folder", "folder/inner.txt"}


def test_nothing_is_carried_from_one_workspace_to_the_next(
    sandbox: Sandbox, kind: str, tree: Path, workspace: Workspace
) -> None:
    assert sh(workspace, "echo dirt >dirt; rm top.txt").exit == 0
    other = sandbox.fresh(tree, mount=MOUNT, limits=LIMITS, copy="copy" in kind)
    try:
        assert sh(other, "ls").out == b"folder\ntool.sh\ntop.txt\n"
    finally:
        other.close()
    assert sorted(path.name for path in tree.iterdir()) == ["folder", "tool.sh", "top.txt"]


def test_two_runs_share_the_tree_alone(workspace: Workspace) -> None:
    assert sh(workspace, 'echo 1 >made; echo 1 >"$HOME/h"; echo 1 >"$TMPDIR/t"').exit == 0
    assert sh(workspace, 'cat made; ls -A "$HOME" "$TMPDIR" | grep -v :').out.strip() == b"1"


def test_a_further_run_has_no_leftovers_of_the_first_in_its_folders(workspace: Workspace) -> None:
    assert (
        sh(workspace, "head -c 30000000 /dev/zero >/tmp/big; mkdir /dev/shm/x; chmod 0 /dev/shm/x").exit == 0
    )
    done = sh(workspace, "ls -A /dev/shm; head -c 40000000 /dev/zero >/tmp/big")
    assert (done.exit, done.out) == (0, b"")


def test_a_layer_lies_over_the_tree(sandbox: Sandbox, kind: str, tree: Path, tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    (layer / "folder").mkdir(parents=True)
    (layer / "folder" / "built.so").write_text("built")
    (layer / "top.txt").write_text("layer\n")
    workspace = sandbox.fresh(tree, mount=MOUNT, layer=layer, limits=LIMITS, copy="copy" in kind)
    try:
        done = sh(workspace, "cat top.txt; ls folder; echo x >>folder/built.so; rm folder/inner.txt")
        assert done.out == b"layer\nbuilt.so\ninner.txt\n"
        assert changed(workspace) == {"folder/built.so": "modified", "folder/inner.txt": "removed"}
        assert workspace.read("top.txt") == b"layer\n"
    finally:
        workspace.close()
    assert (layer / "folder" / "built.so").read_text() == "built"


def test_binds_inside_the_mount_are_seen_and_no_change(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "file").write_text("in the environment\n")
    binds = [
        Bind(str(tmp_path / "venv"), f"{MOUNT}/.venv"),
        Bind(str(tmp_path / "venv" / "file"), f"{MOUNT}/deep/er/file"),
        Bind(str(tmp_path / "venv"), "/opt/elsewhere"),
    ]
    script = "cat .venv/file deep/er/file; cat $1/file"
    done = workspace.run(
        ["/bin/sh", "-c", script, "sh", "/opt/elsewhere"], env={}, limits=LIMITS, binds=binds
    )
    assert done.out == b"in the environment\n" * 3
    assert changed(workspace) == {}


def test_a_bind_cannot_be_written(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "shown").mkdir()
    read_only = Bind(str(tmp_path / "shown"), "/opt/shown")
    for bind, status in ((read_only, 2), (replace(read_only, writable=True), 0)):
        argv = ["/bin/sh", "-c", "echo x >/opt/shown/file"]
        assert workspace.run(argv, env={}, limits=LIMITS, binds=[bind]).exit == status


def test_a_missing_bind_is_an_error(workspace: Workspace) -> None:
    if isinstance(workspace.mount, str) and workspace.mount != MOUNT:
        pytest.skip("the plain backend links what may be missing")
    with pytest.raises(SandboxError, match="/no/such/folder"):
        workspace.run(["/bin/true"], env={}, limits=LIMITS, binds=[Bind("/no/such/folder", "/opt/x")])


def test_only_the_named_paths_are_writable(workspace: Workspace) -> None:
    script = "echo x >>top.txt; echo x >folder/inner.txt && echo x >made/here && touch $HOME/y && echo fine"
    done = workspace.run(
        ["/bin/sh", "-c", script], env={}, limits=LIMITS, writable=["folder", "made"], stdin=b""
    )
    assert done.out == b"fine\n"
    assert changed(workspace) == {"folder/inner.txt": "modified", "made/here": "added"}
    assert workspace.run(["/bin/sh", "-c", "echo x >x"], env={}, limits=LIMITS, writable=[]).exit == 2


@pytest.mark.parametrize(
    ("script", "limits", "end"),
    [
        ("sleep 60", {"wall_s": 0.3}, End.WALL),
        ("yes", {}, End.OUTPUT),
        ("yes >&2", {}, End.OUTPUT),
        ("while :; do :; done", {"cpu_s": 0.3}, End.CPU),
        ("head -c 20000000 /dev/zero >big", {"file_mb": 8}, End.FILE),
    ],
)
def test_a_limit_ends_the_run(workspace: Workspace, script: str, limits: dict[str, float], end: End) -> None:
    done = sh(workspace, f"exec {script}" if " " in script and end is not End.CPU else script,
              limits=replace(LIMITS, **limits))  # fmt: skip
    assert (done.end, done.exit) == (end, None)
    assert len(done.out) + len(done.err) <= 1 << 20


def test_too_much_memory_ends_the_run(workspace: Workspace) -> None:
    script = "kept = [bytearray(b'x' * (8 << 20)) for _ in range(200)]"
    done = workspace.run(["/usr/bin/python3", "-c", script], env={}, limits=replace(LIMITS, memory_mb=100))
    assert done.end is End.MEMORY
    assert End.MEMORY in done.reached


def test_the_disk_is_bounded(workspace: Workspace) -> None:
    done = sh(workspace, "head -c 60000000 /dev/zero >one; head -c 60000000 /dev/zero >two; rm one; echo on")
    assert done.out == b"on\n"
    assert b"No space left" in done.err
    done = sh(workspace, "head -c 60000000 /dev/zero >three; sleep 0.2")
    assert End.DISK in done.reached


def test_a_daemon_does_not_keep_us_waiting(workspace: Workspace) -> None:
    done = sh(workspace, "sleep 71.25 & setsid sleep 71.25 & echo out")
    assert (done.end, done.exit, done.out) == (End.EXITED, 0, b"out\n")
    assert done.wall_s < 10
    assert b"71.25" not in b"".join(command_lines())


def command_lines() -> Iterator[bytes]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                yield (entry / "cmdline").read_bytes()
            except OSError:
                continue


def test_a_closed_workspace_runs_nothing(workspace: Workspace) -> None:
    workspace.close()
    with pytest.raises(SandboxError):
        workspace.run(["/bin/true"], env={}, limits=LIMITS)


@pytest.mark.parametrize("path", ["../out", "/etc/out", "a/../../out", ""])
def test_an_edit_cannot_leave_the_tree(workspace: Workspace, path: str) -> None:
    with pytest.raises(SandboxError):
        workspace.edit([FileEdit(path, b"x")])


def test_an_edit_follows_no_link(sandbox: Sandbox, kind: str, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "aim").mkdir()
    (tree / "link").symlink_to(tmp_path / "aim")
    workspace = sandbox.fresh(tree, mount=MOUNT, limits=LIMITS, copy="copy" in kind)
    try:
        with pytest.raises(SandboxError):
            workspace.edit([FileEdit("link/x", b"x")])
        workspace.edit([FileEdit("link", b"now a file")])
        assert workspace.read("link") == b"now a file"
        assert changed(workspace) == {}
    finally:
        workspace.close()
    assert list((tmp_path / "aim").iterdir()) == []


@pytest.mark.parametrize(
    "mount",
    ["/tmp", "/tmp/a/b", "/root/x", "/home/redfirst", "/usr/local/src/not-there/x", "/var/x/y", "/run/x"],
)
def test_the_mount_may_lie_anywhere(sandbox: Sandbox, kind: str, tree: Path, mount: str) -> None:
    workspace = sandbox.fresh(tree, mount=mount, limits=LIMITS, copy="copy" in kind)
    try:
        done = sh(
            workspace, 'cat "$1/top.txt"; pwd; ls -A ..; echo x >"$HOME/x" && echo x >"$TMPDIR/x"', mount
        )
        assert (done.exit, done.problem) == (0, "")
        assert done.out.startswith(f"top\n{mount}\n".encode())
        if mount in ("/tmp/a/b", "/root/x", "/var/x/y"):
            assert done.out == f"top\n{mount}\n{mount.rpartition('/')[2]}\n".encode()
        assert changed(workspace) == {}
    finally:
        workspace.close()


def test_names_of_all_kinds(workspace: Workspace, sandbox: Sandbox) -> None:
    names: Sequence[str] = ("a b", "quote'\"", "new\nline", "back\\slash", "comma,colon:", "é", "\udcff")
    workspace.edit([FileEdit(f"{name}/file", b"x") for name in names])
    done = sh(
        workspace, 'for folder in */; do [ -f "$folder/file" ] && echo x >"$folder/made"; done; ls | wc -l'
    )
    assert done.exit == 0
    assert set(workspace.changes()) == {Change(f"{name}/made", ChangeKind.ADDED) for name in names}
    assert dict(sandbox.guarantees())["wall"] == "clock"


def test_a_tree_with_a_difficult_path(sandbox: Sandbox, kind: str, tree: Path) -> None:
    odd = tree.rename(tree.with_name("a,b:c \\ d'e"))
    workspace = sandbox.fresh(odd, mount=MOUNT, limits=LIMITS, copy="copy" in kind)
    try:
        assert sh(workspace, "cat top.txt").out == b"top\n"
    finally:
        workspace.close()


def test_modes_are_kept(workspace: Workspace) -> None:
    done = sh(workspace, "./tool.sh; umask")
    assert done.out == b"tool\n0022\n"
