# SPDX-License-Identifier: Apache-2.0
"""Small live attacks on the sandbox from inside, so that its promises are seen to hold on this machine."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from redfirst.core.environment import Environment
from redfirst.core.errors import SandboxError
from redfirst.core.limits import Limits
from redfirst.environments.interpreter import probe
from redfirst.environments.mounts import FIXED_MOUNT, Placement, environment_of
from redfirst.sandbox.protocol import Completed, End, Sandbox

_CANARY = "REDFIRST_CANARY"
_LIMITS = Limits(wall_s=20, cpu_s=20, memory_mb=1024, processes=64, file_mb=8, output_mb=2, disk_mb=64)
_SIGHT = """
import errno, json, os, socket, sys
canary, homes = sys.argv[1], sys.argv[2:]
found = {}
names = [name for _, name in socket.if_nameindex()]
out = socket.socket(); out.settimeout(2)
try:
    out.connect(("192.0.2.1", 9)); reached = "connected"
except socket.timeout:
    reached = "sent"
except OSError as error:
    reached = errno.errorcode.get(error.errno, "error")
found["network"] = [reached not in ("connected", "sent"), "a connection outwards: " + reached]
try:
    server = socket.create_server(("127.0.0.1", 0)); socket.create_connection(server.getsockname(), 2)
    found["loopback"] = [True, "works"]
except OSError as error:
    found["loopback"] = [False, str(error)]
leaks = [name for name, value in os.environ.items() if canary in value]
for entry in os.listdir("/proc"):
    try:
        with open("/proc/%s/environ" % entry, "rb") as file:
            leaks += [entry] * (canary.encode() in file.read())
    except (OSError, ValueError):
        pass
found["variables"] = [not leaks, "the caller's variables are seen in " + ", ".join(leaks) if leaks else "unseen"]
seen = [path for path in homes if os.path.exists(path)]
found["home"] = [not seen, "seen: " + ", ".join(seen[:3]) if seen else "unseen"]
written = []
for folder in ("/", "/usr", "/etc", "/usr/bin"):
    try:
        path = os.path.join(folder, "redfirst-check"); open(path, "w").close(); os.unlink(path); written.append(folder)
    except OSError:
        pass
found["writing outside"] = [not written, "possible in " + ", ".join(written) if written else "refused"]
try:
    for folder in (os.environ["HOME"], os.environ["TMPDIR"], os.getcwd()):
        open(os.path.join(folder, "scratch"), "w").close()
    found["scratch"] = [True, "home, temporary folder and workspace can be written"]
except (OSError, KeyError) as error:
    found["scratch"] = [False, str(error)]
os.write(int(os.environ["REDFIRST_REPORT_FD"]), json.dumps(found).encode())
"""
_FORKS = """
import os, time
count = 0
try:
    while count < 300:
        if os.fork() == 0:
            time.sleep(5); os._exit(0)
        count += 1
except OSError:
    pass
os.write(int(os.environ["REDFIRST_REPORT_FD"]), str(count).encode())
os._exit(0)
"""
_MEMORY = "kept = [bytearray(b'x' * (16 << 20)) for _ in range(128)]"
_OUTPUT = "import sys\nfor _ in range(64): sys.stdout.write('x' * (1 << 20))"
_SLEEP = "import time\ntime.sleep(20)"


@dataclass(frozen=True, slots=True)
class Check:
    """One promise of the sandbox and whether it was seen to hold."""

    name: str
    holds: bool
    detail: str


def check_sandbox(sandbox: Sandbox, cache: Path, folder: Path) -> tuple[Check, ...]:
    """Try the promises of ``sandbox`` over the tree ``folder``. Raises SandboxError when nothing starts.

    A few seconds at most; every attack is bounded, so a sandbox without limits survives it.
    """
    found = probe(sys.executable, folder, cache)
    if isinstance(found, str):
        raise SandboxError(f"{sys.executable} {found}", "install redfirst with another Python")
    environment = environment_of(found, Placement(FIXED_MOUNT, None), folder, "own")
    checks = list(_sights(sandbox, environment, folder))
    forks = _run(sandbox, environment, folder, _FORKS, _LIMITS)
    count = int(forks.report or b"0")
    checks.append(
        Check("processes", count < 2 * _LIMITS.processes, f"{count} at a limit of {_LIMITS.processes}")
    )
    memory = _run(sandbox, environment, folder, _MEMORY, replace(_LIMITS, memory_mb=256))
    checks.append(Check("memory", memory.exit != 0, f"2 GiB at a limit of 256 MiB: {_end(memory)}"))
    output = _run(sandbox, environment, folder, _OUTPUT, _LIMITS)
    bounded = len(output.out) <= (_LIMITS.output_mb + 1) << 20
    checks.append(Check("output", bounded, f"64 MiB at a limit of {_LIMITS.output_mb} MiB: {_end(output)}"))
    wall = _run(sandbox, environment, folder, _SLEEP, replace(_LIMITS, wall_s=1))
    checks.append(Check("wall clock", wall.end is End.WALL, f"20 s at a limit of 1 s: {_end(wall)}"))
    return tuple(checks)


def _sights(sandbox: Sandbox, environment: Environment, folder: Path) -> Iterator[Check]:
    with _canary() as canary:
        done = _run(sandbox, environment, folder, _SIGHT, _LIMITS, canary, *_private_files())
    if done.end is not End.EXITED or not done.report:
        last = done.err.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise SandboxError(
            f"the {sandbox.name} sandbox starts nothing here ({done.problem or ''.join(last) or _end(done)})",
            "see the documentation of --sandbox",
        )
    for name, (holds, detail) in json.loads(done.report).items():
        yield Check(name, bool(holds), str(detail))


@contextmanager
def _canary() -> Iterator[str]:
    """A value in our own environment that nothing inside may find."""
    value = secrets.token_hex(16)
    os.environ[_CANARY] = value
    try:
        yield value
    finally:
        del os.environ[_CANARY]


def _private_files() -> list[str]:
    """Some plain files of the user's home."""
    try:
        with os.scandir(os.path.expanduser("~")) as entries:
            return sorted(entry.path for entry in entries if entry.is_file())[:40]
    except OSError:
        return []


def _run(
    sandbox: Sandbox, environment: Environment, folder: Path, script: str, limits: Limits, *arguments: str
) -> Completed:
    workspace = sandbox.fresh(folder, mount=environment.mount, binds=environment.binds, limits=limits)
    try:
        return workspace.run(
            [str(environment.python), "-I", "-S", "-c", script, *arguments],
            env={"PATH": ":".join(environment.path), "LANG": "C.UTF-8"},
            limits=limits,
        )
    finally:
        workspace.close()


def _end(done: Completed) -> str:
    if done.end is End.EXITED:
        return f"exit status {done.exit}"
    return done.end.value
