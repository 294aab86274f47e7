# SPDX-License-Identifier: Apache-2.0
"""Receipts: what a verdict rests on, gathered while judging, and checked again later."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime

import redfirst
from redfirst.core.bundle import TestBundle
from redfirst.core.kinds import FailureKind
from redfirst.core.limits import Limits
from redfirst.core.verdict import NodeVerdict, Receipt, RunRecord, Verdict
from redfirst.gate.observe import Bench, Observation
from redfirst.patches.base import PreparedBase


class ReceiptDraft:
    """Collects the facts of one judgement as they become known; `seal` makes the verdict of them."""

    def __init__(self, limits: Limits, bundle: TestBundle | None) -> None:
        self._limits = limits
        self._bundle = bundle
        self._began = time.monotonic()
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self.base: PreparedBase | None = None
        self.bench: Bench | None = None
        self.canonical: str | None = None
        self.source_patch: str | None = None
        self.tested_tree: str | None = None
        self.observations: list[Observation] = []
        self.runs: list[RunRecord] = []

    def seal(
        self, kind: FailureKind, faults: Sequence[str], nodes: Sequence[NodeVerdict] = (), output: str = ""
    ) -> Verdict:
        """The verdict with everything known so far; the first fault is its reason."""
        why = faults[0] if faults else kind.value.replace("_", " ")
        return Verdict(kind, why, tuple(nodes), tuple(faults), output, self._receipt())

    def _receipt(self) -> Receipt:
        base = self.base.tree if self.base else None
        clean = self.observations and not any(seen.touched for seen in self.observations)
        last = self.observations[-1] if self.observations else None
        environment = self.bench.environment if self.bench else None
        return Receipt(
            redfirst=redfirst.__version__,
            bundle=self._bundle.digest if self._bundle else None,
            base_tree=base,
            base_tree_after=base if clean else None,
            source_patch=self.source_patch,
            tested_tree=self.tested_tree,
            canonical_patch=self.canonical,
            environment=environment.fingerprint if environment else None,
            environment_kind=environment.kind if environment else None,
            sandbox=last.completed.isolation.backend if last else None,
            isolation=self._isolation(last),
            limits=tuple((field.name, getattr(self._limits, field.name)) for field in fields(Limits)),
            command=last.argv if last else (),
            runs=tuple(self.runs),
            modules=_modules(last),
            leftovers=last.leftovers if last else (),
            network_attempted=any(seen.report.network_attempted for seen in self.observations),
            started=self._started,
            seconds=round(time.monotonic() - self._began, 3),
        )

    @staticmethod
    def _isolation(last: Observation | None) -> tuple[tuple[str, str], ...]:
        if last is None:
            return ()
        return (*last.completed.isolation.guarantees, ("workspace", "copy" if last.copied else "fresh"))


def _modules(last: Observation | None) -> tuple[tuple[str, str], ...]:
    """The project's modules that were imported, and from where (at most 200, the top ones first)."""
    if last is None:
        return ()
    return tuple(sorted(last.report.origins, key=lambda pair: (pair[0].count("."), pair[0]))[:200])


_COMPARED = (
    "bundle",
    "base_tree",
    "source_patch",
    "tested_tree",
    "canonical_patch",
    "environment",
    "redfirst",
)


def differences(old: Receipt, new: Receipt) -> list[str]:
    """Where two receipts do not rest on the same things, one line each."""
    before, after = asdict(old), asdict(new)
    return [
        f"{name}: the receipt says {before[name]}, now it is {after[name]}"
        for name in _COMPARED
        if before[name] != after[name]
    ]
