# SPDX-License-Identifier: Apache-2.0
"""What a runner observed, in terms that hold for every language; no judgement in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Place(StrEnum):
    """Whose code a frame is: the workspace's test paths, its other files, or neither."""

    TEST = "test"
    SOURCE = "source"
    OUTSIDE = "outside"


class Trait(StrEnum):
    """A fact about a failure that classification may turn on.

    The runner adapter states it from structured evidence (types, errno, frames), never from
    console text.
    """

    ASSERTION = "assertion"  # the test's claim did not hold (assert, fail(), DID NOT RAISE, ERR_ASSERTION)
    NAME = "name"  # a name that only the failing text itself can get wrong (NameError, ReferenceError)
    EVALUATED_SYNTAX = "evaluated_syntax"  # SyntaxError of text compiled while running
    SYSTEM_EXIT = "system_exit"
    RAISED_BY_TEXT = "raised_by_text"  # a `raise`/`throw` statement at the innermost workspace frame
    NETWORK_DENIED = "network_denied"  # anywhere in the cause chain
    MEMORY = "memory"  # MemoryError and the like, anywhere in the chain
    PROCESSES = "processes"  # EAGAIN on fork, "can't start new thread"
    FILE_SIZE = "file_size"  # EFBIG
    DISK = "disk"  # ENOSPC, EDQUOT
    CROSS_DEVICE = "cross_device"  # EXDEV, which an overlay gives for directory renames
    MODULE_MISSING = "module_missing"  # a module that neither project nor environment has
    PROJECT_NAME_MISSING = "project_name_missing"  # a module/attribute of the project itself is missing
    UNKNOWN_FIXTURE = "unknown_fixture"
    PLUGIN_MISSING = "plugin_missing"  # a fixture/marker/async support that a known plugin would bring
    INTERRUPT = "interrupt"  # KeyboardInterrupt, pytest.exit


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame. ``path`` is relative to the workspace unless ``place`` is OUTSIDE. 1-based line."""

    path: str
    line: int
    function: str
    place: Place


@dataclass(frozen=True, slots=True)
class Failure:
    """One raised error with its frames, outermost first, and the traits of its whole chain."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    traits: frozenset[Trait] = frozenset()
    detail: str = ""

    @property
    def innermost(self) -> Frame | None:
        """The frame that raised, or None where the runner reports no frames."""
        return self.frames[-1] if self.frames else None

    @property
    def owner(self) -> Frame | None:
        """The innermost frame that lies in the workspace, or None."""
        return next((f for f in reversed(self.frames) if f.place is not Place.OUTSIDE), None)


class Phase(StrEnum):
    """When in the life of a node something happened."""

    SETUP = "setup"
    CALL = "call"
    TEARDOWN = "teardown"


class PhaseOutcome(StrEnum):
    """What the runner says of one phase."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """One phase of one node; ``failures`` may hold several (subtests, exception groups)."""

    phase: Phase
    outcome: PhaseOutcome
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class NodeResult:
    """Everything observed of one node. ``finished`` is False when its end was never reported."""

    node: str
    phases: tuple[PhaseResult, ...] = ()
    finished: bool = True


@dataclass(frozen=True, slots=True)
class RunReport:
    """A runner's structured report of one run, checked against the exit status by the adapter.

    ``selected``: ids chosen to run, in order. ``available``: every test id in the patched files,
    selected or not, cases of parametrised tests included. ``problems``: contradictions (report cut
    without such an end, counts, exit status). ``tampering``: what was seen of writes to source,
    harness or report.
    ``origins``: (module name, file) of imported project modules, files as seen inside the sandbox.
    ``complete``: the runner announced its own end.
    """

    nodes: tuple[NodeResult, ...] = ()
    selected: tuple[str, ...] = ()
    deselected: tuple[str, ...] = ()
    available: tuple[str, ...] = ()
    collection_failures: tuple[Failure, ...] = ()
    collection_skips: tuple[str, ...] = ()
    not_found: tuple[str, ...] = ()
    interrupted: bool = False
    complete: bool = False
    problems: tuple[str, ...] = ()
    tampering: tuple[str, ...] = ()
    network_attempted: bool = False
    origins: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = field(default=())
