# SPDX-License-Identifier: Apache-2.0
"""A process that holds the mounts of one workspace in namespaces of its own, and lets go when we end.

It mounts a size-capped tmpfs on a private empty folder, lays an overlay over the tree (or copies it) and then
waits on a pipe. Nothing is mounted on the host, so nothing is left when the process ends, however we end.
We reach the mounts from outside through ``/proc/<pid>/root``; commands join its namespaces by ``nsenter``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.errors import SandboxError
from redfirst.core.limits import Limits
from redfirst.sandbox import private_folder
from redfirst.sandbox.private_folder import PrivateFolder

_SYSTEM_TOOLS = "/usr/bin:/bin:/usr/sbin:/sbin"

#: Each line printed says how far it came, so that no message has to be understood. Each line read names the
#: process group of the run that has started, or none. If we end without a word, it kills that group (bubblewrap
#: can leave a child behind that waits for it for ever, if it is killed by our death just after it made it),
#: unmounts and removes the private folder, which no one else would.
_COMMON = """
trap '' PIPE; group=
leave() {
    [ -z "$group" ] || kill -9 "-$group"
    cd /; umount -l "$1/m/tree" "$1/m"; rmdir "$1/m"; rm -f "$1/base" "$1/layer"; rmdir "$1"
}
trap 'leave "$1" 2>/dev/null' EXIT
echo user; cd "$1" || exit
mount -t tmpfs -o "size=$2m,nr_inodes=$3,mode=755,nosuid,nodev" redfirst m || exit
mkdir m/upper m/work m/tree m/runs m/etc || exit
echo room
"""
_OVERLAY = """
mount -t overlay -o "lowerdir=$4,upperdir=m/upper,workdir=m/work,userxattr" redfirst m/tree || exit
echo ready; while read -r line; do group=$line; done
"""
_COPY = """
for lower in $4; do cp -dR --preserve=mode,timestamps,links "$lower/." m/tree || exit; done
echo ready; while read -r line; do group=$line; done
"""
_NO_NAMESPACES = "run where user namespaces are allowed, or choose --sandbox plain, which isolates nothing"


@dataclass(slots=True)
class Holder:
    """The live process. ``root``: descriptor of the tmpfs; ``inside``: its path in the holder's namespace."""

    process: subprocess.Popen[bytes]
    private: PrivateFolder
    root: int

    @property
    def inside(self) -> str:
        return f"{self.private.path}/m"

    def join_argv(self) -> list[str]:
        """The start of a command line that enters the namespaces and becomes what follows."""
        spaces = f"/proc/{self.process.pid}/ns"
        return [
            tool("nsenter"),
            f"--user={spaces}/user",
            f"--mount={spaces}/mnt",
            "--preserve-credentials",
            "--",
        ]

    @property
    def ear(self) -> str:
        """The file by which a starting run tells its process group. It must do so itself: we may die first."""
        return f"/proc/{self.process.pid}/fd/0"

    def forget(self) -> None:
        """Say that the run is over, so that its process group is not killed any more."""
        if self.process.stdin is not None:
            with suppress(BrokenPipeError):
                os.write(self.process.stdin.fileno(), b"\n")

    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        """End the process, which unmounts everything, and remove the private folder."""
        with suppress(OSError):
            os.close(self.root)
        _end(self.process)
        self.private.discard()


def tool(name: str) -> str:
    """Path of a system program of util-linux. Raises SandboxError."""
    found = shutil.which(name, path=_SYSTEM_TOOLS)
    if not found:
        raise SandboxError(f"the program {name} is not there", "apt install util-linux mount")
    return found


def start(tree: Path, layer: Path | None, limits: Limits, *, copy: bool, scratch: Path | None) -> Holder:
    """Mount a fresh workspace over ``tree``. Raises SandboxError: no room, no namespaces, unreadable tree."""
    for base in (tree, layer):
        if base is not None and not os.access(base, os.R_OK | os.X_OK):
            raise SandboxError(
                f"the tree {base} cannot be read", "check that it is there and its permissions"
            )
    private = private_folder.make(str(scratch) if scratch else _usual_scratch())
    try:
        os.mkdir(private.path / "m")
        lowers = _link_lowers(private.path, tree, layer)
        order = " ".join(reversed(lowers)) if copy else ":".join(lowers)
        script = _COMMON + (_COPY if copy else _OVERLAY)
        arguments = [str(private.path), str(limits.disk_mb), str(limits.files), order]
        process = _spawn(script, arguments)
        try:
            return _await_ready(process, private, copy=copy)
        except BaseException:
            _end(process)
            raise
    except BaseException:
        private.discard()
        raise


def _usual_scratch() -> str:
    """The user's runtime folder where there is one, else the temporary folder; only little is kept there."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return runtime if os.path.isabs(runtime) and os.access(runtime, os.W_OK) else tempfile.gettempdir()


def _link_lowers(private: Path, tree: Path, layer: Path | None) -> list[str]:
    """Short names for the trees, so that no character of a path can be taken for part of a mount option."""
    lowers = []
    for name, target in (("layer", layer), ("base", tree)):
        if target is not None:
            os.symlink(os.path.abspath(target), private / name)
            lowers.append(name)
    return lowers


def _spawn(script: str, arguments: list[str]) -> subprocess.Popen[bytes]:
    argv = [tool("unshare"), "-Urm", "--propagation", "private", "--", "/bin/sh", "-c", script, "sh"]
    return subprocess.Popen(
        [*argv, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": _SYSTEM_TOOLS, "LC_ALL": "C"},
        start_new_session=True,
        cwd="/",
    )


def _await_ready(process: subprocess.Popen[bytes], private: PrivateFolder, *, copy: bool) -> Holder:
    output = process.stdout
    assert output is not None
    said = []
    for line in output:
        said.append(line.decode("utf-8", "replace").strip())
        if said[-1] == "ready":
            output.close()
            try:
                root = os.open(f"/proc/{process.pid}/root{private.path}/m", os.O_RDONLY | os.O_DIRECTORY)
            except OSError as error:
                raise SandboxError(
                    f"the mounts of the workspace cannot be reached ({error.strerror})", _NO_NAMESPACES
                ) from error
            return Holder(process, private, root)
    output.close()
    raise _failure(said, copy=copy)


def _failure(said: list[str], *, copy: bool) -> SandboxError:
    words = "; ".join(line for line in said if line not in ("user", "room"))
    if "user" not in said:
        return SandboxError(f"user namespaces are not available here ({words})", _NO_NAMESPACES)
    if "room" not in said:
        return SandboxError(f"a private file system cannot be mounted here ({words})", _NO_NAMESPACES)
    if copy:
        return SandboxError(f"the tree cannot be copied ({words})", "raise the limits disk_mb and files")
    return SandboxError(f"the tree cannot be overlaid ({words})", _NO_NAMESPACES)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    process.wait()
