# SPDX-License-Identifier: Apache-2.0
"""What the harness is told on its standard input."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence

from redfirst.core.environment import Environment
from redfirst.runners.protocol import Selection

KEY_BYTES = 32


def new_key() -> bytes:
    """A fresh key for one run's report."""
    return secrets.token_bytes(KEY_BYTES)


def settings_line(
    selection: Selection,
    environment: Environment,
    key: bytes,
    *,
    seed: int,
    shuffle: bool,
    patched: Sequence[str],
    collect_only: bool,
) -> bytes:
    """One line of JSON for ``start.py``."""
    settings = {
        "key": key.hex(),
        "cd": selection.command.cd or ".",
        "prefix": environment.prefix,
        "seed": seed,
        "shuffle": shuffle,
        "patched": list(patched),
        "collect_only": collect_only,
    }
    return json.dumps(settings).encode() + b"\n"
