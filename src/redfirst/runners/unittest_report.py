# SPDX-License-Identifier: Apache-2.0
"""From the events of a unittest run to a report, with every contradiction in it named."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from redfirst.core.evidence import Failure, NodeResult, Phase, PhaseOutcome, PhaseResult, RunReport
from redfirst.runners.protocol import Project
from redfirst.runners.python_channel import Event, Stream, read_stream
from redfirst.runners.python_evidence import failure_of, part_of_case
from redfirst.runners.python_report import (
    checked_report,
    end_of,
    end_problems,
    values,
)
from redfirst.sandbox.protocol import Completed

_HOLDER = re.compile(r"(setUp|tearDown)(Class|Module) \((.*)\)")


@dataclass(slots=True)
class _Node:
    """The events of one test while they are gathered."""

    node: str
    raised: list[Event] = field(default_factory=list)
    outcomes: list[Event] = field(default_factory=list)
    finished: bool = False
    started: bool = False


def read_report(key: bytes, completed: Completed, project: Project) -> RunReport:
    """The checked report of one unittest run."""
    stream = read_stream(completed.report, key)
    end = end_of(stream)
    gathered = _gather(stream)
    selected = values(stream.of("selected"))
    nodes = _with_holders([_result(node, project) for node in gathered], stream, selected, project)
    collection = _collection_failures(stream, project)
    interrupted = _interrupted(stream)
    not_found = values(stream.of("not_found"))
    failed = bool(collection or not_found) or _any_failed(gathered, stream)
    problems = [text for node in gathered for text in _contradictions(node, interrupted)]
    loading_stopped = end is not None and end.raised is not None and not gathered
    if not loading_stopped:
        problems += end_problems(completed, end, failed=failed, interrupted=interrupted)
    if end is not None and not interrupted:
        problems += [f"{node.node} began and its end was not reported" for node in nodes if not node.finished]
    return checked_report(
        stream,
        project,
        nodes=nodes,
        collection=collection,
        skips=_collection_skips(stream),
        not_found=not_found,
        interrupted=interrupted,
        complete=end is not None,
        problems=problems,
    )


def _gather(stream: Stream) -> list[_Node]:
    """The nodes in their order; some interpreters never start a test that is marked to be skipped."""
    nodes: dict[str, _Node] = {}
    for event in stream.of("node", "raised", "outcome", "finish"):
        name = event.text("id")
        node = nodes.setdefault(name, _Node(name, finished=event.kind != "node"))
        if event.kind == "raised":
            node.raised.append(event)
        elif event.kind == "outcome":
            node.outcomes.append(event)
        else:
            node.finished = event.kind == "finish"
            node.started = node.started or event.kind == "node"
    return list(nodes.values())


def _result(node: _Node, project: Project) -> NodeResult:
    parts: dict[Phase, list[Failure]] = {}
    for event in node.raised:
        record = event.record("raised")
        if record is not None:
            phase = Phase(part_of_case(record) or Phase.CALL)
            parts.setdefault(phase, []).append(failure_of(record, project))
    phases = [
        PhaseResult(phase, PhaseOutcome.FAILED, tuple(parts[phase])) for phase in Phase if phase in parts
    ]
    for event in node.outcomes:
        outcome = event.text("outcome")
        if outcome in set(PhaseOutcome) and not (phases and outcome == PhaseOutcome.PASSED):
            phases.append(PhaseResult(Phase.CALL, PhaseOutcome(outcome), note=event.text("reason")))
    return NodeResult(node.node, tuple(phases), node.finished and bool(phases))


def _with_holders(
    nodes: list[NodeResult], stream: Stream, selected: tuple[str, ...], project: Project
) -> tuple[NodeResult, ...]:
    """Add what class and module fixtures did: to the tests they kept from running, or to the last that ran."""
    found = {node.node: node for node in nodes}
    for event in stream.of("holder"):
        match = _HOLDER.match(event.text("of"))
        if match is None:
            continue
        setup = match.group(1) == "setUp"
        below = [name for name in selected if name.startswith(match.group(3) + ".")]
        hit = (
            [name for name in below if name not in found] if setup else [n for n in below if n in found][-1:]
        )
        phase = _holder_phase(event, Phase.SETUP if setup else Phase.TEARDOWN, project)
        for name in hit:
            old = found.get(name, NodeResult(name))
            found[name] = NodeResult(name, (*old.phases, phase), finished=True)
    return tuple(found.values())


def _holder_phase(event: Event, phase: Phase, project: Project) -> PhaseResult:
    record = event.record("raised")
    if record is not None:
        return PhaseResult(phase, PhaseOutcome.FAILED, (failure_of(record, project),))
    return PhaseResult(phase, PhaseOutcome.SKIPPED, note=event.text("reason"))


def _any_failed(nodes: list[_Node], stream: Stream) -> bool:
    if any(event.record("raised") is not None for event in stream.of("holder")):
        return True
    return any(
        node.raised or any(event.text("outcome") == PhaseOutcome.XPASSED for event in node.outcomes)
        for node in nodes
    )


def _contradictions(node: _Node, interrupted: bool) -> list[str]:
    """A test that raised or never began and is called a success, or that has no outcome though nothing stopped it."""
    if not node.started and any(event.text("outcome") == PhaseOutcome.PASSED for event in node.outcomes):
        return [f"{node.node} was reported as passed, but never began"]
    if node.raised and any(event.text("outcome") == PhaseOutcome.PASSED for event in node.outcomes):
        return [f"{node.node} raised, but was also reported as passed"]
    if node.finished and not interrupted and not node.raised and not node.outcomes:
        return [f"{node.node} ended without an outcome"]
    return []


def _interrupted(stream: Stream) -> bool:
    records = [event.record("raised") for event in stream.of("end")]
    return any(
        record is not None and "builtins.KeyboardInterrupt" in record.texts("mro") for record in records
    )


def _collection_failures(stream: Stream, project: Project) -> tuple[Failure, ...]:
    """What kept test modules from loading; the runner's own failure to start too."""
    told = [e.record("raised") for e in stream.of("collect_error")]
    if not told and not stream.of("collect_skip") and not stream.of("selected"):
        told = [event.record("raised") for event in stream.of("end")]
    return tuple(failure_of(record, project) for record in told if record is not None)


def _collection_skips(stream: Stream) -> tuple[str, ...]:
    return tuple(f"{e.text('of')}: {e.text('text')}"[:500] for e in stream.of("collect_skip"))
