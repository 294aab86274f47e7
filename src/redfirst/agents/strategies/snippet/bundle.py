# SPDX-License-Identifier: Apache-2.0
"""Makes a bundle of a case: functions written, rehearsed, cleaned, put in their file and handed in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from redfirst.agents.strategies.snippet.claimed import CannotWrite, Flavour
from redfirst.agents.strategies.snippet.combine import Case, functions_of
from redfirst.agents.strategies.snippet.contract import entry_of
from redfirst.agents.strategies.snippet.findings import Finding, Kind
from redfirst.agents.strategies.snippet.homes import fixture_homes
from redfirst.agents.strategies.snippet.minimise import minimised
from redfirst.agents.strategies.snippet.names import name_for, slug_for
from redfirst.agents.strategies.snippet.patch import Named
from redfirst.agents.strategies.snippet.place import Host, hosts, subject_of_code
from redfirst.agents.strategies.snippet.probe import Prober, Seen
from redfirst.agents.strategies.snippet.project import owns
from redfirst.agents.strategies.snippet.rehearse import rehearse
from redfirst.agents.strategies.snippet.steps import FIXTURES
from redfirst.agents.strategies.snippet.submit import Desk, Refused
from redfirst.agents.strategies.snippet.table import tabulated
from redfirst.agents.strategies.snippet.write import TestText, write_test
from redfirst.agents.task import QualifiedBundle

_MARGIN = 4


@dataclass(frozen=True, slots=True)
class Function:
    """A case for one test function, with the steps of the report that its text keeps; ``imports`` found on the way."""

    case: Case
    kept: frozenset[int]
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ready:
    """What was rehearsed. ``dropped``: why findings or guards were left out."""

    case: Case
    functions: tuple[Function, ...]
    dropped: tuple[str, ...] = ()


@dataclass(slots=True)
class Workshop:
    """``exceptions``: import lines of wanted exceptions; ``submissions``: how many bundles were handed in."""

    desk: Desk
    prober: Prober
    seen: Sequence[Seen]
    exceptions: Mapping[str, tuple[str, ...]]
    submissions: int = 0
    dropped: dict[Finding, str] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------ rehearsing
    def rehearsed(self, case: Case) -> Ready:
        """Write and try every function of a case; what does not behave is left out."""
        wanted = Case(self._sound(case.findings), self._sound(case.guards))
        functions: list[Function] = []
        for part in functions_of(wanted, self.desk.steps, self.seen) if wanted.asserted else []:
            done = self._function(part)
            if done is not None:
                functions.append(done)
        findings = tuple(f for done in functions for f in done.case.findings)
        guards = tuple(f for done in functions for f in done.case.guards)
        lines = (f"{finding.expected.strip()[:120]}: {why}" for finding, why in self.dropped.items())
        return Ready(Case(findings, guards), tuple(functions), tuple(lines))

    def _sound(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        for finding in findings:
            if finding.kind is Kind.RAISES and finding.exception not in self.exceptions:
                self.dropped[finding] = f"the project has no exception named {finding.exception} at hand"
        return tuple(finding for finding in findings if finding not in self.dropped)

    def _function(self, case: Case) -> Function | None:
        """Rehearse one function until all that is left in it behaves, then clean it."""
        extra: tuple[str, ...] = ()
        for _ in range(3):
            if not case.asserted:
                return None
            unittest = case.asserted[0].printed
            try:
                test = self._written(case, Flavour(unittest=unittest), extra)
            except CannotWrite as error:
                self.dropped |= {finding: str(error) for finding in case.asserted}
                return None
            if test.arguments and case.asserted[0].example:
                return Function(case, frozenset(part.step for part in test.parts))
            outcome = rehearse(self.prober, test, self._came_of(test))
            if outcome.problem:
                self.dropped |= {finding: outcome.problem for finding in case.asserted}
                return None
            self.dropped |= dict(outcome.wrong)
            extra = tuple(dict.fromkeys([*extra, *outcome.imports]))
            if not outcome.wrong:
                kept = test if case.asserted[0].printed else minimised(self.prober, test, outcome.seen)
                return Function(case, frozenset(part.step for part in kept.parts), extra)
            case = Case(self._sound(case.findings), self._sound(case.guards))
        return None

    def _came_of(self, test: TestText) -> dict[int, str]:
        """Of the commands that a test runs: what came of each when the report's code ran as a whole."""
        held = [
            (part.step, self.seen[part.step].value)
            for part in test.parts
            if self.desk.steps[part.step].command
        ]
        return {step: value.repr for step, value in held if value is not None}

    def _written(self, case: Case, flavour: Flavour, extra: Sequence[str]) -> TestText:
        lines = [line for f in case.asserted for line in self.exceptions.get(f.exception, ()) if f.exception]
        return write_test(case, self.desk.steps, self.seen, [*extra, *lines], flavour)

    # ------------------------------------------------------------------------------------------ handing in
    def hand_in(self, ready: Ready) -> QualifiedBundle | str:
        """Try the places for the tests, best first. Raises CannotWrite."""
        unittest = self.desk.gate.runner != "pytest"
        drafts = [self._final(function, Flavour(unittest=unittest)) for function in ready.functions]
        codes = [code for draft in drafts for code in draft.code]
        codes += [f"import {FIXTURES[name]}" for d in drafts for name in d.arguments if name in FIXTURES]
        codes += [f"import {module}" for module in self._started(ready)]
        subject = subject_of_code(codes, lambda module: owns(self.desk.gate, module))
        if not subject.modules:
            arguments = frozenset(name for draft in drafts for name in draft.arguments)
            modules = fixture_homes(self.desk.gate, arguments)
            subject = replace(subject, modules=modules, names=subject.names | arguments)
        if not subject.modules:
            raise CannotWrite("its code uses nothing of this project")
        why = "no place for a test"
        future = any(line.startswith("from __future__") for draft in drafts for line in draft.imports)
        for host in hosts(self.desk.gate, subject, slug_for(self.desk.report.title), fresh_only=future):
            self.submissions += 1
            answer = self.desk.hand_in(self._named(ready, host), host)
            if isinstance(answer, QualifiedBundle):
                return answer
            why = answer.why
            if not answer.elsewhere:
                break
        return why

    def _started(self, ready: Ready) -> Iterator[str]:
        """Modules that the commands of a case start in a process of their own."""
        for finding in ready.case.asserted:
            command = self.desk.steps[finding.step].command
            yield from command.modules if command else ()

    def _final(self, function: Function, flavour: Flavour) -> TestText:
        test = self._written(function.case, flavour, function.imports)
        return replace(test, parts=tuple(part for part in test.parts if part.step in function.kept))

    def _named(self, ready: Ready, host: Host) -> list[Named]:
        """The functions as they are written in this file, each under its name."""
        room = host.habits.width - _MARGIN * (2 if host.case or host.unittest else 1)
        flavour = Flavour(host.unittest, room, host.habits.quote)
        taken = set(host.taken)
        named: list[Named] = []
        for function in ready.functions:
            test = self._final(function, flavour)
            if host.habits.tables and function.case.findings:
                test = tabulated(test, room) or test
            name = name_for(self.desk.report.title, frozenset(taken), self._suffix(function, ready))
            taken.add(name)
            named.append(Named(test, name, _sentence(self.desk.report.title)))
        return named

    def _suffix(self, function: Function, ready: Ready) -> str:
        """What tells one function of several from the others: what it calls, or that it is about what stays."""
        if len(ready.functions) == 1:
            return ""
        if not function.case.findings:
            return "otherwise"
        entries = [
            entry_of(self.desk.steps[f.case.findings[0].step]) for f in ready.functions if f.case.findings
        ]
        mine = entry_of(self.desk.steps[function.case.findings[0].step])
        tail = mine.rpartition(".")[2].lower()
        return tail if entries.count(mine) == 1 and tail.isidentifier() else ""


def _sentence(title: str) -> str:
    text = title.strip().rstrip(".")
    return text[:1].upper() + text[1:] + "." if text else ""


__all__ = ["Ready", "Refused", "Workshop"]
