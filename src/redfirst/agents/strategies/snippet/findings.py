# SPDX-License-Identifier: Apache-2.0
"""What was confirmed: the property that a test may assert, with the words of the report that ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Kind(IntEnum):
    """How much a test of this kind says; the strongest first."""

    EQUAL = 1  # the stated result
    ASSERTS = 2  # the report's own assertion
    RAISES = 3  # the stated exception must be raised
    RETURNS = 4  # the reported exception must not be raised, and the stated result must come
    NOT_RAISES = 5  # the reported exception must not be raised
    NOT_VALUE = 6  # not the reported wrong result: the weakest


@dataclass(frozen=True, slots=True)
class Check:
    """An expression that must hold after a step; ``_`` in it is the step's value (or its printed text)."""

    step: int
    expression: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One confirmed property. ``step``: the statement that shows it; ``observed`` and ``expected`` are for people.

    ``checks``: for the kinds that state a result. ``exception``: for those about one, as the report writes it.
    ``printed``: the value is what the steps of the scene from ``since`` on print.
    ``open_end``: another exception than the reported one is not objected to. ``example``: the report's test function.
    """

    kind: Kind
    step: int
    observed: str
    expected: str
    evidence: tuple[str, ...]
    checks: tuple[Check, ...] = ()
    exception: str = ""
    printed: bool = False
    since: int = 0
    open_end: bool = False
    example: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Findings, strongest first, and what speaks against every one that was considered but dropped.

    The findings of different steps are compatible: one test may assert several. ``guards`` have the form of findings
    but hold on Base: what the report says works and must stay as it is.
    """

    findings: tuple[Finding, ...]
    doubts: tuple[str, ...]
    guards: tuple[Finding, ...] = ()
