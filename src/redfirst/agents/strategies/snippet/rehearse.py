# SPDX-License-Identifier: Apache-2.0
"""Runs a written test statement by statement on Base: every assertion must fail or hold by itself.

A test stops at its first failing assertion, so the gate sees only that one. Here each is tried: the statements run
one by one, and a failing one does not end the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from redfirst.agents.strategies.snippet.findings import Finding, Kind
from redfirst.agents.strategies.snippet.probe import Prober, Seen
from redfirst.agents.strategies.snippet.write import Part, TestText

_SELF = "import unittest\nself = unittest.TestCase()"
_ASSERTIONS = frozenset({"AssertionError", "Failed"})


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What came of it. ``imports``: lines that the statements turned out to need; ``seen``: one for each part.

    ``wrong``: findings and guards that do not behave as they should, with the reason; ``problem``: why all is wrong.
    """

    seen: tuple[Seen, ...]
    imports: tuple[str, ...] = ()
    wrong: tuple[tuple[Finding, str], ...] = ()
    problem: str = ""


def rehearse(prober: Prober, test: TestText, known: Mapping[int, str] = MappingProxyType({})) -> Rehearsal:
    """One run. ``known``: steps that run a command → the repr of what came of it.

    Raises SandboxError, EnvironmentFailed.
    """
    codes, offset = script(test)
    started = [(offset + n, part) for n, part in enumerate(test.parts) if part.step in known]
    observed = prober.observe(codes, [(place, "result") for place, _ in started])
    if len(observed.steps) < len(codes):
        return Rehearsal((), problem=observed.problem or "the run was cut")
    framework = (
        {offset - 1} if test.unittest else set()
    )  # the line that makes ``self`` is not part of the test
    supplied = dict.fromkeys(
        line for n, seen in enumerate(observed.steps) if n not in framework for line in seen.imports
    )
    judged = replace(_judged(test, observed.steps[offset:]), imports=tuple(supplied))
    changed = [
        (part.shows, "its command does something else without those before it")
        for (_, part), done in zip(started, observed.checks, strict=True)
        if part.shows and not (done and done.value and done.value.repr == known[part.step])
    ]
    return replace(judged, wrong=(*changed, *(one for one in judged.wrong if one[0] not in dict(changed))))


def script(test: TestText) -> tuple[list[str], int]:
    """The statements of a test as steps, and the number of those before its parts."""
    first = [*test.imports, *test.definitions, *([_SELF] if test.unittest else [])]
    return [*first, *(part.code for part in test.parts)], len(first)


def _judged(test: TestText, seen: Sequence[Seen]) -> Rehearsal:
    wrong: list[tuple[Finding, str]] = []
    for part, one in zip(test.parts, seen, strict=True):
        if part.shows is None:
            if one.raised:
                why = f"{one.raised.name}: {one.raised.message}"[:160]
                return Rehearsal(tuple(seen), problem=f"its set-up fails ({why})")
            continue
        why = misbehaves(part, one)
        if why:
            wrong.append((part.shows, why))
    return Rehearsal(tuple(seen), wrong=tuple(wrong))


def misbehaves(part: Part, seen: Seen) -> str:
    """Why a part does not do on Base what its finding or guard says; '' if it does."""
    finding = part.shows
    if finding is None:
        return ""
    if part.guard:
        return f"it does not hold on Base ({seen.raised.name})" if seen.raised else ""
    if seen.raised is None:
        return "not false when evaluated on Base"
    if seen.raised.name == "NameError" and finding.exception and finding.exception in seen.raised.message:
        return f"the project has no exception named {finding.exception} at hand"
    if seen.raised.name not in expected_errors(finding):
        return f"on Base it ends in {seen.raised.name}: {seen.raised.message}"[:200]
    return ""


def expected_errors(finding: Finding) -> frozenset[str]:
    """Names of the exceptions in which a test of this finding may end on Base."""
    if finding.kind in (Kind.RETURNS, Kind.NOT_RAISES) and not finding.open_end:
        return frozenset({finding.exception.rpartition(".")[2]})
    if finding.kind is Kind.RAISES:
        name = finding.observed.partition(":")[0]
        return _ASSERTIONS | ({name} if name.isidentifier() else set())
    return _ASSERTIONS
