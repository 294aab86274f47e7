# SPDX-License-Identifier: Apache-2.0
"""The step after the answer: the qualified test on the true fix, another correct one and wrong ones."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from redfirst.agents.runs import RunFolder
from redfirst.bench.dataset import Dataset
from redfirst.bench.metrics import balanced_accuracy, is_fail_to_pass
from redfirst.bench.record import Answer, BugResult, Judgement
from redfirst.bench.session import Means, gate_over
from redfirst.core.kinds import Outcome
from redfirst.core.verdict import Verdict
from redfirst.gate.bundles import load_bundle
from redfirst.gate.wire import verdict_record


def audit(dataset: Dataset, result: BugResult, folder: Path, means: Means) -> BugResult:
    """The result with its judgements; each verdict is kept in ``folder``.

    Gold is judged as a tree of its own, for its files may be any; the other patches as source patches on Base.
    A tree that the test cannot be judged on is undecided, neither accepted nor rejected.
    """
    started = time.monotonic()
    instance = dataset.instance(result.instance_id)
    hidden = dataset.hidden(result.instance_id)
    workshop = means.workshop()
    base = dataset.checkout(instance, workshop)
    bundle = load_bundle(folder / "bundle")
    run = RunFolder(folder)
    gold = gate_over(dataset.gold(instance, hidden, workshop), base, instance, means)
    judged = [_judgement("gold", gold.judge(bundle), run)]
    session = gate_over(base, base, instance, means)
    for patch in (hidden.correct, *hidden.wrong):
        judged.append(_judgement(patch.name, session.judge(bundle, patch.diff), run))
    return audited(result, tuple(judged), round(time.monotonic() - started, 3))


def audited(result: BugResult, judgements: tuple[Judgement, ...], seconds: float) -> BugResult:
    """The result with what its judgements say."""
    names = {answer: tuple(item.patch for item in judgements if item.answer is answer) for answer in Answer}
    return replace(
        result,
        fail_to_pass=is_fail_to_pass(judgements),
        accepted=names[Answer.ACCEPTED],
        rejected=names[Answer.REJECTED],
        undecided=names[Answer.UNDECIDED],
        balanced_accuracy=balanced_accuracy(judgements),
        audit_seconds=seconds,
        judgements=judgements,
    )


def _judgement(patch: str, verdict: Verdict, run: RunFolder) -> Judgement:
    run.record(f"audit/{patch}.json", verdict_record(verdict))
    return Judgement(
        patch, answer_of(verdict), str(verdict.kind), verdict.why, round(verdict.receipt.seconds, 3)
    )


def answer_of(verdict: Verdict) -> Answer:
    """What a verdict says of the tree."""
    if verdict.outcome is Outcome.PASS:
        return Answer.ACCEPTED
    return Answer.REJECTED if verdict.outcome is Outcome.FAIL else Answer.UNDECIDED
