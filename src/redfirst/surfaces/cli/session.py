# SPDX-License-Identifier: Apache-2.0
"""The gate session that a command's options ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from redfirst.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redfirst.gate.session import GateSession, GateSettings


def open_session(
    repo: Path,
    base: str | None,
    *,
    python: str | None,
    sandbox: str,
    scratch: Path | None,
    limits: Sequence[str],
    repeat: int = 2,
    log: Callable[[str], None] = lambda _line: None,
) -> GateSession:
    """One gate over one checkout, with the user's own cache and state folders. Raises UsageError."""
    from redfirst.gate.session import GateSession

    return GateSession(
        gate_settings(
            repo,
            base,
            python=python,
            sandbox=sandbox,
            scratch=scratch,
            limits=limits,
            repeat=repeat,
            log=log,
        )
    )


def gate_settings(
    repo: Path,
    base: str | None,
    *,
    python: str | None,
    sandbox: str,
    scratch: Path | None,
    limits: Sequence[str],
    repeat: int = 2,
    log: Callable[[str], None] = lambda _line: None,
) -> GateSettings:
    """The settings that the options mean. Raises UsageError."""
    from redfirst.core.limits import Limits
    from redfirst.gate.session import GateSettings
    from redfirst.surfaces.cli.folders import cache_folder, state_folder

    return GateSettings(
        repo=existing_folder(repo),
        cache=cache_folder(),
        store=state_folder() / "bundles",
        ref=base,
        python=python,
        sandbox=sandbox,
        scratch=existing_folder(scratch) if scratch else None,
        limits=Limits().with_settings(list(limits)),
        repeat=repeat,
        log=log,
    )


def existing_folder(path: Path) -> Path:
    """The absolute path of a folder that is there. Raises UsageError."""
    if not path.is_dir():
        raise UsageError(f"no folder at {path}", "check the path")
    return path.resolve()
