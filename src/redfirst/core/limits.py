# SPDX-License-Identifier: Apache-2.0
"""What one run may use; all limits hold for the processes of the run together."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from redfirst.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run. Seconds and MiB; ``files`` counts inodes of the scratch space."""

    wall_s: float = 240
    cpu_s: float = 240
    memory_mb: int = 4096
    processes: int = 512
    file_mb: int = 512
    output_mb: int = 16
    disk_mb: int = 2048
    files: int = 200_000

    def with_settings(self, settings: list[str]) -> Limits:
        """Apply ``NAME=VALUE`` texts; raises UsageError naming the one that is wrong."""
        changed = self
        for text in settings:
            changed = changed._with_setting(text)
        return changed

    def _with_setting(self, text: str) -> Limits:
        names = [field.name for field in fields(self)]
        name, sign, value = text.partition("=")
        if not sign or name not in names:
            raise UsageError(f"limit {text!r} is not NAME=VALUE", f"names: {', '.join(names)}")
        try:
            number: float = float(value) if name.endswith("_s") else int(value)
        except ValueError:
            number = 0
        if not 0 < number < 1e9:
            raise UsageError(f"limit {name} cannot be {value!r}", "give a positive number")
        changes: dict[str, Any] = {name: number}
        return replace(self, **changes)
