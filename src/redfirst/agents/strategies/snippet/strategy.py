# SPDX-License-Identifier: Apache-2.0
"""Drives the snippet strategy from a report to a qualified bundle or a refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from redfirst.agents.strategies.snippet.contract import contract_for
from redfirst.agents.strategies.snippet.decide import decide
from redfirst.agents.strategies.snippet.findings import Finding, Kind
from redfirst.agents.strategies.snippet.patch import Placed, put
from redfirst.agents.strategies.snippet.place import hosts, subject_of_code
from redfirst.agents.strategies.snippet.probe import Observed, Prober
from redfirst.agents.strategies.snippet.project import import_folders, owns, packages
from redfirst.agents.strategies.snippet.report import Report, read_report
from redfirst.agents.strategies.snippet.story import Story, tell
from redfirst.agents.strategies.snippet.write import CannotWrite, name_for, write_test
from redfirst.agents.task import Gate, QualifiedBundle, Refusal, Task
from redfirst.core.bundle import TestBundle
from redfirst.core.errors import EnvironmentFailed, SandboxError
from redfirst.core.kinds import FailureKind
from redfirst.core.verdict import Verdict
from redfirst.gate.contract import contract_bytes

_MAX_SUBMISSIONS = 6
_UNDECIDED = frozenset({FailureKind.ENVIRONMENT_ERROR, FailureKind.INFRASTRUCTURE_ERROR})


class SnippetStrategy:
    """Runs the report's own code on Base and writes a test only of what it saw go wrong as reported."""

    name = "snippet"

    def reproduce(self, task: Task, gate: Gate) -> QualifiedBundle | Refusal:
        """A bundle that the gate qualified, or why there is none. Raises UsageError for an unreadable report."""
        report = read_report(task.issue)
        story = tell(report)
        if not story.steps:
            return Refusal("the report has no Python code that could run", (), _lacks_code(report))
        names = packages(gate)
        prober = Prober(gate, import_folders(gate), names)
        try:
            return _Attempt(task, gate, report, story, prober).run()
        except (SandboxError, EnvironmentFailed) as error:
            return Refusal(f"the report's code could not be run: {error}", decided=False)


def _lacks_code(report: Report) -> tuple[str, ...]:
    shown = "a Python snippet in a code block, with what it gives and what it should give"
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
        findings, dropped = self._confirmed(decision.findings, codes)
        tried += dropped
        for finding, refused in self._submit(findings, observed):
            if isinstance(refused, QualifiedBundle):
                return refused
            tried.append(f"{_words(finding)}: {refused}")
        reason = "what the report says could not be confirmed by running its code"
        if findings:
            reason = "no test of what the report says fails on Base as the report has it"
        undecided = any(kind.value in line for kind in _UNDECIDED for line in tried) and bool(findings)
        return Refusal(
            reason, (*tried, *decision.doubts), self._lacks(decision.doubts), decided=not undecided
        )

    def _confirmed(self, findings: Sequence[Finding], codes: list[str]) -> tuple[list[Finding], list[str]]:
        """Findings whose checks are false on Base when evaluated there, and why the others were dropped."""
        checks = [
            (c.step, c.expression) for f in findings if not (f.printed or f.exception) for c in f.checks
        ]
        if not checks:
            return list(findings), []
        results = dict(zip(checks, self.prober.observe(codes, checks).checks, strict=True))
        kept: list[Finding] = []
        dropped: list[str] = []
        for finding in findings:
            answers = [results.get((c.step, c.expression)) for c in finding.checks]
            judged = not (finding.printed or finding.exception) and bool(finding.checks)
            if judged and not all(answer is not None and answer.truth is False for answer in answers):
                dropped.append(f"{_words(finding)}: not false when evaluated on Base")
            else:
                kept.append(finding)
        return kept, dropped

    def _submit(
        self, findings: Sequence[Finding], observed: Observed
    ) -> list[tuple[Finding, QualifiedBundle | str]]:
        """Hand in a test for each finding, the strongest first, until one qualifies."""
        answers: list[tuple[Finding, QualifiedBundle | str]] = []
        for finding in findings:
            if len(answers) >= _MAX_SUBMISSIONS:
                break
            try:
                extra = self._exception_import(finding)
                answer = self._hand_in(finding, observed, extra)
            except CannotWrite as error:
                answer = str(error)
            answers.append((finding, answer))
            if isinstance(answer, QualifiedBundle):
                break
        return answers

    def _exception_import(self, finding: Finding) -> tuple[str, ...]:
        """Import lines that make the name of the wanted exception known. Raises CannotWrite."""
        if finding.kind is not Kind.RAISES:
            return ()
        codes = [step.code for step in self.story.steps]
        seen = self.prober.observe([*codes[: finding.step + 1], finding.exception]).steps
        last = seen[-1] if len(seen) == finding.step + 2 else None
        if last is None or last.value is None or not last.value.type.startswith("builtins.type"):
            raise CannotWrite(f"the project has no exception named {finding.exception} at hand")
        return last.imports

    def _hand_in(self, finding: Finding, observed: Observed, extra: Sequence[str]) -> QualifiedBundle | str:
        """Try the places for the test, best first. Raises CannotWrite."""
        unittest = self.gate.runner == "unittest"
        test = write_test(finding, self.story.steps, observed.steps, extra, unittest=unittest)
        codes = [*test.imports, *test.definitions, "\n".join(test.body)]
        subject = subject_of_code(codes, lambda module: owns(self.gate, module))
        if not subject.modules:
            raise CannotWrite("its code uses nothing of this project")
        slug = re.sub(r"[^a-z0-9]+", "_", self.report.title.lower()).strip("_")[:32].strip("_") or "report"
        why = "no place for a test"
        for host in hosts(self.gate, subject, slug, fresh_only=bool(test.definitions)):
            if host.unittest != unittest:
                test = write_test(finding, self.story.steps, observed.steps, extra, unittest=host.unittest)
            name = name_for(self.report.title, host.taken)
            placed = put(test, host, name, self.gate.runner)
            answer = self._qualify(finding, placed)
            if isinstance(answer, QualifiedBundle):
                return answer
            why = answer
        return why

    def _qualify(self, finding: Finding, placed: Placed) -> QualifiedBundle | str:
        code = self.story.steps[finding.step].code
        contract = contract_for(finding, self.report, code, placed.node)
        bundle = TestBundle(placed.patch, placed.command, contract_bytes(contract))
        self.task.log(f"handing in {placed.node}")
        answer = self.gate.qualify(bundle)
        if self.task.submitted is not None:
            self.task.submitted(bundle, answer.verdict)
        if answer.frozen is None:
            return f"{answer.verdict.kind.value}: {answer.verdict.why}"
        if not _as_reported(finding, answer.verdict):
            return f"the test fails in another way than the report says ({answer.verdict.why})"
        return QualifiedBundle(answer.frozen.bundle, answer.verdict)

    def _lacks(self, doubts: Sequence[str]) -> tuple[str, ...]:
        lacking = [
            "a result or an exception that the report calls wrong and that comes out when its code runs"
        ]
        if any("not clear" in doubt for doubt in doubts):
            lacking.append("which of its statements gives the wrong result")
        return tuple(lacking)


def _words(finding: Finding) -> str:
    return f"a test that expects {finding.expected.strip()[:120]}"


def _as_reported(finding: Finding, verdict: Verdict) -> bool:
    """Whether the test failed for the finding's own reason, not for another one."""
    name = finding.exception
    raised = finding.kind in (Kind.RETURNS, Kind.NOT_RAISES) and not finding.open_end
    if finding.kind is Kind.RAISES:
        name = finding.observed.partition(":")[0]
        raised = name.isidentifier() and verdict.kind is FailureKind.EXCEPTION_RAISED
    if not raised:
        return verdict.kind is FailureKind.ASSERTION_FAILED
    messages = " ".join(node.message for node in verdict.nodes)
    return verdict.kind is FailureKind.EXCEPTION_RAISED and name in messages
