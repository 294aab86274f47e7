# SPDX-License-Identifier: Apache-2.0
"""One check from two refs to an answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from redfirst.gate.check.change import (
    ChangeSet,
    Role,
    change_set,
    dependencies_changed,
    laid_over_base,
    run_settings,
)
from redfirst.gate.check.compared import (
    Compared,
    changes_between,
    checkout_root,
    compare,
    is_link,
    submodules,
    tracked,
)
from redfirst.gate.check.nodes import Touched, TouchedTest, bounded, helper_paths, touched_by_text
from redfirst.gate.check.policy import Policy, decide
from redfirst.gate.check.project_runners import runner_of_files
from redfirst.gate.check.python_text import Texts
from redfirst.gate.check.reached import reached_tests, tests_of_data
from redfirst.gate.check.report import CheckReport
from redfirst.gate.check.run_both import BothRuns, BothSides, RunnerCheck
from redfirst.gate.session import GateSession, GateSettings
from redfirst.runners.registry import runner_named

#: Tests that are run only because of what they use, or because they moved.
REACHED = 60


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: is the change from ``base`` to ``head`` proven, by this policy?"""

    base: str
    head: str = "HEAD"
    direct: bool = False
    policy: Policy = field(default_factory=Policy)


def check_change(settings: GateSettings, question: Question) -> CheckReport:
    """Find the touched tests, run them on both sides, label and decide. Raises UsageError, SandboxError.

    ``settings.ref`` is not used: base and head come from the question.
    """
    began = time.monotonic()
    compared = compare(checkout_root(settings.repo), question.base, question.head, direct=question.direct)
    base = GateSession(replace(settings, ref=compared.base))
    head = GateSession(replace(settings, ref=compared.head))
    changes = changes_between(compared)
    changed = change_set(changes, base.policy, head.policy)
    notes = [*compared.notes, *_notes(changed, compared, settings)]
    found, more = _touched(changed, compared, base, head)
    runs = _run(_sides(changed, base, head), found, settings)
    notes += [*more, *(note for run in runs for note in run.notes)]
    nodes = tuple(sided for run in runs for sided in run.nodes)
    rows = [sided.row for sided in nodes]
    decision = decide(changed, rows, question.policy, deleted=found.deleted, unjudged=found.unjudged)
    return CheckReport(
        compared,
        changed,
        question.policy,
        nodes,
        found.deleted,
        tuple((test.node, test.was) for test in found.tests if test.was),
        decision,
        tuple(dict.fromkeys(notes)),
        tuple(side for run in runs for side in run.sides),
        next((run.sandbox for run in runs if run.sandbox), settings.sandbox),
        round(time.monotonic() - began, 3),
    )


def _touched(
    changed: ChangeSet, compared: Compared, base: GateSession, head: GateSession
) -> tuple[Touched, list[str]]:
    """Tests by their text: changed themselves, or reached through helpers, fixtures and data; and notes."""
    runner_of = runner_of_files(head)
    helpers = helper_paths(changed)
    before = Texts(base.bench_project(()).read, helpers)
    after = Texts(head.bench_project(()).read, helpers)
    found = touched_by_text(changed, runner_of, before, after)
    if not changed.paths(Role.TESTS):
        return found, []
    mine = set(changed.paths(Role.TESTS))
    paths = [path for path in tracked(compared.root, compared.head) if head.policy.is_test(path)]
    others = [path for path in paths if path not in mine and path.endswith(".py")]
    tests = {test.node: test for test in found.tests}
    for test in reached_tests(others, helpers, runner_of, before, after):
        tests.setdefault(test.node, test)
    by_data, notes = tests_of_data(found.data, paths, after.read, runner_of, after)
    for test in by_data:
        tests.setdefault(test.node, test)
    kept, left = bounded(tests.values(), REACHED)
    if left:
        notes.append(f"{left} more tests use what changed, or moved, and were not run")
    return replace(found, tests=kept), notes


def _sides(changed: ChangeSet, base: GateSession, head: GateSession) -> BothSides:
    overlay = laid_over_base(changed)
    covered = {change.path: change.new for change in overlay}
    same = all(
        change.path in covered and covered[change.path] == change.new for change in changed.changes
    ) and not any(is_link(change) for change in changed.changes)
    return BothSides(base, head, overlay, run_settings(changed), same, head.settings.log)


def _run(both: BothSides, found: Touched, settings: GateSettings) -> list[BothRuns]:
    """Every runner that has something to run, one after the other."""
    names = dict.fromkeys(
        [*(test.runner for test in found.tests), *(file.runner.name for file in found.files)]
    )
    results = []
    for name in names:
        tests: Sequence[TouchedTest] = [test for test in found.tests if test.runner == name]
        files = tuple(file for file in found.files if file.runner.name == name)
        results.append(RunnerCheck(both, runner_named(name), tuple(tests), files).run())
        settings.log(f"{name}: done")
    return results


def _notes(changed: ChangeSet, compared: Compared, settings: GateSettings) -> list[str]:
    notes = []
    files = dependencies_changed(changed)
    if files:
        shared = ", and both sides use the interpreter that was named" if settings.python else ""
        notes.append(f"head changes {', '.join(files[:3])}: dependencies may differ{shared}")
    missing = submodules(compared.root, compared.head)
    if missing:
        notes.append(f"submodules are absent from the runs: {', '.join(missing[:5])}")
    return notes
