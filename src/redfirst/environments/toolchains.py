# SPDX-License-Identifier: Apache-2.0
"""The toolchains of other languages: the real folders behind what is on PATH, seen read-only."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

from redfirst.core.digests import digest
from redfirst.core.environment import Bind, Environment
from redfirst.core.errors import EnvironmentFailed
from redfirst.environments.mounts import FIXED_MOUNT, SYSTEM_PATH, bindable, within
from redfirst.environments.records import load, record_file, save
from redfirst.patches.base import PreparedBase

_ASK_S = 60


def toolchain_environment(language: str, base: PreparedBase, *, cache: Path) -> Environment:
    """The environment for ``rust`` or ``node`` from the tools on PATH.

    Raises EnvironmentFailed when the tool is missing or does not start.
    """
    if language == "rust":
        return _rust(base, cache)
    if language == "node":
        return _node(base, cache)
    raise EnvironmentFailed(f"no toolchain is known for {language}", "only rust and node have one")


def _rust(base: PreparedBase, cache: Path) -> Environment:
    rustc = _tool("rustc", "install Rust, or put its bin folder on PATH")
    channel = _channel(base.tree_dir)
    extra = {"RUSTUP_TOOLCHAIN": channel} if channel else {}
    sysroot = _answer([rustc, "--print", "sysroot"], extra, cache)
    version = _answer([rustc, "-vV"], extra, cache)
    home = os.path.realpath(os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo"))
    stores = [os.path.join(home, name) for name in ("registry", "git")]
    system = any(within(sysroot, folder) for folder in ("/usr", "/bin"))
    binds = [] if system else [Bind(os.path.realpath(sysroot), sysroot)]
    binds.extend(Bind(store, store) for store in stores if os.path.isdir(store))
    variables = (("CARGO_HOME", home), ("CARGO_NET_OFFLINE", "true"), ("LANG", "C.UTF-8"))
    return Environment(
        kind="toolchain",
        python=None,
        prefix=None,
        mount=FIXED_MOUNT,
        binds=tuple(binds),
        path=tuple(dict.fromkeys((os.path.join(sysroot, "bin"), *SYSTEM_PATH))),
        variables=variables,
        fingerprint=digest(b"rust", version.encode()),
        notes=(version.splitlines()[0],),
    )


def _channel(tree: Path) -> str:
    """The toolchain that the checkout pins by name; a path of its own is never followed."""
    for name in ("rust-toolchain.toml", "rust-toolchain"):
        try:
            text = (tree / name).read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue
        try:
            table = tomllib.loads(text).get("toolchain", {})
        except tomllib.TOMLDecodeError:
            return _word(text.strip())
        return _word(str(table.get("channel", ""))) if isinstance(table, dict) else ""
    return ""


def _word(text: str) -> str:
    return text if text and all(letter.isalnum() or letter in "-._" for letter in text) else ""


def _node(base: PreparedBase, cache: Path) -> Environment:
    node = _tool("node", "install Node.js, or put its bin folder on PATH")
    version = _answer([node, "--version"], {}, cache)
    real = _answer([node, "-p", "process.execPath"], {}, cache)
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(real)))
    binds = []
    if not within(prefix, "/usr"):
        if not bindable(prefix):
            raise EnvironmentFailed(
                f"node lies in {prefix}, a home folder", "install it in a folder of its own"
            )
        binds.append(Bind(prefix, prefix))
    modules = base.root / "node_modules"
    if modules.is_dir() and not (base.tree_dir / "node_modules").exists():
        binds.append(Bind(os.path.realpath(modules), f"{FIXED_MOUNT}/node_modules"))
    return Environment(
        kind="toolchain",
        python=None,
        prefix=None,
        mount=FIXED_MOUNT,
        binds=tuple(binds),
        path=tuple(dict.fromkeys((os.path.join(prefix, "bin"), *SYSTEM_PATH))),
        variables=(("LANG", "C.UTF-8"),),
        fingerprint=digest(b"node", version.encode(), _locked(modules)),
        notes=(f"node {version}",),
    )


def _locked(modules: Path) -> bytes:
    """What the package manager says it installed there."""
    try:
        return (modules / ".package-lock.json").read_bytes()
    except OSError:
        return b""


def _tool(name: str, todo: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise EnvironmentFailed(f"{name} is not on PATH", todo)
    return found


def _answer(argv: list[str], extra: dict[str, str], cache: Path) -> str:
    """What the tool prints, kept until its file or the version manager's settings change."""
    settings = os.path.join(os.environ.get("RUSTUP_HOME") or os.path.expanduser("~/.rustup"), "settings.toml")
    chosen = extra.get("RUSTUP_TOOLCHAIN", os.environ.get("RUSTUP_TOOLCHAIN", ""))
    path = record_file(cache, "tools", *argv, chosen)
    known = load(path)
    if known is not None:
        return str(known["answer"])
    environment = {**os.environ, "RUSTUP_AUTO_INSTALL": "0", **extra}
    try:
        done = subprocess.run(
            argv,
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFailed(f"{argv[0]} does not start", "try it by hand") from error
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise EnvironmentFailed(f"{argv[0]} fails: {''.join(last)[:300]}", "try it by hand")
    answer = done.stdout.decode("utf-8", "replace").strip()
    folder = [answer] if answer.startswith("/") and "\n" not in answer else []
    save(path, {"answer": answer}, [argv[0], os.path.realpath(argv[0]), settings, *folder])
    return answer
