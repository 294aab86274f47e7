# SPDX-License-Identifier: Apache-2.0
"""All that one check found, as values and as the JSON object that goes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import redfirst
from redfirst.gate.check.change import ChangeSet, Role
from redfirst.gate.check.compared import Compared
from redfirst.gate.check.label import Label, NodeRun
from redfirst.gate.check.nodes import Deleted
from redfirst.gate.check.policy import Answer, Decision, Policy, Row

SCHEMA_VERSION = 1
EXIT_CODES = {Answer.HOLDS: 0, Answer.FAILS: 1, Answer.UNDECIDED: 3}


@dataclass(frozen=True, slots=True)
class Sided:
    """A row with what was seen on both sides, one entry a run."""

    row: Row
    base: tuple[NodeRun, ...]
    head: tuple[NodeRun, ...]


@dataclass(frozen=True, slots=True)
class SideFacts:
    """Where the tests of one runner ran: environment, digest, number of runs."""

    runner: str
    side: str
    environment: str
    fingerprint: str
    runs: int


@dataclass(frozen=True, slots=True)
class CheckReport:
    """One check of one change."""

    compared: Compared
    changed: ChangeSet
    policy: Policy
    nodes: tuple[Sided, ...]
    deleted: tuple[Deleted, ...]
    moved: tuple[tuple[str, str], ...]
    decision: Decision
    notes: tuple[str, ...]
    sides: tuple[SideFacts, ...]
    sandbox: str
    seconds: float

    @property
    def exit_code(self) -> int:
        """0 it holds, 1 it does not, 3 not decided."""
        return EXIT_CODES[self.decision.answer]

    @property
    def rows(self) -> tuple[Row, ...]:
        """The labelled tests."""
        return tuple(sided.row for sided in self.nodes)

    def count(self, label: Label) -> int:
        """How many tests have this label."""
        return sum(row.label is label for row in self.rows)

    def record(self) -> dict[str, object]:
        """The JSON object; its fields are in the documents and only grow within one schema version."""
        compared, decision = self.compared, self.decision
        return {
            "schema": SCHEMA_VERSION,
            "redfirst": redfirst.__version__,
            "answer": decision.answer.value,
            "exit": self.exit_code,
            "why": list(decision.why),
            "todo": decision.todo,
            "warnings": list(decision.warnings),
            "notes": list(self.notes),
            "base": {"ref": compared.base_ref, "commit": compared.tip},
            "head": {"ref": compared.head_ref, "commit": compared.head},
            "compared_with": compared.base,
            "policy": {
                "require": self.policy.require.value,
                "allow_new_api": self.policy.allow_new_api,
                "no_behaviour_change": self.policy.no_behaviour_change,
            },
            "change": {role.value: list(self.changed.paths(role)) for role in Role},
            "labels": {label.value: self.count(label) for label in Label},
            "tests": [_test(sided) for sided in self.nodes],
            "deleted": [{"test": item.node, "file": item.file} for item in self.deleted],
            "moved": [{"test": now, "was": was} for now, was in self.moved],
            "sides": [
                {
                    "runner": side.runner,
                    "side": side.side,
                    "environment": side.environment,
                    "fingerprint": side.fingerprint,
                    "runs": side.runs,
                }
                for side in self.sides
            ],
            "sandbox": self.sandbox,
            "seconds": self.seconds,
        }


def _test(sided: Sided) -> dict[str, object]:
    row = sided.row
    return {
        "test": row.node,
        "runner": row.runner,
        "file": row.file,
        "line": row.line or None,
        "change": row.part.value,
        "label": row.label.value,
        "why": row.why,
        "base": _runs(sided.base),
        "head": _runs(sided.head),
    }


def _runs(runs: Sequence[NodeRun]) -> list[dict[str, object]]:
    return [
        {
            "kind": run.kind.value,
            "message": run.message,
            "where": run.where,
            "new_api": run.new_api,
            "seconds": round(run.seconds, 3),
        }
        for run in runs
    ]
