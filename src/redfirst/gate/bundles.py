# SPDX-License-Identifier: Apache-2.0
"""Bundles on disk: read one folder, write one, freeze one so that nothing can change it unnoticed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.bundle import COMMAND_FILE, CONTRACT_FILE, PATCH_FILE, TestBundle
from redfirst.core.errors import RedfirstError, UsageError

FROZEN_FILE = "frozen.json"
_MAX_BYTES = 64 << 20


class FrozenBundleChanged(RedfirstError):
    """A frozen bundle no longer has the digest under which it was frozen."""

    slug = "frozen-bundle-changed"


@dataclass(frozen=True, slots=True)
class FrozenBundle:
    """A bundle, its content address and the folder that holds it read-only."""

    bundle: TestBundle
    digest: str
    folder: Path


def load_bundle(folder: Path) -> TestBundle:
    """The three files as they are; a missing one is None. Raises UsageError, FrozenBundleChanged."""
    if not folder.is_dir():
        raise UsageError(
            f"no bundle folder at {folder}", f"name a folder with {PATCH_FILE}, {COMMAND_FILE}, …"
        )
    bundle = TestBundle(*(_read(folder / name) for name in (PATCH_FILE, COMMAND_FILE, CONTRACT_FILE)))
    frozen = _read(folder / FROZEN_FILE)
    if frozen is not None and _recorded_digest(frozen) != bundle.digest:
        raise FrozenBundleChanged(
            f"the frozen bundle in {folder} is not what was frozen", "qualify and freeze it again"
        )
    return bundle


def save_bundle(bundle: TestBundle, folder: Path) -> None:
    """Write the files of ``bundle`` into a new folder; missing parts are left out."""
    folder.mkdir(parents=True)
    for name, data in _parts(bundle):
        if data is not None:
            (folder / name).write_bytes(data)


def freeze(bundle: TestBundle, store: Path) -> FrozenBundle:
    """Store ``bundle`` read-only under its digest; freezing the same bundle twice gives the same folder."""
    digest = bundle.digest
    folder = store / digest
    if not folder.exists():
        store.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".freezing-", dir=store))
        try:
            for name, data in (*_parts(bundle), (FROZEN_FILE, json.dumps({"digest": digest}).encode())):
                path = draft / name
                path.write_bytes(data or b"")
                path.chmod(0o444)
            draft.chmod(0o555)
            draft.rename(folder)
        except OSError:
            draft.chmod(0o755)
            shutil.rmtree(draft)
            if not folder.exists():
                raise
    load_bundle(folder)
    return FrozenBundle(bundle, digest, folder)


def _parts(bundle: TestBundle) -> tuple[tuple[str, bytes | None], ...]:
    return (PATCH_FILE, bundle.patch), (COMMAND_FILE, bundle.command), (CONTRACT_FILE, bundle.contract)


def _read(path: Path) -> bytes | None:
    """Content of a regular file, links to files allowed; None where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "check the bundle folder") from None
    with os.fdopen(descriptor, "rb") as handle:
        if not path.is_file():
            return None
        return handle.read(_MAX_BYTES)


def _recorded_digest(data: bytes) -> str:
    try:
        record = json.loads(data)
    except ValueError:
        return ""
    return str(record.get("digest", "")) if isinstance(record, dict) else ""
