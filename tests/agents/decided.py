# SPDX-License-Identifier: Apache-2.0
"""Decides on reports about a small module without a gate: its statements run in a bare process, then ``decide``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from redfirst.agents.strategies.snippet.decide import decide
from redfirst.agents.strategies.snippet.findings import Decision, Finding
from redfirst.agents.strategies.snippet.probe import Observed, read_observed
from redfirst.agents.strategies.snippet.report import read_report
from redfirst.agents.strategies.snippet.story import Story, tell
from redfirst.agents.strategies.snippet.tools import NO_TOOLS, Tools
from redfirst.agents.strategies.snippet.variants import with_variants
from redfirst.sandbox.protocol import Completed, End, Isolation

MODULE = '''\
"""Small things for texts, many of them wrong."""


class SizeError(ValueError):
    """A text that is no size."""


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __repr__(self):
        return f"Point(x={self.x}, y={self.y})"

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)


def size(text):
    if text.startswith("-"):
        raise SizeError(f"no size: {text}")
    unit = {"k": 1000, "m": 1000000}[text[-1]] if not text[-1].isdigit() else 1
    return int(text.rstrip("km")) * unit


def words(text):
    return text.split(" ")


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]


def point(text):
    x, y = text.split(",")
    return Point(int(x), int(x) if y == "0" else int(y))


def matches(pattern, text):
    return pattern.strip("*") in text


def options():
    return {"Colour": "red"}


def shout(text):
    return text.upper().replace("SS", "S")


def title(text):
    return f"<h1>{text.strip()}</h1>\\n"
'''


KIT = {"textkit.py": MODULE}


def run_steps(folder: Path, story: Story, held: Mapping[str, str] = KIT) -> Observed:
    """What the statements do, outside any sandbox: they are the tests' own. ``held``: the project's files."""
    for name, text in held.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    order = {
        "steps": [s.code for s in story.steps],
        "checks": [],
        "paths": [str(folder)],
        "names": sorted({name.partition("/")[0].removesuffix(".py") for name in held}),
    }
    script = files("redfirst.agents.strategies.snippet").joinpath("probe_child.py").read_text("utf-8")
    reading, writing = os.pipe()
    done = subprocess.run(
        [sys.executable, "-B", "-c", script],
        input=json.dumps(order).encode(),
        capture_output=True,
        pass_fds=[writing],
        env={**os.environ, "REDFIRST_REPORT_FD": str(writing)},
        cwd=folder,
        check=True,
    )
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        report = stream.read()
    isolation = Isolation("none", ())
    completed = Completed(
        End.EXITED, done.returncode, None, b"", b"", report, frozenset(), 0.0, None, None, isolation
    )
    return read_observed(completed, 0)


def decided(
    folder: Path, report: str, tools: Tools = NO_TOOLS, held: Mapping[str, str] = KIT
) -> tuple[Story, Decision]:
    """The story of a report and what is decided on it."""
    story = with_variants(tell(read_report(report.encode()), tools))
    return story, decide(story, run_steps(folder, story, held))


def told(story: Story, finding: Finding) -> str:
    """A finding in one line: its kind, its statement and what must hold."""
    step = story.steps[finding.step]
    code = step.command.text if step.command else step.code
    must = "; ".join(check.expression for check in finding.checks) or finding.exception
    return f"{finding.kind.name} | {code} | {must}"
