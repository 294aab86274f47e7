# SPDX-License-Identifier: Apache-2.0
"""Runs one attack in a sandbox and prints what came of it as JSON; started as whatever user is tested.

Arguments: folder with the modules of redfirst, name of the attack, tree, folder with a secret.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from pathlib import Path
from typing import Any


def survivors(tag: str) -> list[str]:
    """Processes of the machine whose command line holds ``tag``, after a moment to let them go."""
    for _ in range(20):
        found = [number for number in os.listdir("/proc") if number.isdigit() and tag in command_line(number)]
        if not found:
            return []
        time.sleep(0.02)
    return found


def command_line(number: str) -> str:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def main(source: str, name: str, tree: str, secret: str) -> None:
    sys.path[:0] = [source, str(Path(__file__).parent)]
    from attack_table import ATTACKS, BASE_LIMITS, PRELUDE

    from redfirst.core.limits import Limits
    from redfirst.sandbox.select import open_sandbox

    attack = ATTACKS[name]
    canary, tag = secrets.token_hex(16), f"attack-{secrets.token_hex(8)}"
    os.environ["CANARY"] = canary
    limits = Limits(**{**BASE_LIMITS, **attack.limits})
    workspace = open_sandbox().fresh(Path(tree), mount="/somewhere/else/checkout", limits=limits)
    try:
        argv = ["/usr/bin/python3", "-c", PRELUDE + attack.code, tag, secret, canary]
        done = workspace.run(argv, env={}, limits=limits)
        left = survivors(tag)
        changes = {change.path: change.kind.value for change in workspace.changes()}
        paths = ("pipe", "out/passwd", "folder/secret", "top.txt")
        reads = {path: workspace.read(path) for path in paths}
    finally:
        workspace.close()
    result: dict[str, Any] = {
        "end": done.end.value,
        "exit": done.exit,
        "signal": done.signal,
        "reached": sorted(end.value for end in done.reached),
        "report": json.loads(done.report) if name != "forges the end" and done.report else None,
        "out_bytes": len(done.out),
        "err": done.err.decode("utf-8", "replace")[-2000:],
        "problem": done.problem,
        "wall_s": done.wall_s,
        "cpu_s": done.cpu_s,
        "survivors": left,
        "changes": changes,
        "reads": {path: data if data is None else data.decode() for path, data in reads.items()},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
