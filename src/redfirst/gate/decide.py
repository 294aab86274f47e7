# SPDX-License-Identifier: Apache-2.0
"""From observations to one verdict: each run judged, the repeats compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from redfirst.core.evidence import RunReport
from redfirst.core.kinds import FailureKind
from redfirst.core.verdict import NodeVerdict, RunRecord, Verdict
from redfirst.gate.bind import (
    added_undeclared,
    binding_reasons,
    bound_nodes,
    incomplete_new_tests,
    partly_declared,
    unexplained,
)
from redfirst.gate.classify import Reason, classify_node, collection_reasons, end_reasons, first_of
from redfirst.gate.observe import Bench, Observation, Tree
from redfirst.gate.output import bounded
from redfirst.gate.project import ProjectView
from redfirst.gate.receipts import ReceiptDraft
from redfirst.runners.protocol import Runner, Selection


@dataclass(frozen=True, slots=True)
class Declared:
    """What must run. ``known``: tests that Base's text defines in the patched files; ``files``: those files.

    ``files`` is empty for a run without a bundle: then nothing is asked about added tests.
    """

    nodes: tuple[str, ...]
    known: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunJudgement:
    """One run: its kind, every reason for it, and the bound nodes."""

    kind: FailureKind
    faults: tuple[str, ...]
    nodes: tuple[NodeVerdict, ...]


def decide(
    runner: Runner, selection: Selection, declared: Declared, bench: Bench, repeat: int, draft: ReceiptDraft
) -> Verdict:
    """Observe up to ``repeat`` runs, stop at the first that is not valid, and demand agreement."""
    judged: list[RunJudgement] = []
    for seed in range(max(1, repeat)):
        seen = bench.observe(runner, selection, seed=seed, patched=declared.files)
        draft.observations.append(seen)
        one = judge_run(runner, declared, seen)
        if one.kind.valid:
            one = _with_added(one, runner, selection, declared, seen.report, bench)
        judged.append(one)
        draft.runs.append(_record(seed, one, seen))
        if not one.kind.valid:
            break
    final = agree(judged)
    completed = draft.observations[0].completed
    return draft.seal(final.kind, final.faults, final.nodes, bounded(completed.out, completed.err))


def judge_run(runner: Runner, declared: Declared, seen: Observation) -> RunJudgement:
    """The pure judgement of one observation; tests that were added unseen by text are left to `decide`."""
    report = seen.report
    bound = bound_nodes(runner, declared.nodes, report)
    nodes = tuple(_ended(classify_node(node), seen) for node in bound)
    reasons = [Reason(FailureKind.TAMPERING, text) for text in seen.touched]
    reasons += end_reasons(seen.completed, report)
    reasons += collection_reasons(report)
    reasons += _origin_reasons(report, seen.project)
    if not report.collection_failures and not report.collection_skips:
        reasons += binding_reasons(runner, declared.nodes, report)
    reasons += [Reason(node.kind, _sentence(node)) for node in nodes]
    first = first_of(reasons) or Reason(FailureKind.NOT_RUN, "nothing ran")
    same = [reason.why for reason in reasons if reason.kind is first.kind]
    return RunJudgement(first.kind, tuple(dict.fromkeys(same)) or (first.why,), nodes)


def _ended(node: NodeVerdict, seen: Observation) -> NodeVerdict:
    """A node that never ended has the kind of what ended the process."""
    if node.kind is not FailureKind.CRASH or node.message != "it began and never ended":
        return node
    first = first_of(end_reasons(seen.completed, replace(seen.report, tampering=())))
    return replace(node, kind=first.kind, message=first.why) if first else node


def _sentence(node: NodeVerdict) -> str:
    place = f" ({node.where})" if node.where else ""
    return f"{node.node}: {node.message}{place}"


def _origin_reasons(report: RunReport, project: ProjectView) -> list[Reason]:
    """Modules of the project that did not come from the workspace."""
    foreign = [
        (name, file)
        for name, file in report.origins
        if project.owns_package(name.split(".")[0]) and project.is_foreign(file)
    ]
    if not foreign:
        return [_shadow_reason(name, file) for name, file in report.origins if project.is_shadow(name, file)]
    name, file = foreign[0]
    return [
        Reason(
            FailureKind.ENVIRONMENT_ERROR,
            f"module {name} was imported from {file}, not from the workspace; install the project editable",
        )
    ]


def _shadow_reason(name: str, file: str) -> Reason:
    return Reason(
        FailureKind.ENVIRONMENT_ERROR, f"module {name} of the project was imported from the test's own {file}"
    )


def _with_added(
    one: RunJudgement,
    runner: Runner,
    selection: Selection,
    declared: Declared,
    report: RunReport,
    bench: Bench,
) -> RunJudgement:
    """Look for added tests that the text did not show; collects Base only where that is in doubt."""
    if not declared.files:
        return one
    suspects = unexplained(runner, declared.nodes, declared.known, report)
    partly = partly_declared(runner, declared.nodes, declared.known)
    if not suspects and not partly:
        return one
    old = _base_available(runner, selection, declared, bench)
    reasons = added_undeclared(runner, suspects, old)
    new = [test for test in partly if not any(runner.matches(test, runner.base_of(node)) for node in old)]
    reasons += incomplete_new_tests(runner, declared.nodes, new, report)
    if not reasons:
        return one
    return RunJudgement(FailureKind.NODE_UNBOUND, tuple(reason.why for reason in reasons), one.nodes)


def _base_available(
    runner: Runner, selection: Selection, declared: Declared, bench: Bench
) -> tuple[str, ...]:
    base = replace(bench, tree=Tree(bench.tree.base), project=bench.project.without_changes())
    files = [path for path in declared.files if base.project.read(path) is not None]
    return base.collect(runner, selection, files).available if files else ()


def agree(judged: Sequence[RunJudgement]) -> RunJudgement:
    """The verdict over the repeats: node by node the same outcome and kind, else nondeterministic.

    A first run that is not valid speaks for itself; so do tampering and a broken sandbox at any time.
    """
    first, last = judged[0], judged[-1]
    loud = (FailureKind.TAMPERING, FailureKind.INFRASTRUCTURE_ERROR)
    if len(judged) == 1 or last.kind in loud:
        return last
    for number, other in enumerate(judged[1:], start=2):
        why = _disagreement(first, other, number)
        if why:
            return RunJudgement(FailureKind.NONDETERMINISTIC, (why,), first.nodes)
    return first


def _disagreement(first: RunJudgement, other: RunJudgement, number: int) -> str:
    before = {node.node: node.kind for node in first.nodes}
    after = {node.node: node.kind for node in other.nodes}
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) is not after.get(name):
            was, now = (str(kinds.get(name, "not run")) for kinds in (before, after))
            return f"{name} was {was} in run 1 and {now} in run {number}"
    if first.kind is not other.kind:
        return f"run 1 was {first.kind}, run {number} was {other.kind}: {other.faults[0]}"
    return ""


def _record(seed: int, one: RunJudgement, seen: Observation) -> RunRecord:
    done = seen.completed
    nodes = tuple((node.node, node.kind) for node in one.nodes)
    return RunRecord(
        seed, one.kind, nodes, round(done.wall_s, 3), done.cpu_s, done.peak_memory_mb, str(done.end)
    )
