# SPDX-License-Identifier: Apache-2.0
"""Whether what the tests say is enough: a pure function of labels, the change and the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from redfirst.core.kinds import Outcome
from redfirst.gate.check.change import ChangeSet, Role
from redfirst.gate.check.label import Label
from redfirst.gate.check.nodes import Deleted


class Require(StrEnum):
    """How many of the touched tests must have failed first."""

    ONE = "one"
    ALL = "all"


class Answer(StrEnum):
    """What the check says of the change."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"


class Part(StrEnum):
    """What the change did to one case of a test; only the first two owe a fail on base under ``all``."""

    ADDED = "added"
    ALTERED = "altered"
    KEPT = "kept"  # a case that base has too, of a table that changed
    REACHED = "reached"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Policy:
    """The options of a check."""

    require: Require = Require.ONE
    allow_new_api: bool = False
    no_behaviour_change: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One test with its label. ``head``: its outcome there, None if it has none."""

    node: str
    part: Part
    label: Label
    why: str
    head: Outcome | None
    runner: str = ""
    file: str = ""
    line: int = 0

    @property
    def owes(self) -> bool:
        """Whether the change wrote this test, so that it has to prove something."""
        return self.part in (Part.ADDED, Part.ALTERED)


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer, its reasons, what to do next, and what is worth a look all the same."""

    answer: Answer
    why: tuple[str, ...]
    todo: str = ""
    warnings: tuple[str, ...] = ()


def decide(
    changed: ChangeSet,
    rows: Sequence[Row],
    policy: Policy,
    *,
    deleted: Sequence[Deleted] = (),
    unjudged: Sequence[tuple[str, str]] = (),
) -> Decision:
    """Hold, not hold, or not be decided. ``unjudged``: changed tests that nothing here could look at."""
    warnings = _warnings(rows, deleted, unjudged)
    broken = _broken(rows)
    if broken:
        return Decision(Answer.FAILS, broken, "make these tests pass on head, every time", warnings)
    if policy.no_behaviour_change:
        return _same_behaviour(rows, policy, unjudged, warnings)
    if not changed.behaves:
        return _without_source(changed, rows, unjudged, warnings)
    return _fix(changed, rows, policy, unjudged, warnings)


def _broken(rows: Sequence[Row]) -> tuple[str, ...]:
    """Tests that fail with the change, and flaky tests that it wrote: wrong under every policy."""
    return tuple(
        f"{row.node} is {row.label}: {row.why}"
        for row in rows
        if row.head is Outcome.FAIL or (row.label is Label.FLAKY and row.owes)
    )


def _open(rows: Sequence[Row], unjudged: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    found = [f"{row.node}: {row.why}" for row in rows if row.label is Label.UNDECIDABLE]
    return (*found, *(f"{path}: {why}" for path, why in unjudged))


def _same_behaviour(
    rows: Sequence[Row], policy: Policy, unjudged: Sequence[tuple[str, str]], warnings: tuple[str, ...]
) -> Decision:
    moved = [row for row in rows if row.label is Label.FAIL_TO_PASS]
    if not policy.allow_new_api:
        moved += [row for row in rows if row.label is Label.NEW_API]
    if moved:
        why = tuple(f"{row.node} is {row.label}: {row.why}" for row in moved)
        return Decision(Answer.FAILS, why, "behaviour changes: drop --no-behaviour-change", warnings)
    waiting = _open(rows, unjudged)
    if waiting:
        return Decision(Answer.UNDECIDED, waiting, _TODO_OPEN, warnings)
    count = sum(row.label is Label.PASS_TO_PASS for row in rows)
    same = f"{_tests(count)} touched and the same on both sides" if count else "no test was touched"
    return Decision(Answer.HOLDS, (same,), "", warnings)


_TODO_OPEN = "see why these could not be run; `redfirst doctor` tells how tests run here"


def _without_source(
    changed: ChangeSet,
    rows: Sequence[Row],
    unjudged: Sequence[tuple[str, str]],
    warnings: tuple[str, ...],
) -> Decision:
    """A change without source has no fix to prove; its tests must pass."""
    waiting = tuple(f"{row.node}: {row.why}" for row in rows if row.label is Label.UNDECIDABLE and row.owes)
    if waiting or (unjudged and not rows):
        return Decision(Answer.UNDECIDED, waiting or _open((), unjudged), _TODO_OPEN, warnings)
    failing_first = [row for row in rows if row.label is Label.FAIL_TO_PASS]
    if failing_first:
        return Decision(Answer.HOLDS, (_proved(failing_first),), "", warnings)
    kinds = [role.value for role in Role if changed.paths(role)]
    if not kinds:
        return Decision(Answer.HOLDS, ("nothing changed between base and head",), "", warnings)
    why = f"only {_and(kinds)} changed: there is no fix to prove"
    return Decision(Answer.HOLDS, (why,), "", warnings)


def _fix(
    changed: ChangeSet,
    rows: Sequence[Row],
    policy: Policy,
    unjudged: Sequence[tuple[str, str]],
    warnings: tuple[str, ...],
) -> Decision:
    proof = [row for row in rows if _proves(row, policy)]
    if policy.require is Require.ALL:
        short = [row for row in rows if row.owes and row not in proof]
        if proof and not short and not unjudged:
            return Decision(Answer.HOLDS, (_proved(proof),), "", warnings)
    else:
        short = [row for row in rows if row not in proof and row.part is not Part.MOVED]
        blind = [row for row in rows if row.owes and row.label is Label.UNDECIDABLE and row.head is None]
        if proof and not blind:
            return Decision(Answer.HOLDS, (_proved(proof),), "", warnings)
        short = blind if proof else short
    return _not_proved(changed, rows, short, policy, unjudged, warnings)


def _not_proved(
    changed: ChangeSet,
    rows: Sequence[Row],
    short: Sequence[Row],
    policy: Policy,
    unjudged: Sequence[tuple[str, str]],
    warnings: tuple[str, ...],
) -> Decision:
    sure = [row for row in short if row.label is not Label.UNDECIDABLE]
    waiting = _open(short, unjudged)
    certain = policy.require is Require.ALL and sure
    if waiting and not certain:
        return Decision(Answer.UNDECIDED, waiting, _TODO_OPEN, warnings)
    if not rows:
        return Decision(Answer.FAILS, (_no_test(changed),), _TODO_WRITE, warnings)
    why = tuple(f"{row.node} is {row.label}: {row.why}" for row in sure) or (
        "no test that the change touches failed without it",
    )
    return Decision(Answer.FAILS, why, _advice(sure, policy), warnings)


_TODO_WRITE = (
    "add a test that fails without the change and passes with it; "
    "for a change that must not alter behaviour, use --no-behaviour-change"
)


def _advice(short: Sequence[Row], policy: Policy) -> str:
    if short and not policy.allow_new_api and all(row.label is Label.NEW_API for row in short):
        return "these tests ask for names that base lacks: use --allow-new-api if the change adds a feature"
    return _TODO_WRITE


def _no_test(changed: ChangeSet) -> str:
    paths = (*changed.paths(Role.SOURCE), *changed.paths(Role.SUBMODULES))
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return f"the change touches {', '.join(paths[:3])}{more} and no test"


def _proves(row: Row, policy: Policy) -> bool:
    return row.label is Label.FAIL_TO_PASS or (policy.allow_new_api and row.label is Label.NEW_API)


def _proved(rows: Sequence[Row]) -> str:
    new = sum(row.label is Label.NEW_API for row in rows)
    old = len(rows) - new
    verbs = ("fails", "passes") if old == 1 else ("fail", "pass")
    told = [f"{_tests(old)} {verbs[0]} without the change and {verbs[1]} with it"] if old else []
    told += [f"{_tests(new)} of a new API {'passes' if new == 1 else 'pass'}"] if new else []
    return "; ".join(told)


def _tests(count: int) -> str:
    return f"{count} test" if count == 1 else f"{count} tests"


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _warnings(
    rows: Sequence[Row], deleted: Sequence[Deleted], unjudged: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    found = [f"{item.node} was deleted" for item in deleted]
    found += [f"{row.node} is flaky: {row.why}" for row in rows if row.label is Label.FLAKY and not row.owes]
    found += [f"{row.node} did not run: {row.why}" for row in rows if row.label is Label.NOT_RUN and row.owes]
    found += [f"{row.node} is undecidable: {row.why}" for row in rows if row.label is Label.UNDECIDABLE]
    return (*found, *(f"{path} was not judged: {why}" for path, why in unjudged))
