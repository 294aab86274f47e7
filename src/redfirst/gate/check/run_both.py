# SPDX-License-Identifier: Apache-2.0
"""Runs the touched tests of one runner on base and on head, and settles which cases are new."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from redfirst.core.errors import EnvironmentFailed
from redfirst.core.kinds import FailureKind
from redfirst.gate.check.label import Label, NodeRun, label
from redfirst.gate.check.nodes import TestFile, Touch, TouchedTest
from redfirst.gate.check.policy import Part, Row
from redfirst.gate.check.report import Sided, SideFacts
from redfirst.gate.check.sides import SideRunner, SideRuns, Wanted, with_changes
from redfirst.gate.observe import Bench, Tree
from redfirst.gate.session import GateSession
from redfirst.patches.apply import TreeChange
from redfirst.runners.protocol import Runner

_PARTS = {
    Touch.ADDED: Part.ADDED,
    Touch.ALTERED: Part.ALTERED,
    Touch.TABLE: Part.ALTERED,
    Touch.REACHED: Part.REACHED,
    Touch.MOVED: Part.MOVED,
}
#: Tests that no text shows, and that only the change of their file brings in, at most.
UNSEEN = 40


@dataclass(frozen=True, slots=True)
class BothSides:
    """What stays the same over the runners of one check. ``overlay``: head's tests; ``settings``: its configuration.

    ``same``: both trees are equal once head's tests lie over base, so that one side speaks for both.
    """

    base: GateSession
    head: GateSession
    overlay: tuple[TreeChange, ...]
    settings: tuple[TreeChange, ...]
    same: bool
    log: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BothRuns:
    """The labelled tests of one runner, and what should be said about how they ran."""

    nodes: tuple[Sided, ...]
    sides: tuple[SideFacts, ...]
    notes: tuple[str, ...]
    sandbox: str


@dataclass
class RunnerCheck:
    """The check of one runner's tests."""

    both: BothSides
    runner: Runner
    touched: tuple[TouchedTest, ...]
    files: tuple[TestFile, ...]
    notes: list[str] = field(default_factory=list)

    def run(self) -> BothRuns:
        """Run both sides and label every test. Raises SandboxError."""
        try:
            benches = self._benches()
        except EnvironmentFailed as error:
            return self._without_environment(str(error))
        base, head = benches
        touched = self.touched or self._unseen_on_head(head)
        if not touched:
            return BothRuns((), (), tuple(self.notes), "")
        was, now = self._both(base, head, touched)
        touched = self._with_unseen(touched, base, was, now, head)
        was = self._with_head_settings(base, touched, was, now)
        nodes = self._labelled(touched, base, was, now)
        facts = (self._facts("base", base, was.count), self._facts("head", head, now.count))
        return BothRuns(nodes, facts, tuple(self.notes), self.both.head.sandbox.name)

    def _benches(self) -> tuple[Bench, Bench]:
        name, both = self.runner.name, self.both
        head = both.head.bench(name, Tree(both.head.base))
        base = both.base.bench(name, Tree(both.base.base, both.overlay))
        return with_changes(base, head.project), head

    def _without_environment(self, why: str) -> BothRuns:
        run = (NodeRun(FailureKind.ENVIRONMENT_ERROR, why),)
        nodes = tuple(
            Sided(self._row(test, test.node, _PARTS[test.touch], run, run), run, run) for test in self.touched
        )
        return BothRuns(nodes, (), tuple(self.notes), "")

    def _both(self, base: Bench, head: Bench, touched: Sequence[TouchedTest]) -> tuple[SideRuns, SideRuns]:
        """Both sides at once where there are processors for it and the sandbox keeps them apart."""
        wanted = [Wanted(test.node, test.file) for test in touched]
        count = len(wanted)
        self.both.log(
            f"running {count} {self.runner.name} test{'s' * (count != 1)} on head, and on base with them"
        )
        if self.both.same:
            now = self._side(head, wanted)
            return now, now
        if self.both.head.sandbox.name == "plain" or (os.cpu_count() or 1) < 2:
            return self._side(base, wanted), self._side(head, wanted)
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.submit(self._side, base, wanted), pool.submit(self._side, head, wanted)
            return first.result(), second.result()

    def _side(self, bench: Bench, wanted: Sequence[Wanted]) -> SideRuns:
        session = self.both.head if bench.tree.base is self.both.head.base else self.both.base
        files = [file.path for file in self.files]
        select = lambda nodes: session.selection(self.runner, nodes)  # noqa: E731
        return SideRunner(bench, self.runner, self.both.head.settings.repeat, files, select).run(wanted)

    # Tests that no text shows: made by code, or inherited from another file.

    def _unseen_on_head(self, head: Bench) -> tuple[TouchedTest, ...]:
        """With nothing touched by text: every test of the changed files that only collecting finds."""
        paths = [file.path for file in self.files]
        if not paths:
            return ()
        found = self._collect(head, self.both.head, paths)
        known = self._declared()
        unseen = [node for node in found if not self._is_declared(node, known)]
        return tuple(self._unseen(node, Touch.REACHED) for node in unseen[:UNSEEN])

    def _with_unseen(
        self,
        touched: tuple[TouchedTest, ...],
        base: Bench,
        was: SideRuns,
        now: SideRuns,
        head: Bench,
    ) -> tuple[TouchedTest, ...]:
        known = self._declared()
        names = [*known, *(test.node for test in touched)]
        unseen = [node for node in now.available if not self._is_declared(node, names)]
        if not unseen:
            return touched
        old = self._on_base(base)
        added = [self._unseen(node, Touch.ADDED) for node in unseen if _inner(node) not in old][:UNSEEN]
        if not added:
            return touched
        more_was, more_now = self._both(base, head, added)
        for whole, more in ((was, more_was), (now, more_now)):
            if whole is not more:
                whole.runs.update(more.runs)
                whole.tests.update(more.tests)
        return (*touched, *added)

    def _declared(self) -> list[str]:
        return [
            node
            for file in self.files
            for node in (self.runner.declared_tests(file.path, file.new) if file.new else ()) or ()
        ]

    def _is_declared(self, node: str, known: Sequence[str]) -> bool:
        whole = self.runner.base_of(node)
        return any(self.runner.matches(name, node) or name == whole for name in known)

    def _unseen(self, node: str, touch: Touch) -> TouchedTest:
        path = next((file.path for file in self.files if node.startswith(file.path + "::")), "")
        path = path or (self.files[0].path if self.files else "")
        return TouchedTest(node, self.runner.name, path, touch, "found by collecting its file")

    def _collect(self, bench: Bench, session: GateSession, paths: Sequence[str]) -> tuple[str, ...]:
        kept = [path for path in paths if bench.project.read(path) is not None]
        if not kept:
            return ()
        return bench.collect(self.runner, session.selection(self.runner, ()), kept).available

    def _on_base(self, base: Bench) -> frozenset[str]:
        """What base's own files collect, without their paths; asked once and only where it matters."""
        former = [file.former for file in self.files] or [test.file for test in self.touched]
        own = replace(base, tree=Tree(base.tree.base), project=base.project.without_changes())
        return frozenset(_inner(node) for node in self._collect(own, self.both.base, former))

    # A changed configuration of the runner may be what head's tests need.

    def _with_head_settings(
        self, base: Bench, touched: Sequence[TouchedTest], was: SideRuns, now: SideRuns
    ) -> SideRuns:
        """Where base's own configuration lets tests say nothing and head changed it: try head's."""
        if self.both.same or not self.both.settings:
            return was
        stuck = [test for test in touched if self._is_stuck(test, was, now)]
        if not stuck:
            return was
        changes = (*base.tree.changes, *self.both.settings)
        changed = {change.path: change.new for change in changes}
        project = replace(base.project, changed=changed)
        bench = replace(base, tree=Tree(base.tree.base, changes), project=project)
        self.both.log(f"running {len(stuck)} of them again on base with head's configuration")
        again = self._side(bench, [Wanted(test.node, test.file) for test in stuck])
        helped = {
            node for node, runs in again.runs.items() if any(run.kind.valid or run.new_api for run in runs)
        }
        if not helped:
            return was
        names = ", ".join(change.path for change in self.both.settings)
        self.notes.append(
            f"{len(helped)} tests ran on base with head's {names}: base's own does not fit them"
        )
        replaced = {again.tests[node] for node in helped}
        kept = {node: runs for node, runs in was.runs.items() if was.tests[node] not in replaced}
        runs = {**kept, **{node: again.runs[node] for node in again.runs if node in helped}}
        return replace(was, runs=runs, tests={**was.tests, **again.tests}, count=was.count + again.count)

    def _is_stuck(self, test: TouchedTest, was: SideRuns, now: SideRuns) -> bool:
        """Passes on head, and on base neither ran validly nor lacks a name."""
        after = [runs[0] for node, runs in now.runs.items() if now.tests[node] == test.node]
        before = [runs[0] for node, runs in was.runs.items() if was.tests[node] == test.node]
        if not any(run.kind is FailureKind.PASSED for run in after):
            return False
        return all(not run.kind.valid and not run.new_api for run in before)

    # Labels.

    def _labelled(
        self, touched: Sequence[TouchedTest], base: Bench, was: SideRuns, now: SideRuns
    ) -> tuple[Sided, ...]:
        old: frozenset[str] | None = None
        found: list[Sided] = []
        for test in touched:
            nodes = [
                node
                for node in (*now.runs, *was.runs)
                if test.node in (now.tests.get(node), was.tests.get(node))
            ]
            nodes = [node for node in dict.fromkeys(nodes) if not self._stands_for_cases(node, nodes)]
            cases = any(node != self.runner.base_of(node) for node in nodes)
            if cases and test.touch not in (Touch.ADDED, Touch.MOVED) and old is None:
                old = self._on_base(base)
            for node in nodes or [test.node]:
                before = self._runs(was, node, test.node)
                after = self._runs(now, node, test.node)
                part = self._part(test, node, cases, old or frozenset())
                found.append(Sided(self._row(test, node, part, before, after), before, after))
        return tuple(found)

    def _stands_for_cases(self, node: str, nodes: Sequence[str]) -> bool:
        """Whether a test that could not be loaded on one side has cases on the other."""
        return any(other != node and self.runner.base_of(other) == node for other in nodes)

    def _runs(self, side: SideRuns, node: str, test: str) -> tuple[NodeRun, ...]:
        """The runs of a case; where its test could not be loaded at all, those of the test."""
        if node in side.runs:
            return tuple(side.runs[node])
        whole = side.runs.get(test, []) if side.tests.get(test) == test else []
        return tuple(whole)

    def _part(self, test: TouchedTest, node: str, cases: bool, old: frozenset[str]) -> Part:
        part = _PARTS[test.touch]
        if not cases or test.touch in (Touch.ADDED, Touch.MOVED):
            return part
        if _inner(node) not in old:
            return Part.ADDED
        return Part.KEPT if test.touch is Touch.TABLE else part

    def _row(
        self,
        test: TouchedTest,
        node: str,
        part: Part,
        before: tuple[NodeRun, ...],
        after: tuple[NodeRun, ...],
    ) -> Row:
        found = label(before, after)
        why = f"{found.why} ({test.why})" if test.why else found.why
        outcome = after[0].kind.outcome if after and found.label is not Label.FLAKY else None
        return Row(node, part, found.label, why, outcome, self.runner.name, test.file, test.line)

    def _facts(self, side: str, bench: Bench, runs: int) -> SideFacts:
        environment = bench.environment
        return SideFacts(self.runner.name, side, environment.kind, environment.fingerprint, runs)


def _inner(node: str) -> str:
    """The part of an id that stays when its file moves."""
    return node.partition("::")[2] or ".".join(node.split(".")[-2:])
