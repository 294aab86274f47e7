# SPDX-License-Identifier: Apache-2.0
"""Drives the snippet strategy from a report to a qualified bundle or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from redfirst.agents.strategies.snippet.bundle import Workshop
from redfirst.agents.strategies.snippet.claimed import CannotWrite
from redfirst.agents.strategies.snippet.combine import Case, cases
from redfirst.agents.strategies.snippet.confirm import confirmed, with_confirmed
from redfirst.agents.strategies.snippet.decide import decide
from redfirst.agents.strategies.snippet.findings import Decision, Finding
from redfirst.agents.strategies.snippet.guesses import Guess, traced
from redfirst.agents.strategies.snippet.homes import attributes, homes_of, undefined
from redfirst.agents.strategies.snippet.locate import found_from
from redfirst.agents.strategies.snippet.probe import Prober
from redfirst.agents.strategies.snippet.project import import_folders, packages
from redfirst.agents.strategies.snippet.public import introduce
from redfirst.agents.strategies.snippet.report import Report, read_report
from redfirst.agents.strategies.snippet.steps import Step
from redfirst.agents.strategies.snippet.story import Story, tell
from redfirst.agents.strategies.snippet.submit import Desk
from redfirst.agents.strategies.snippet.tools import tools_of
from redfirst.agents.strategies.snippet.tracebacks import find_exception
from redfirst.agents.strategies.snippet.variants import with_variants
from redfirst.agents.task import Gate, QualifiedBundle, Refusal, Task
from redfirst.core.errors import EnvironmentFailed, SandboxError
from redfirst.core.kinds import FailureKind

_MAX_SUBMISSIONS = 8
_UNDECIDED = frozenset({FailureKind.ENVIRONMENT_ERROR, FailureKind.INFRASTRUCTURE_ERROR})


class SnippetStrategy:
    """Runs the report's own code on Base and writes a test only of what it saw go wrong as reported."""

    name = "snippet"

    def reproduce(self, task: Task, gate: Gate) -> QualifiedBundle | Refusal:
        """A bundle that the gate qualified, or why there is none. Raises UsageError for an unreadable report."""
        report = read_report(task.issue)
        tools, names = tools_of(gate), packages(gate)
        story = tell(report, tools)
        guesses = traced(report, names, [step.code for step in story.steps])
        if not story.steps and not guesses:
            return _without_code(story)
        prober = Prober(gate, import_folders(gate), names, _homes(gate, story, guesses))
        try:
            if any(step.command for step in story.steps):
                story = tell(report, replace(tools, found=found_from(prober)))
            if guesses:
                task.log(f"trying {len(guesses)} calls that the report only hints at")
            story = with_variants(with_confirmed(story, confirmed(prober, guesses)))
            if not story.steps:
                return _without_code(story)
            return _Attempt(task, gate, report, story, prober).run()
        except (SandboxError, EnvironmentFailed) as error:
            return Refusal(f"the report's code could not be run: {error}", decided=False)


def _without_code(story: Story) -> Refusal:
    why = "the report has no Python code, and no command of the project, that could run"
    return Refusal(why, story.unread, _lacks_code(story.report))


def _homes(gate: Gate, story: Story, guesses: Sequence[Guess]) -> tuple[tuple[str, str], ...]:
    """Import lines for what the report's code leaves undefined and the project defines in one place."""
    shown = [shown for block in story.report.blocks if (shown := find_exception(block.text))]
    hints = tuple(frame.file for exception in shown for frame in exception.frames)
    steps = [*story.steps, *(Step(guess.code, guess.line, guess.number) for guess in guesses)]
    return tuple(sorted(homes_of(gate, undefined(steps), attributes(steps), hints).items()))


def _lacks_code(report: Report) -> tuple[str, ...]:
    shown = "a Python snippet or a shell session in a code block, with what it gives and what it should give"
    return (shown, "the call that leads to the traceback") if "Traceback" in str(report.blocks) else (shown,)


@dataclass(slots=True)
class _Attempt:
    """One report on one Base."""

    task: Task
    gate: Gate
    report: Report
    story: Story
    prober: Prober

    def run(self) -> QualifiedBundle | Refusal:
        codes = [step.code for step in self.story.steps]
        self.task.log(f"running {len(codes)} statements of the report")
        observed = self.prober.observe_twice(codes)
        decision = decide(self.story, observed)
        tried = [f"ran {len(observed.steps)} of the report's {len(codes)} statements, twice"]
        if observed.problem:
            tried.append(f"the run was cut: {observed.problem}")
        if not decision.findings:
            return self._refused(decision, tried)
        asserted = (*decision.findings, *decision.guards)
        introduced = introduce(self.prober, codes, observed, asserted)
        desk = Desk(self.task, self.gate, self.prober, self.report, self.story.steps)
        workshop = Workshop(desk, self.prober, introduced.seen, introduced.exceptions)
        return self._submitted(workshop, decision, tried)

    def _submitted(
        self, workshop: Workshop, decision: Decision, tried: list[str]
    ) -> QualifiedBundle | Refusal:
        """Hand in one combination after the other, the one that says most first, until one qualifies."""
        done: list[tuple[Finding, ...]] = []
        for case in cases(decision.findings, decision.guards):
            if workshop.submissions >= _MAX_SUBMISSIONS:
                break
            try:
                ready = workshop.rehearsed(case)
                if not ready.case.findings or ready.case.asserted in done:
                    tried += [line for line in ready.dropped if line not in tried]
                    continue
                done.append(ready.case.asserted)
                answer = workshop.hand_in(ready)
            except CannotWrite as error:
                answer = str(error)
                ready = None
            if isinstance(answer, QualifiedBundle):
                return answer
            dropped = ready.dropped if ready else ()
            tried += [line for line in (*dropped, f"{_words(case)}: {answer}") if line not in tried]
        return self._refused(decision, tried)

    def _refused(self, decision: Decision, tried: Sequence[str]) -> Refusal:
        reason = "what the report says could not be confirmed by running its code"
        if decision.findings:
            reason = "no test of what the report says fails on Base as the report has it"
        undecided = any(kind.value in line for kind in _UNDECIDED for line in tried) and bool(
            decision.findings
        )
        lacks = self._lacks(decision.doubts)
        return Refusal(reason, (*tried, *decision.doubts), lacks, decided=not undecided)

    def _lacks(self, doubts: Sequence[str]) -> tuple[str, ...]:
        lacking = [
            "a result or an exception that the report calls wrong and that comes out when its code runs"
        ]
        if any("not clear" in doubt for doubt in doubts):
            lacking.append("which of its statements gives the wrong result")
        return tuple(lacking)


def _words(case: Case) -> str:
    wanted = ", ".join(finding.expected.strip()[:120] for finding in case.findings)
    return f"a test that expects {wanted}" + (" with its guards" if case.guards else "")
