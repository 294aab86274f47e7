# SPDX-License-Identifier: Apache-2.0
"""How an instrumented Python run is started: the harness, its key, and what it is told on standard input."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence

from redfirst.core.environment import Environment
from redfirst.runners.protocol import Plan, Selection
from redfirst.runners.python_report import plan_of, python_argv

KEY_BYTES = 32


def instrumented(
    selection: Selection,
    environment: Environment,
    runner: str,
    arguments: Sequence[str],
    *,
    seed: int,
    shuffle: bool,
    patched: Sequence[str],
    collect_only: bool,
) -> Plan:
    """The plan of one run under the harness, with a fresh key. Raises EnvironmentFailed without an interpreter."""
    key = secrets.token_bytes(KEY_BYTES)
    settings = {
        "key": key.hex(),
        "cd": selection.command.cd or ".",
        "prefix": environment.prefix,
        "seed": seed,
        "shuffle": shuffle,
        "patched": list(patched),
        "collect_only": collect_only,
    }
    argv = (*python_argv(environment, selection, runner), *arguments)
    return plan_of(selection, argv, seed, json.dumps(settings).encode() + b"\n", key)
