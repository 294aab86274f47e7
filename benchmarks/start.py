# SPDX-License-Identifier: Apache-2.0
"""How long the import and the help take in fresh interpreters.

Each command is started ``--rounds`` times, in turn with a bare interpreter so that all see the same machine.
Printed as JSON: median and minimum in milliseconds of wall clock, and the median beyond the bare start.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import redfirst

SCRIPT = str(Path(sys.executable).parent / "redfirst")
COMMANDS = {
    "bare interpreter": [sys.executable, "-c", "pass"],
    "import redfirst": [sys.executable, "-c", "import redfirst"],
    "redfirst --help": [SCRIPT, "--help"],
    "redfirst gate --help": [SCRIPT, "gate", "--help"],
}


def once(argv: list[str]) -> float:
    """Milliseconds from start to end of one command; raises CalledProcessError if it fails."""
    started = time.perf_counter()
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - started) * 1000


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for argv in COMMANDS.values():
        once(argv)
    for _ in range(rounds):
        for name, argv in COMMANDS.items():
            times[name].append(once(argv))
    bare = statistics.median(times["bare interpreter"])
    results = {
        name: {
            "median_ms": round(statistics.median(values), 1),
            "min_ms": round(min(values), 1),
            "beyond_bare_ms": round(statistics.median(values) - bare, 1),
        }
        for name, values in times.items()
    }
    machine = {"python": platform.python_version(), "system": platform.platform()}
    head = {"benchmark": "start", "redfirst": redfirst.__version__, "machine": machine, "rounds": rounds}
    print(json.dumps({**head, "results": results}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
