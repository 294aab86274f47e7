# SPDX-License-Identifier: Apache-2.0
"""The seam between a strategy and the gate: a task goes in, a qualified bundle or a refusal comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from redfirst.core.bundle import TestBundle
from redfirst.core.verdict import Verdict
from redfirst.sandbox.protocol import Completed

if TYPE_CHECKING:
    from redfirst.gate.session import Qualified


def _silent(_line: str) -> None:
    """Progress that nobody wants to see."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked for. ``issue``: the report as it came, bytes of one file; ``name``: what to call it.

    ``submitted`` is told every bundle that was handed in, with the gate's answer; ``log`` gets lines of progress.
    """

    issue: bytes
    name: str = "the report"
    submitted: Callable[[TestBundle, Verdict], None] | None = None
    log: Callable[[str], None] = field(default=_silent)


class Strength(StrEnum):
    """How much of the right result an assertion pins down; the strongest first."""

    EXACT = "exact"  # the whole result: a wrong one cannot pass, but for other inputs
    PROPERTY = "property"  # something that the right result must have, and others may have as well
    NOT_THIS = "not-this-value"  # anything but what is reported passes


@dataclass(frozen=True, slots=True)
class Asserted:
    """One thing that a test says. ``guard``: it holds on Base, and must stay so."""

    what: str
    strength: Strength
    guard: bool = False


@dataclass(frozen=True, slots=True)
class QualifiedBundle:
    """A bundle that the gate qualified on Base (the canonical one, as frozen), and its verdict there.

    ``asserted``: what its tests say, each with its strength; empty where the strategy does not know.
    """

    bundle: TestBundle
    verdict: Verdict
    asserted: tuple[Asserted, ...] = ()

    @property
    def strength(self) -> Strength | None:
        """That of the strongest assertion that fails on Base: a weak one beside it takes nothing from the test."""
        held = {one.strength for one in self.asserted if not one.guard}
        return next((strength for strength in Strength if strength in held), None)


@dataclass(frozen=True, slots=True)
class Refusal:
    """No bundle: why, what was tried, and what the report would need to say.

    ``decided`` is False where the strategy could not find out (no environment, no sandbox): exit 3, not 1.
    """

    reason: str
    tried: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    decided: bool = True


class Gate(Protocol):
    """What a strategy may ask of the gate; everything runs on Base, in a fresh workspace each time."""

    @property
    def runner(self) -> str:
        """The project's test framework: ``pytest`` or ``unittest``. Raises UsageError if it has neither."""

    def base_files(self) -> tuple[str, ...]:
        """Paths of all files of Base, relative, sorted."""

    def read(self, path: str) -> bytes | None:
        """A file of Base, or None."""

    def is_test(self, path: str) -> bool:
        """Whether the gate's policy lets a test patch touch ``path``."""

    def run_code(self, script: str, *, stdin: bytes, seconds: float) -> Completed:
        """Run ``script`` as ``python -c`` would, from the tree's root, in the environment of its tests.

        In the sandbox, without network, ended after ``seconds``; hash seeds differ from call to call. What it
        writes to REDFIRST_REPORT_FD is ``report`` of the result. Raises SandboxError, EnvironmentFailed.
        """

    def qualify(self, bundle: TestBundle) -> Qualified:
        """Judge a bundle on Base and freeze it if it fails validly there."""


class Strategy(Protocol):
    """One way from a report to a bundle. It hands over nothing that the gate did not qualify."""

    name: str

    def reproduce(self, task: Task, gate: Gate) -> QualifiedBundle | Refusal:
        """Raises UsageError for a report that cannot be read; what a run did is never an exception."""
