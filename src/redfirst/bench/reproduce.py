# SPDX-License-Identifier: Apache-2.0
"""The step in which the strategy works: it gets the report and a gate over Base, and nothing else."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path

import redfirst
from redfirst.agents.gateway import SessionGate
from redfirst.agents.runs import RUN_SCHEMA, RunFolder
from redfirst.agents.strategies import strategy_named
from redfirst.agents.task import QualifiedBundle, Refusal, Task
from redfirst.bench.dataset import Dataset
from redfirst.bench.record import BugResult
from redfirst.bench.session import Means, gate_over
from redfirst.core.errors import EnvironmentFailed
from redfirst.gate.bundles import save_bundle
from redfirst.gate.session import GateSession
from redfirst.gate.wire import verdict_record
from redfirst.runners.registry import runner_named


def prepare(dataset: Dataset, instance_id: str, means: Means) -> None:
    """Make Base and its environment, so that the next step finds them warm."""
    instance = dataset.instance(instance_id)
    runner_named(instance.runner)
    base = dataset.checkout(instance, means.workshop())
    gate_over(base, base, instance, means)


def reproduce(dataset: Dataset, instance_id: str, strategy: str, folder: Path, means: Means) -> BugResult:
    """Run the strategy and keep its run in ``folder``; the result is not audited yet.

    Raises RedfirstError where it could not be found out what the strategy would say.
    """
    chosen = strategy_named(strategy)
    instance = dataset.instance(instance_id)
    base = dataset.checkout(instance, means.workshop())
    run = RunFolder(folder)
    report = instance.report.encode()
    run.write("issue.md", report)
    run.event("started", {"strategy": strategy})
    started = time.monotonic()
    session = gate_over(base, base, instance, means)
    task = Task(report, instance_id, submitted=run.submission, log=means.log)
    answer = chosen.reproduce(task, SessionGate(session))
    seconds = round(time.monotonic() - started, 3)
    _keep(answer, run, session, strategy, seconds)
    if isinstance(answer, Refusal):
        if not answer.decided:
            raise EnvironmentFailed(answer.reason, "; ".join(answer.tried))
        return BugResult(instance_id, refusal=answer.reason, seconds=seconds)
    contract = json.loads(answer.bundle.contract or b"{}")
    return BugResult(
        instance_id,
        qualified=True,
        kind=str(answer.verdict.kind),
        seconds=seconds,
        nodes=tuple(contract.get("test_nodes", ())),
        digest=answer.bundle.digest,
        strengths=tuple(sorted({one.strength for one in answer.asserted if not one.guard})),
    )


def _keep(
    answer: QualifiedBundle | Refusal, run: RunFolder, session: GateSession, strategy: str, seconds: float
) -> None:
    found = {runner: asdict(environment) for runner, environment in session.environments.items()}
    run.record("environment.json", found)
    facts: dict[str, object] = {
        "schema": RUN_SCHEMA,
        "command": "bench run",
        "redfirst": redfirst.__version__,
        "strategy": strategy,
        "base_tree": session.base.tree,
        "sandbox": session.settings.sandbox,
        "seconds": seconds,
    }
    if isinstance(answer, Refusal):
        facts |= {"qualified": False, "reason": answer.reason}
        facts |= {"tried": list(answer.tried), "lacks": list(answer.lacks), "decided": answer.decided}
        run.event("refused", {"reason": answer.reason})
    else:
        save_bundle(answer.bundle, run.path / "bundle")
        run.record("evidence.json", verdict_record(answer.verdict))
        facts |= {"qualified": True, "kind": answer.verdict.kind, "bundle": answer.bundle.digest}
        facts["asserted"] = [asdict(one) for one in answer.asserted]
        run.event("qualified", {"bundle": answer.bundle.digest})
    run.record("run.json", facts)
