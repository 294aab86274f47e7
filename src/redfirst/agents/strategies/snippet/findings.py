# SPDX-License-Identifier: Apache-2.0
"""What was confirmed: the properties that a test may assert, with the words of the report that ask for them.

How several findings and guards are to be read: every finding is false on Base and every guard is true there. All of
them hold at once in the world that the report asks for, so one test, or several of one bundle, may assert them
together, each after its own step; a finding left out makes the test weaker, never wrong. There is at most one
finding for a step and a kind; where two kinds are about one step (RETURNS and NOT_RAISES), the stronger one says
all that the other does, and the other is there for a gate that does not qualify the first.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import IntEnum

from redfirst.agents.task import Strength


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

    @property
    def strength(self) -> Strength:
        """How much a test of this finding pins down; of several checks the weakest counts."""
        if self.kind in (Kind.NOT_VALUE, Kind.NOT_RAISES):
            return Strength.NOT_THIS
        if self.kind in (Kind.ASSERTS, Kind.RAISES) or not all(
            is_whole(check.expression) for check in self.checks
        ):
            return Strength.PROPERTY
        return Strength.EXACT


def is_whole(expression: str) -> bool:
    """Whether an expression over ``_`` says what ``_`` is, as a whole: ``_ == 3``, ``repr(_) == 'A(1)'``."""
    tree = ast.parse(expression, mode="eval").body
    if not isinstance(tree, ast.Compare) or not isinstance(tree.ops[0], ast.Eq | ast.Is):
        return False
    left = tree.left
    while isinstance(left, ast.Call):
        inner = left.args[0] if left.args else getattr(left.func, "value", None)
        if not isinstance(inner, ast.expr) or not _keeps_all(left.func):
            return False
        left = inner
    return isinstance(left, ast.Name) and left.id == "_"


def _keeps_all(function: ast.expr) -> bool:
    """Whether a call keeps what there is to know of its object: its text, or that text without blank ends."""
    names = ("repr", "str", "strip", "rstrip", "ascii")
    return (isinstance(function, ast.Name) and function.id in names) or (
        isinstance(function, ast.Attribute) and function.attr in names
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """Findings, strongest first, and what speaks against every one that was considered but dropped.

    The findings of different steps are compatible: one test may assert several. ``guards`` have the form of findings
    but hold on Base: what the report says works and must stay as it is.
    """

    findings: tuple[Finding, ...]
    doubts: tuple[str, ...]
    guards: tuple[Finding, ...] = ()
