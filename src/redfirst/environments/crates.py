# SPDX-License-Identifier: Apache-2.0
"""Fetches the crates of a Rust project once, so that its tests can be built without the network."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from redfirst.core.digests import digest
from redfirst.core.environment import Bind, Environment
from redfirst.core.errors import EnvironmentFailed
from redfirst.environments.build import LIMITS, keep_products, locked, run_step
from redfirst.environments.pip_settings import network_settings
from redfirst.patches.base import PreparedBase
from redfirst.sandbox.protocol import Sandbox

_FOREIGN = re.compile(rb'^source = "(registry|sparse|git)\+', re.MULTILINE)
_TABLE = re.compile(rb"^\[(.*\.)?(dev-|build-)?dependencies\b[^\]]*\]\s*\n(?!\s*(\[|$))", re.MULTILINE)


def with_crates(
    environment: Environment, base: PreparedBase, *, cache: Path, sandbox: Sandbox, log: Callable[[str], None]
) -> Environment:
    """The environment with every crate that the project needs, from the user's own store or fetched now.

    Raises EnvironmentFailed with what cargo said, SandboxError when the sandbox cannot be had.
    """
    if not needs_crates(base.tree_dir):
        return environment
    key = digest(environment.fingerprint.encode(), *_manifests(base.tree_dir))
    folder = Path(os.path.realpath(cache)) / "environments" / "crates" / key[:32]
    marker = folder / "complete.json"
    if not marker.is_file():
        with locked(folder):
            if not marker.is_file():
                _fetch(environment, base, sandbox, folder, log)
    kept = json.loads(marker.read_bytes())
    layer = str(folder / "layer") if kept["layer"] else None
    home = folder / "cargo"
    if not kept["fetched"]:
        return replace(environment, layer=layer)
    own = dict(environment.variables)["CARGO_HOME"]
    binds = tuple(bind for bind in environment.binds if not bind.inside.startswith(own + os.sep))
    variables = tuple(
        (name, str(home) if name == "CARGO_HOME" else value) for name, value in environment.variables
    )
    return replace(
        environment,
        layer=layer,
        binds=(*binds, Bind(str(home), str(home))),
        variables=variables,
        kind="built",
    )


def needs_crates(tree: Path) -> bool:
    """Whether anything comes from outside the tree, by its lock file or, without one, by its manifest."""
    lock, manifest = _read(tree / "Cargo.lock"), _read(tree / "Cargo.toml")
    return bool(_FOREIGN.search(lock)) if lock else bool(_TABLE.search(manifest))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _manifests(tree: Path) -> list[bytes]:
    lock = _read(tree / "Cargo.lock")
    if lock:
        return [lock]
    return [_read(path) for path in sorted(tree.glob("**/Cargo.toml"))]


def _fetch(
    environment: Environment, base: PreparedBase, sandbox: Sandbox, folder: Path, log: Callable[[str], None]
) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    home = folder / "cargo"
    home.mkdir(parents=True)
    plain = {**dict(environment.variables), "PATH": ":".join(environment.path)}
    workspace = sandbox.fresh(base.tree_dir, mount=environment.mount, limits=LIMITS)
    argv = ["cargo", "fetch"] + (["--locked"] if (base.tree_dir / "Cargo.lock").is_file() else [])
    try:
        try:
            run_step(workspace, [*argv, "--offline"], plain, environment.binds, network=False)
            fetched = False
        except EnvironmentFailed:
            log("fetching the project's crates")
            settings = network_settings(os.environ)
            store = Bind(str(home), str(home), writable=True)
            env = {**plain, **dict(settings.variables), "CARGO_HOME": str(home), "CARGO_NET_OFFLINE": "false"}
            todo = "run cargo fetch by hand where the network is, then try again"
            run_step(workspace, argv, env, (*environment.binds, *settings.binds, store), todo=todo)
            fetched = True
        layer = keep_products(workspace, folder / "layer")
    finally:
        workspace.close()
    fresh = folder / "complete.new"
    fresh.write_text(json.dumps({"fetched": fetched, "layer": layer}), encoding="utf-8")
    os.replace(fresh, folder / "complete.json")
