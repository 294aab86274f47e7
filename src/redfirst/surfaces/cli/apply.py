# SPDX-License-Identifier: Apache-2.0
"""`--apply`: lay a qualified test into the user's checkout, and nothing else."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from redfirst.core.errors import UsageError

if TYPE_CHECKING:
    from redfirst.core.bundle import TestBundle
    from redfirst.gate.session import GateSession


def apply_test(session: GateSession, bundle: TestBundle, kept: Path) -> tuple[str, ...]:
    """Write the files of the bundle's patch; returns their paths. ``kept``: where the bundle is.

    Nothing is written unless every file in the checkout is what Base has. Raises UsageError.
    """
    from redfirst.patches.apply import apply_patch

    applied = apply_patch(session.base, bundle.patch or b"")
    root = session.base.root
    for change in applied.changes:
        path = root / change.path
        if _outside(root, path) or _current(path) != change.old:
            raise UsageError(
                f"{path} is not what Base has, so nothing was added",
                f"apply {kept}/test.patch by hand",
            )
    for change in applied.changes:
        if change.new is not None:
            _write(root / change.path, change.new)
    return tuple(change.path for change in applied.changes)


def _outside(root: Path, path: Path) -> bool:
    real = os.path.realpath(path.parent)
    return path.is_symlink() or not (real + os.sep).startswith(os.path.realpath(root) + os.sep)


def _current(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror})", "check the checkout") from None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o644
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".redfirst-")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.chmod(draft, mode)
    Path(draft).replace(path)
