# SPDX-License-Identifier: Apache-2.0
"""A process that holds the private mounts of one workspace for as long as we keep its pipe open."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.errors import SandboxError

# $1 folder, $2 MiB, $3 inodes, $4 tree, $5 layer or "", $6 "copy" or "overlay"
_SCRIPT = r"""
set -e
cd "$1"
mount -t tmpfs -o "size=${2}m,nr_inodes=$3,mode=755" redfirst "$1"
cd "$1"
mkdir up wk tree base layer tmp
mount --bind -o ro "$4" base
lower=base
if [ -n "$5" ]; then mount --bind -o ro "$5" layer; lower=layer:base; fi
if [ "$6" = copy ]; then
  cp -a base/. tree/
  if [ -n "$5" ]; then cp -a layer/. tree/; fi
else
  mount -t overlay redfirst -o "lowerdir=$lower,upperdir=up,workdir=wk,userxattr" tree
fi
echo ready
read -r _ || :
"""


@dataclass(frozen=True)
class Holder:
    """The running process; ``root`` is its mounts as the host reaches them."""

    process: subprocess.Popen[bytes]
    folder: Path

    @property
    def root(self) -> str:
        return f"/proc/{self.process.pid}/root{self.folder}"

    def close(self) -> None:
        """End the holder: its mounts go with it."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def open_holder(
    scratch: Path, tree: Path, layer: Path | None, *, disk_mb: int, files: int, copy: bool
) -> Holder:
    """Start a holder over ``tree``. Raises SandboxError: no user namespaces, no room, unreadable tree."""
    import tempfile

    try:
        folder = Path(tempfile.mkdtemp(prefix="redfirst-", dir=scratch)).resolve()
        _prove_room(folder)
    except OSError as error:
        raise SandboxError(
            f"no room for a workspace in {scratch} ({error.strerror})", "use another --scratch"
        ) from None
    argv = ["unshare", "-Urm", "--propagation", "private", "sh", "-c", _SCRIPT, "redfirst"]
    argv += [
        str(folder),
        str(disk_mb),
        str(files),
        str(tree),
        str(layer or ""),
        "copy" if copy else "overlay",
    ]
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.defpath},
        )
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise SandboxError(f"cannot start unshare ({error.strerror})", "install util-linux") from None
    holder = Holder(process, folder)
    assert process.stdout is not None
    assert process.stderr is not None
    if process.stdout.readline() != b"ready\n":
        told = process.stderr.read(2000).decode("utf-8", "replace").strip()
        holder.close()
        raise SandboxError(
            f"no workspace could be mounted: {told or 'unshare failed'}",
            "user namespaces must be allowed; without them only --sandbox plain is left",
        )
    return holder


def _prove_room(folder: Path) -> None:
    """Write 64 KiB and take it away again: a full scratch folder must fail here, not in a test."""
    probe = folder / "room"
    with probe.open("wb") as handle:
        handle.write(b"\0" * 65536)
        handle.flush()
        os.fsync(handle.fileno())
    probe.unlink()
