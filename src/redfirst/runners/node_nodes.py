# SPDX-License-Identifier: Apache-2.0
"""From the entries of Node's stream to nodes, and to what the stream says against itself.

Suites are no nodes; a subtest belongs to the outermost test around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from redfirst.core.evidence import Failure, NodeResult, Phase, PhaseOutcome, PhaseResult
from redfirst.runners.js_text import SEPARATOR, declared_titles
from redfirst.runners.node_evidence import failure_of, raised
from redfirst.runners.node_report import Entry, NodeReport
from redfirst.runners.protocol import Project

_LAST_TO_LIST_ALL = 20
_HOOK = re.compile(r"failed running (\w+) hook")


@dataclass(frozen=True)
class Reading:
    """One report over one project. ``files``: what the command names; ``titles``: what it selects."""

    report: NodeReport
    project: Project
    files: Sequence[str]
    titles: Sequence[str]

    @cached_property
    def tests(self) -> tuple[Entry, ...]:
        """Entries of tests that are not part of another test."""
        own = [entry for entry in self.report.entries if not entry.suite]
        paths = {(entry.file, entry.path) for entry in own}
        return tuple(
            entry
            for entry in own
            if not any((entry.file, entry.path[:depth]) in paths for depth in range(1, len(entry.path)))
        )

    def nodes(self) -> tuple[NodeResult, ...]:
        """The tests that ran, in order, then those that began and never ended."""
        results: dict[str, list[PhaseResult]] = {}
        for entry in self.tests:
            if entry.selected:
                results.setdefault(self._id(entry), []).extend(self._phases(entry))
        found = [NodeResult(node, tuple(phases)) for node, phases in results.items()]
        return (*found, *(NodeResult(name, (), finished=False) for name in self._unfinished()))

    def _id(self, entry: Entry) -> str:
        title = SEPARATOR.join(entry.path)
        files = {other.file for other in self.tests if other.path == entry.path}
        return f"{self._relative(entry.file)}::{title}" if len(files) > 1 else title

    def _relative(self, file: str) -> str:
        return self.project.place(file)[0]

    def _unfinished(self) -> list[str]:
        """Selected tests at the top level that began without a result."""
        ended = {(entry.path[0], entry.file) for entry in self.report.entries}
        names = [name for name, file in self.report.begun if (name, file) not in ended]
        return [name for name in dict.fromkeys(names) if name in self.titles]

    def _phases(self, entry: Entry) -> list[PhaseResult]:
        phases = [self._own_phase(entry)]
        for suite in self.report.entries:
            around = suite.suite and suite.file == entry.file and entry.path[: len(suite.path)] == suite.path
            if around and suite.failure_type == "hookFailed":
                phases.append(self._hook(suite))
        for file in self.report.files:
            if file.file == entry.file and not file.passed:
                phases.extend(self._file_phases(file))
        return phases

    def _own_phase(self, entry: Entry) -> PhaseResult:
        if entry.skip:
            return PhaseResult(Phase.CALL, PhaseOutcome.SKIPPED, note=entry.skip)
        if entry.todo:
            outcome = PhaseOutcome.XPASSED if entry.passed else PhaseOutcome.XFAILED
            return PhaseResult(Phase.CALL, outcome, note=f"todo: {entry.todo}")
        if entry.passed:
            return PhaseResult(Phase.CALL, PhaseOutcome.PASSED, seconds=entry.seconds)
        if entry.failure_type == "hookFailed":
            return self._hook(entry)
        failures = self._subtest_failures(entry) or (self._failure(entry),)
        return PhaseResult(Phase.CALL, PhaseOutcome.FAILED, failures, entry.seconds)

    def _subtest_failures(self, entry: Entry) -> tuple[Failure, ...]:
        """The failures inside a test that failed by its subtests alone."""
        if entry.failure_type != "subtestsFailed":
            return ()
        depth = len(entry.path)
        inner = [
            other
            for other in self.report.entries
            if other.file == entry.file and len(other.path) > depth and other.path[:depth] == entry.path
        ]
        return tuple(
            self._failure(other)
            for other in inner
            if not other.passed and not other.todo and other.failure_type != "subtestsFailed"
        )

    def _failure(self, entry: Entry) -> Failure:
        return failure_of(entry.error, entry.failure_type, self.project)

    def _hook(self, entry: Entry) -> PhaseResult:
        """A hook that failed; Node says which one in the message of its own error."""
        match = _HOOK.match(str((entry.error or {}).get("message", "")))
        phase = Phase.TEARDOWN if match and match[1].startswith("after") else Phase.SETUP
        return PhaseResult(phase, PhaseOutcome.FAILED, (self._failure(entry),))

    def _file_phases(self, file: Entry) -> list[PhaseResult]:
        """What failed in a file outside its tests, after they ran: root hooks, errors that came late."""
        if file.failure_type == "hookFailed":
            return [PhaseResult(Phase.TEARDOWN, PhaseOutcome.FAILED, (self._failure(file),))]
        late = self._uncaught(file.file)
        return [PhaseResult(Phase.TEARDOWN, PhaseOutcome.FAILED, late)] if late else []

    def _uncaught(self, file: str) -> tuple[Failure, ...]:
        return tuple(raised(one.error, self.project) for one in self.report.uncaught if one.file == file)

    def _ran(self, file: str) -> bool:
        return any(entry.file == file and entry.selected for entry in self.tests)

    def collection_failures(self) -> tuple[Failure, ...]:
        """Errors that ended a file before a selected test of it ran, and suites whose body threw."""
        failures: list[Failure] = []
        for file in self.report.files:
            if not file.passed and not self._ran(file.file):
                failures.extend(self._uncaught(file.file))
        broken = [e for e in self.report.entries if e.suite and e.failure_type == "testCodeFailure"]
        failures.extend(self._failure(entry) for entry in broken)
        return tuple(failures)

    def left_out(self) -> tuple[str, ...]:
        """Selected tests that a file's text has and that did not run: those of a suite skipped whole."""
        ran = {SEPARATOR.join(entry.path) for entry in self.tests if entry.selected}
        titles = (title for path in self.files for title in self._titles(path) if self._chosen(title))
        return tuple(dict.fromkeys(title for title in titles if title not in ran))

    def available(self, patched: Sequence[str]) -> tuple[str, ...]:
        """Tests of the patched files, from the stream where it has them all, else from the text too."""
        found: dict[str, None] = {}
        for path in patched:
            seen = [entry for entry in self.tests if self._relative(entry.file) == path]
            found.update(dict.fromkeys(self._id(entry) for entry in seen))
            if not seen or self.report.version[:1] > (_LAST_TO_LIST_ALL,):
                found.update(dict.fromkeys(self._titles(path)))
        return tuple(found)

    def _titles(self, path: str) -> tuple[str, ...]:
        text = self.project.read(path)
        return (declared_titles(text.decode("utf-8", "replace")) or ()) if text else ()

    def complete(self) -> bool:
        """Whether the runner and every file's process came to their own end."""
        return self.report.ended and not self._unfinished() and all(map(self._file_ended, self.report.files))

    def _file_ended(self, file: Entry) -> bool:
        """Whether a file's process ended by itself; one that did not leaves tests out of the stream."""
        if (file.error or {}).get("signal"):
            return False
        if self._ran(file.file) or (not file.passed and self._uncaught(file.file)):
            return True
        if file.passed and self.report.summaries is not None:
            return file.file in self.report.summaries
        if any(entry.file == file.file for entry in self.report.entries):
            return True
        expected = self._titles(self._relative(file.file))
        if self.report.version[:1] > (_LAST_TO_LIST_ALL,):
            expected = tuple(title for title in expected if self._chosen(title))
        return file.passed and not expected

    def _chosen(self, title: str) -> bool:
        levels = title.split(SEPARATOR)
        return levels[-1] in self.titles or " ".join(levels) in self.titles

    def contradictions(self, status: int | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Problems, and signs that somebody else wrote to the report."""
        report = self.report
        problems = [f"{name} has a result without a beginning" for name in report.unpaired]
        failed = [
            entry
            for entry in (*report.entries, *report.files)
            if not (entry.passed or entry.suite or entry.todo or entry.skip)
        ]
        if report.ended and status == 0 and failed:
            problems.append("the runner ended with status 0 though tests failed")
        anything = [e for e in (*report.entries, *report.files) if not e.passed]
        if report.ended and status not in (0, None) and not anything:
            problems.append(f"the runner ended with status {status} though nothing failed")
        problems += [
            f"the process of {self._relative(file.file)} failed though its tests passed"
            for file in report.files
            if not file.passed and self._unexplained(file)
        ]
        foreign = f"{report.foreign} lines of the report are not the reporter's own"
        return tuple(problems), (foreign,) if report.foreign else ()

    def _unexplained(self, file: Entry) -> bool:
        if (file.error or {}).get("signal") or file.failure_type == "hookFailed" or not self._ran(file.file):
            return False
        failed = any(e.file == file.file and not e.passed for e in self.report.entries)
        return not failed and not self._uncaught(file.file)
