# SPDX-License-Identifier: Apache-2.0
"""A run on disk: one folder, append-only, every file written whole or not at all."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from redfirst.core.bundle import TestBundle
from redfirst.core.errors import UsageError
from redfirst.core.verdict import Verdict
from redfirst.gate.bundles import save_bundle
from redfirst.gate.wire import verdict_record

RUN_SCHEMA = 1


class RunFolder:
    """The folder of one run, named by time and slug. Its layout is in docs/runs.md."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._submissions = 0

    @classmethod
    def create(cls, parent: Path, slug: str) -> RunFolder:
        """A new folder below ``parent``. Raises UsageError where it cannot be made."""
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        name = f"{stamp}-{_slug(slug)}"
        for number in range(100):
            path = parent / (f"{name}-{number}" if number else name)
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise UsageError(
                    f"cannot make {path} ({error.strerror})", "name another folder with --out"
                ) from None
            return cls(path)
        raise UsageError(f"too many runs named {name} in {parent}", "name another folder with --out")

    def write(self, name: str, data: bytes) -> Path:
        """Write one file atomically; ``name`` may have folders."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix=".writing-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(draft).replace(target)
        return target

    def record(self, name: str, value: object) -> Path:
        """Write one JSON file."""
        return self.write(name, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode())

    def event(self, what: str, facts: Mapping[str, object] | None = None) -> None:
        """Append one line to events.jsonl."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "event": what, **(facts or {})}, ensure_ascii=False)
        with (self.path / "events.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def submission(self, bundle: TestBundle, verdict: Verdict) -> None:
        """Keep a bundle that was handed in, with what the gate said of it."""
        self._submissions += 1
        folder = f"submissions/{self._submissions}"
        save_bundle(bundle, self.path / folder / "bundle")
        self.record(f"{folder}/verdict.json", verdict_record(verdict))
        self.event("submission", {"number": self._submissions, "kind": str(verdict.kind)})


def _slug(text: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return words[:40].strip("-") or "run"
