# SPDX-License-Identifier: Apache-2.0
"""What a test says of a change, from what it did on base and on head: a pure function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from redfirst.core.kinds import FailureKind, Outcome


class Label(StrEnum):
    """The answer for one test."""

    FAIL_TO_PASS = "fail-to-pass"
    PASS_TO_PASS = "pass-to-pass"
    FAIL_TO_FAIL = "fail-to-fail"
    PASS_TO_FAIL = "pass-to-fail"
    NEW_API = "new API"
    FLAKY = "flaky"
    NOT_RUN = "not run"
    UNDECIDABLE = "undecidable"


@dataclass(frozen=True, slots=True)
class NodeRun:
    """One test in one run. ``new_api``: its own text asks the project for a name that is not there."""

    kind: FailureKind
    message: str = ""
    where: str = ""
    new_api: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Labelled:
    """A label with the sentence that explains it."""

    label: Label
    why: str


_MATRIX = {
    (Outcome.FAIL, Outcome.PASS): (Label.FAIL_TO_PASS, "it fails without the change and passes with it"),
    (Outcome.PASS, Outcome.PASS): (Label.PASS_TO_PASS, "it passes without the change: it never tested it"),
    (Outcome.FAIL, Outcome.FAIL): (Label.FAIL_TO_FAIL, "it fails without the change and with it"),
    (Outcome.PASS, Outcome.FAIL): (Label.PASS_TO_FAIL, "it passes without the change and fails with it"),
}


def label(base: Sequence[NodeRun], head: Sequence[NodeRun]) -> Labelled:
    """Compare the repeats of both sides; what cannot be established is never a pass or a fail."""
    unsteady = _flake("base", base) or _flake("head", head)
    if unsteady:
        return Labelled(Label.FLAKY, unsteady)
    if not base and not head:
        return Labelled(Label.UNDECIDABLE, "it ran on neither side")
    if not base or not head:
        side = "base" if not base else "head"
        return Labelled(Label.NOT_RUN, f"there is no such test on {side}")
    was, now = base[0], head[0]
    if FailureKind.NOT_RUN in (now.kind, was.kind):
        side, run = ("head", now) if now.kind is FailureKind.NOT_RUN else ("base", was)
        return Labelled(Label.NOT_RUN, f"on {side}: {run.message or 'it did not run'}")
    return _decided(was, now)


def _decided(was: NodeRun, now: NodeRun) -> Labelled:
    after = now.kind.outcome
    if after is None:
        return Labelled(Label.UNDECIDABLE, f"on head: {told(now)}")
    if was.new_api:
        if after is Outcome.PASS:
            return Labelled(Label.NEW_API, f"base lacks what it asks for: {was.message}")
        return Labelled(Label.FAIL_TO_FAIL, f"on head: {told(now)}")
    before = was.kind.outcome
    if before is None:
        return Labelled(Label.UNDECIDABLE, f"on base: {told(was)}")
    found, why = _MATRIX[before, after]
    shown = now if after is Outcome.FAIL else was
    return Labelled(found, why if shown.kind is FailureKind.PASSED else f"{why}: {shown.message}")


def told(run: NodeRun) -> str:
    """Kind, message and place in one line."""
    place = f" ({run.where})" if run.where else ""
    words = run.kind.value.replace("_", " ")
    return f"{words}: {run.message}{place}" if run.message else words


def _flake(side: str, runs: Sequence[NodeRun]) -> str:
    kinds = [run.kind for run in runs]
    for number, kind in enumerate(kinds[1:], start=2):
        if kind is not kinds[0]:
            return f"on {side} it was {kinds[0]} in run 1 and {kind} in run {number}"
    return ""
