# SPDX-License-Identifier: Apache-2.0
"""Runs the touched tests on one tree: all in one run where they let each other, apart where one of them does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from redfirst.core.evidence import Failure, NodeResult, Phase, PhaseOutcome, Place, RunReport, Trait
from redfirst.core.kinds import FailureKind
from redfirst.core.verdict import NodeVerdict
from redfirst.gate.bind import bound_nodes
from redfirst.gate.check.label import NodeRun
from redfirst.gate.classify import classify_collection, collection_reasons, describe, first_of
from redfirst.gate.decide import Declared, RunJudgement, judge_run
from redfirst.gate.observe import Bench, Observation
from redfirst.gate.project import ProjectView
from redfirst.runners.protocol import Runner, Selection
from redfirst.sandbox.protocol import End

#: Tests that are run one by one, at most, when a run of many says nothing.
ALONE = 40
#: Rust's errors for a name, a method, a field or a parameter that is not there.
_RUST_MISSING = re.compile(r"error\[E0(?:061|405|407|412|422|423|425|426|432|433|531|560|576|599|609)\]")
_NO_EXPORT = re.compile(r"does not provide an export named")
_OUTSIDE_OF_TESTS = frozenset({FailureKind.INFRASTRUCTURE_ERROR, FailureKind.ENVIRONMENT_ERROR})


@dataclass(frozen=True)
class OverlaidProject(ProjectView):
    """Base's source below head's tests: a module that head alone has is the project's own as well."""

    head: ProjectView | None = None

    def owns_module(self, name: str) -> bool:
        """Whether either side has the top-level module."""
        return super().owns_module(name) or (self.head is not None and self.head.owns_module(name))


@dataclass(frozen=True, slots=True)
class Wanted:
    """One test to run, without its cases, and the file that it is in."""

    node: str
    file: str


@dataclass
class SideRuns:
    """What the runs of one side gave. ``runs``: by observed node, one entry a repeat. ``missing``: not found."""

    runs: dict[str, list[NodeRun]] = field(default_factory=dict)
    tests: dict[str, str] = field(default_factory=dict)
    available: dict[str, None] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    output: str = ""
    seconds: float = 0.0
    count: int = 0


class SideRunner:
    """All runs of one runner on one tree."""

    def __init__(
        self,
        bench: Bench,
        runner: Runner,
        repeat: int,
        files: Sequence[str],
        select: Callable[[tuple[str, ...]], Selection],
    ) -> None:
        self._bench, self._runner, self._repeat = bench, runner, repeat
        self._files, self._select = tuple(files), select
        self._made = SideRuns()

    def run(self, wanted: Sequence[Wanted]) -> SideRuns:
        """Run every test ``repeat`` times. Raises SandboxError where no workspace can be made."""
        self._together(tuple(wanted))
        return self._made

    def _together(self, wanted: tuple[Wanted, ...]) -> None:
        if not wanted:
            return
        for seed in range(self._repeat):
            seen = self._observe(wanted, seed)
            one = judge_run(self._runner, Declared(tuple(w.node for w in wanted), (), ()), seen)
            if self._is_whole(one, seen):
                self._keep(wanted, one, seen)
            elif seed == 0:
                self._apart(wanted, one, seen)
                return
            else:
                # a later run that breaks down where the first did not is a flake of all of its tests
                self._fail(wanted, one.kind, one.faults[0])
                return

    def _observe(self, wanted: Sequence[Wanted], seed: int) -> Observation:
        selection = self._select(tuple(item.node for item in wanted))
        files = tuple(dict.fromkeys((*(item.file for item in wanted), *self._files)))
        known = [path for path in files if self._bench.project.read(path) is not None]
        seen = self._bench.observe(self._runner, selection, seed=seed, patched=known)
        self._made.count += 1
        self._made.seconds += seen.completed.wall_s
        self._made.available.update(dict.fromkeys(seen.report.available))
        return seen

    @staticmethod
    def _is_whole(one: RunJudgement, seen: Observation) -> bool:
        """Whether nothing but its own tests decides the run, so that each node speaks for itself."""
        report, done = seen.report, seen.completed
        clean = not (seen.touched or report.tampering or report.problems or report.interrupted)
        loaded = not (report.collection_failures or report.collection_skips or report.not_found)
        ended = done.end is End.EXITED and not done.reached and report.complete
        return clean and loaded and ended and not (one.kind in _OUTSIDE_OF_TESTS and _blames_no_node(one))

    def _keep(self, wanted: Sequence[Wanted], one: RunJudgement, seen: Observation) -> None:
        results = bound_nodes(self._runner, [w.node for w in wanted], seen.report)
        by_node = {result.node: result for result in results}
        for verdict in one.nodes:
            self._add(verdict.node, run_of(verdict, by_node.get(verdict.node)), wanted)
        for item in wanted:
            if not any(self._runner.matches(item.node, node) for node in by_node):
                left = any(self._runner.matches(item.node, node) for node in seen.report.deselected)
                if left:
                    self._add(item.node, NodeRun(FailureKind.NOT_RUN, "the settings deselect it"), [item])
                else:
                    self._made.missing.append(item.node)

    def _add(self, node: str, run: NodeRun, wanted: Sequence[Wanted]) -> None:
        self._made.runs.setdefault(node, []).append(run)
        test = next((w.node for w in wanted if self._runner.matches(w.node, node)), node)
        self._made.tests.setdefault(node, test)

    def _fail(self, wanted: Iterable[Wanted], kind: FailureKind, why: str, new_api: bool = False) -> None:
        for item in wanted:
            known = [node for node, test in self._made.tests.items() if test == item.node]
            for node in known or [item.node]:
                self._add(node, NodeRun(kind, why, new_api=new_api), [item])

    # One run said nothing, or too little, of all: find out whose fault it was.

    def _apart(self, wanted: tuple[Wanted, ...], one: RunJudgement, seen: Observation) -> None:
        report = seen.report
        rest = self._without_lost(wanted, report)
        if rest != wanted:
            self._together(rest)
            return
        files = tuple(dict.fromkeys(item.file for item in wanted))
        if report.collection_failures or report.collection_skips:
            self._without_unloaded(wanted, files, report, one)
        elif one.kind in _OUTSIDE_OF_TESTS and _blames_no_node(one):
            self._fail(wanted, one.kind, one.faults[0])
        elif (culprit := self._unfinished(wanted, one)) is not None and len(wanted) > 1:
            self._fail([culprit[0]], culprit[1].kind, culprit[1].message)
            self._together(tuple(item for item in wanted if item is not culprit[0]))
        elif len(wanted) == 1:
            self._fail(wanted, one.kind, one.faults[0])
        else:
            self._split(wanted, one)

    def _split(self, wanted: tuple[Wanted, ...], one: RunJudgement) -> None:
        if len(wanted) > ALONE:
            self._fail(wanted, one.kind, f"{one.faults[0]} (too many tests to run each alone)")
            return
        for item in wanted:
            self._together((item,))

    def _without_lost(self, wanted: tuple[Wanted, ...], report: RunReport) -> tuple[Wanted, ...]:
        """Drop tests that the runner says are not there, if no file failed to load."""
        if not report.not_found or report.collection_failures:
            return wanted
        lost = [item for item in wanted if any(_names(told, item.node) for told in report.not_found)]
        self._made.missing += [item.node for item in lost]
        return tuple(item for item in wanted if item not in lost)

    def _without_unloaded(
        self, wanted: tuple[Wanted, ...], files: tuple[str, ...], report: RunReport, one: RunJudgement
    ) -> None:
        """Give the tests of files that do not load what kept them from it, and run the others."""
        blamed: dict[str, Failure] = {}
        for failure in report.collection_failures:
            own = [frame.path for frame in failure.frames if frame.path in files]
            blamed.setdefault(own[0] if own else "", failure)
        if len(files) == 1:
            self._unloaded(wanted, next(iter(blamed.values()), None), report, one)
        elif "" in blamed or report.collection_skips:
            for file in files:
                self._together(tuple(item for item in wanted if item.file == file))
        else:
            for file, failure in blamed.items():
                self._unloaded([item for item in wanted if item.file == file], failure, report, one)
            self._together(tuple(item for item in wanted if item.file not in blamed))

    def _unloaded(
        self, wanted: Sequence[Wanted], failure: Failure | None, report: RunReport, one: RunJudgement
    ) -> None:
        if failure is None:
            reason = first_of(collection_reasons(report))
            self._fail(wanted, reason.kind if reason else one.kind, reason.why if reason else one.faults[0])
            return
        self._fail(wanted, classify_collection(failure), describe(failure), asks_missing_name(failure))

    def _unfinished(self, wanted: Sequence[Wanted], one: RunJudgement) -> tuple[Wanted, NodeVerdict] | None:
        """The test that was running when the process ended, if one was."""
        if one.kind not in (FailureKind.CRASH, FailureKind.TIMEOUT, FailureKind.RESOURCE_LIMIT):
            return None
        for verdict in one.nodes:
            if verdict.kind is one.kind:
                for item in wanted:
                    if self._runner.matches(item.node, verdict.node):
                        return item, verdict
        return None


def _blames_no_node(one: RunJudgement) -> bool:
    return all(node.kind is not one.kind for node in one.nodes)


def _names(told: str, node: str) -> bool:
    """Whether a selector that led nowhere, maybe with the path seen inside, is that of a test."""
    return told == node or told.endswith("/" + node)


def run_of(verdict: NodeVerdict, result: NodeResult | None) -> NodeRun:
    """One node of one run."""
    new = result is not None and verdict.kind is not FailureKind.PASSED and _lacks_api(result)
    return NodeRun(verdict.kind, verdict.message, verdict.where, new, verdict.seconds)


def _lacks_api(result: NodeResult) -> bool:
    """Whether every failure of a node is its own text asking for a missing name, in set-up or call."""
    failures = [
        failure
        for phase in result.phases
        if phase.outcome is PhaseOutcome.FAILED and phase.phase is not Phase.TEARDOWN
        for failure in phase.failures
    ]
    return bool(failures) and all(asks_missing_name(failure) for failure in failures)


def asks_missing_name(failure: Failure) -> bool:
    """Whether test text asks the project for a name that it does not have.

    An error about a missing name that is raised in source is the source's own fault, not a new API.
    """
    owner = failure.owner
    if owner is not None and owner.place is not Place.TEST:
        return False
    if Trait.PROJECT_NAME_MISSING in failure.traits and Trait.MODULE_MISSING not in failure.traits:
        return True
    if owner is not None and _RUST_MISSING.fullmatch(failure.type):
        return True
    return failure.type.startswith("SyntaxError") and bool(_NO_EXPORT.search(failure.message))


def with_changes(bench: Bench, head: ProjectView) -> Bench:
    """A bench for base with head's tests over it."""
    view = bench.project
    project = OverlaidProject(
        view.tree_dir,
        view.mount,
        view.prefix,
        replace(view.policy, globs=tuple(dict.fromkeys((*view.policy.globs, *head.policy.globs))), _known={}),
        view.changed,
        view.editable_roots,
        view.layer,
        head,
    )
    return replace(bench, project=project)
