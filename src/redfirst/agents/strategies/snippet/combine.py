# SPDX-License-Identifier: Apache-2.0
"""Combines findings and guards: which of them one bundle asserts, and which of those share one test function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.findings import Finding
from redfirst.agents.strategies.snippet.needed import needed
from redfirst.agents.strategies.snippet.probe import Seen
from redfirst.agents.strategies.snippet.spawn import FOLDER
from redfirst.agents.strategies.snippet.steps import Step


@dataclass(frozen=True, slots=True)
class Case:
    """What one bundle asserts. ``findings`` fail on Base, ``guards`` hold there; both in the report's order."""

    findings: tuple[Finding, ...]
    guards: tuple[Finding, ...] = ()

    @property
    def asserted(self) -> tuple[Finding, ...]:
        """Findings and guards together, in the report's order."""
        return tuple(sorted((*self.findings, *self.guards), key=lambda f: (f.step, f.kind)))


def cases(findings: Sequence[Finding], guards: Sequence[Finding]) -> Iterator[Case]:
    """The combinations to try, the one that says most first.

    All findings with the guards; without the guards; the findings of the strongest kind; each finding alone,
    the strongest first.
    """
    ranked = sorted(findings, key=lambda f: (f.kind, f.step))
    if not ranked:
        return
    chosen = _apart(ranked, ())
    held = _apart(sorted(guards, key=lambda f: f.step), chosen)
    strongest = [f for f in chosen if f.kind is chosen[0].kind]
    tried: list[Case] = []
    for case in (
        Case(_ordered(chosen), _ordered(held)),
        Case(_ordered(chosen)),
        Case(_ordered(strongest), _ordered(held)),
        Case(_ordered(strongest)),
        *(Case((finding,)) for finding in ranked),
    ):
        if case not in tried:
            tried.append(case)
            yield case


def covered(finding: Finding) -> frozenset[int]:
    """The steps whose results a finding is about."""
    steps = {finding.step, *(check.step for check in finding.checks)}
    return frozenset(steps | set(range(finding.since, finding.step + 1)) if finding.printed else steps)


def _apart(ranked: Sequence[Finding], beside: Sequence[Finding]) -> list[Finding]:
    """The first of those that are about the same step, none about a step of ``beside``."""
    taken = set().union(*(covered(finding) for finding in beside))
    kept: list[Finding] = []
    for finding in ranked:
        if not covered(finding) & taken:
            kept.append(finding)
            taken |= covered(finding)
    return kept


def _ordered(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda f: (f.step, f.kind)))


def functions_of(case: Case, steps: Sequence[Step], seen: Sequence[Seen]) -> list[Case]:
    """One case for each test function: what shares statements belongs together, and so does what needs none."""
    parts: list[tuple[Case, frozenset[int]]] = []
    for finding in case.asserted:
        own = covered(finding)
        found = needed(steps, seen, own)
        single = Case((), (finding,)) if finding in case.guards else Case((finding,))
        alone = bool(finding.printed or finding.example)
        shared = {index for index in found.body if not (steps[index].file or steps[index].code == FOLDER)}
        keys = frozenset(shared) | frozenset({-1 - steps[finding.step].block} if not alone else ())
        parts = _joined(parts, single, keys, alone)
    return [part for part, _ in parts]


def _joined(
    parts: list[tuple[Case, frozenset[int]]], single: Case, keys: frozenset[int], alone: bool
) -> list[tuple[Case, frozenset[int]]]:
    """Put ``single`` to those it shares a key with; those are then one."""
    if alone:
        return [*parts, (single, frozenset())]
    near = [part for part in parts if part[1] & keys]
    rest = [part for part in parts if part not in near]
    findings = tuple(f for case, _ in near for f in case.findings)
    guards = tuple(f for case, _ in near for f in case.guards)
    merged = Case(_ordered((*findings, *single.findings)), _ordered((*guards, *single.guards)))
    return [*rest, (merged, keys.union(*(held for _, held in near)))]
