# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of a report on Base and reads back what each of them did."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from redfirst.agents.task import Gate
from redfirst.sandbox.protocol import Completed, End

SECONDS = 60.0
_UNSTABLE = re.compile(r"\b0x[0-9a-fA-F]{4,}|\bat 0x|<generator|<coroutine|object at ")
_ENDS = {
    End.WALL: f"it did not end within {SECONDS:.0f} seconds",
    End.CPU: "it used too much processor time",
    End.MEMORY: "it used too much memory",
    End.SIGNALLED: "the interpreter was killed",
    End.BROKEN: "the sandbox failed",
}


@dataclass(frozen=True, slots=True)
class Value:
    """A value as seen from outside. ``text``: the string itself if it is one. ``literal``: repr gives it back."""

    type: str
    repr: str
    text: str | None
    literal: bool

    @property
    def stable(self) -> bool:
        """Whether the repr can be compared from run to run: no addresses."""
        return bool(self.repr) and not _UNSTABLE.search(self.repr)


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception. ``types``: its classes with modules, own class first; ``files``: frames, outermost first."""

    types: tuple[str, ...]
    message: str
    files: tuple[str, ...]
    functions: tuple[str, ...]

    @property
    def name(self) -> str:
        """Class name without module."""
        return self.types[0].rpartition(".")[2]

    def is_a(self, name: str) -> bool:
        """Whether the exception is of a class called ``name`` (with or without a module), or of a subclass."""
        return any(
            known == name or known.rpartition(".")[2] == name.rpartition(".")[2] for known in self.types
        )


@dataclass(frozen=True, slots=True)
class Process:
    """A finished process: its exit status and what it wrote."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What one step did. ``imports``: import lines that it needed and the report left out.

    ``process``: what its value is, if that is a finished process.
    """

    out: str
    value: Value | None
    raised: Raised | None
    imports: tuple[str, ...] = ()
    process: Process | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """What one check gave: ``truth`` of its value, None if it raised."""

    truth: bool | None
    value: Value | None


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything one run told. ``steps`` is shorter than what was asked if the run was cut: ``problem`` says why."""

    steps: tuple[Seen, ...]
    checks: tuple[Checked | None, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Prober:
    """Where and how steps run. ``paths``: import folders relative to Base; ``names``: packages of the project.

    ``homes``: import lines for names that no package offers at its top.
    """

    gate: Gate
    paths: tuple[str, ...]
    names: tuple[str, ...]
    homes: tuple[tuple[str, str], ...] = ()

    def observe(self, steps: Sequence[str], checks: Sequence[tuple[int, str]] = ()) -> Observed:
        """One fresh process. Raises SandboxError, EnvironmentFailed."""
        order = {
            "steps": list(steps),
            "checks": list(checks),
            "paths": self.paths,
            "names": self.names,
            "homes": dict(self.homes),
        }
        script = files(__package__).joinpath("probe_child.py").read_text("utf-8")
        done = self.gate.run_code(script, stdin=json.dumps(order).encode(), seconds=SECONDS)
        return read_observed(done, len(checks))

    def observe_twice(self, steps: Sequence[str]) -> Observed:
        """Two fresh processes that must agree; where they do not, the run is cut at the first difference."""
        first, second = self.observe(steps), self.observe(steps)
        if first.problem or second.problem:
            return first if first.problem else second
        for number, (one, other) in enumerate(zip(first.steps, second.steps, strict=True)):
            if not agree(one, other):
                problem = f"statement {number + 1} does something else each time"
                return Observed(first.steps[:number], (), problem)
        return first


def agree(one: Seen, other: Seen) -> bool:
    """Whether two runs of a step did the same, as far as that can be seen without addresses."""
    same_error = (one.raised is None) == (other.raised is None)
    if one.raised and other.raised:
        same_error = one.raised.types == other.raised.types
    values = [_UNSTABLE.sub("", s.value.repr) if s.value and s.value.stable else "" for s in (one, other)]
    return same_error and values[0] == values[1] and _printed(one) == _printed(other)


def _printed(seen: Seen) -> str:
    return "" if _UNSTABLE.search(seen.out) else seen.out


def read_observed(done: Completed, checks: int) -> Observed:
    """Read the child's lines; a line that is cut off ends the reading."""
    steps: list[Seen] = []
    found: dict[int, Checked] = {}
    ended = False
    for line in done.report.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            break
        if not isinstance(record, dict):
            break
        if "step" in record:
            steps.append(_seen(record))
        elif "check" in record:
            found[record["check"]] = _checked(record)
        ended = ended or bool(record.get("end"))
    problem = (
        "" if ended else _ENDS.get(done.end, f"the interpreter ended (status {done.exit}){_last_line(done)}")
    )
    return Observed(tuple(steps), tuple(found.get(number) for number in range(checks)), problem)


def _last_line(done: Completed) -> str:
    lines = done.err.decode("utf-8", "replace").strip().splitlines()
    return f": {lines[-1][:200]}" if lines else ""


def _seen(record: dict[str, Any]) -> Seen:
    error = record.get("error")
    out = "" if record.get("out_cut") else str(record.get("out", ""))
    raised, value = _raised(error) if error else None, record.get("value")
    return Seen(out, _value(value), raised, tuple(record["imports"]), _process(value))


def _checked(record: dict[str, Any]) -> Checked:
    truth = record.get("truth")
    return Checked(truth if isinstance(truth, bool) else None, _value(record.get("value")))


def _value(record: dict[str, Any] | None) -> Value | None:
    if not record or "repr" not in record or record.get("cut"):
        return None
    return Value(record["type"], record["repr"], record.get("text"), bool(record.get("literal")))


def _process(record: dict[str, Any] | None) -> Process | None:
    held = record.get("process") if record else None
    return Process(held["code"], held["out"], held["err"]) if held else None


def _raised(record: dict[str, Any]) -> Raised:
    frames = record["frames"]
    return Raised(
        tuple(record["types"]),
        record["message"],
        tuple(str(frame[0]) for frame in frames),
        tuple(str(frame[2]) for frame in frames),
    )
