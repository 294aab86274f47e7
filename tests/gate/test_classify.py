# SPDX-License-Identifier: Apache-2.0
"""Cause decides: the table from structured evidence to kinds."""

from __future__ import annotations

import pytest

from redfirst.core.evidence import (
    Failure,
    Frame,
    NodeResult,
    Phase,
    PhaseOutcome,
    PhaseResult,
    Place,
    RunReport,
    Trait,
)
from redfirst.core.kinds import RUN_PRECEDENCE, FailureKind
from redfirst.gate.classify import classify_collection, classify_failure, classify_node, end_reasons, first_of
from redfirst.sandbox.protocol import Completed, End, Isolation

TEST = Frame("tests/test_a.py", 3, "test_a", Place.TEST)
SOURCE = Frame("src/a.py", 7, "f", Place.SOURCE)
LIBRARY = Frame("/usr/lib/python3/json.py", 9, "loads", Place.OUTSIDE)
PSEUDO = Frame("<string>", 1, "<module>", Place.OUTSIDE)
K = FailureKind


def failure(*frames: Frame, traits: set[Trait] = frozenset()) -> Failure:  # type: ignore[assignment]
    return Failure("E", "message", frames, frozenset(traits))


@pytest.mark.parametrize(
    ("frames", "traits", "kind"),
    [
        ([TEST], {Trait.ASSERTION}, K.ASSERTION_FAILED),
        ([TEST, LIBRARY], {Trait.ASSERTION}, K.ASSERTION_FAILED),
        ([TEST, SOURCE], {Trait.ASSERTION}, K.EXCEPTION_RAISED),
        ([TEST, SOURCE], set(), K.EXCEPTION_RAISED),
        ([TEST, SOURCE, LIBRARY], set(), K.EXCEPTION_RAISED),
        ([TEST], set(), K.EXCEPTION_RAISED),
        ([TEST, LIBRARY], set(), K.EXCEPTION_RAISED),
        ([TEST], {Trait.PROJECT_NAME_MISSING}, K.EXCEPTION_RAISED),
        ([TEST], {Trait.NAME}, K.TEST_ERROR),
        ([TEST, PSEUDO], {Trait.NAME}, K.TEST_ERROR),
        ([TEST, SOURCE], {Trait.NAME}, K.EXCEPTION_RAISED),
        ([TEST, LIBRARY], {Trait.NAME}, K.EXCEPTION_RAISED),
        ([TEST], {Trait.EVALUATED_SYNTAX}, K.TEST_ERROR),
        ([TEST, LIBRARY], {Trait.EVALUATED_SYNTAX}, K.TEST_ERROR),
        ([TEST, SOURCE], {Trait.EVALUATED_SYNTAX}, K.EXCEPTION_RAISED),
        ([TEST], {Trait.SYSTEM_EXIT}, K.TEST_ERROR),
        ([TEST, LIBRARY], {Trait.SYSTEM_EXIT}, K.TEST_ERROR),
        ([TEST, SOURCE], {Trait.SYSTEM_EXIT}, K.EXCEPTION_RAISED),
        ([TEST], {Trait.RAISED_BY_TEXT}, K.TEST_ERROR),
        ([TEST, SOURCE], {Trait.RAISED_BY_TEXT}, K.EXCEPTION_RAISED),
        ([TEST, SOURCE], {Trait.NETWORK_DENIED}, K.ENVIRONMENT_ERROR),
        ([TEST], {Trait.ASSERTION, Trait.NETWORK_DENIED}, K.ENVIRONMENT_ERROR),
        ([TEST, SOURCE], {Trait.MODULE_MISSING}, K.ENVIRONMENT_ERROR),
        ([TEST, SOURCE], {Trait.MEMORY}, K.RESOURCE_LIMIT),
        ([TEST], {Trait.PROCESSES}, K.RESOURCE_LIMIT),
        ([TEST], {Trait.FILE_SIZE}, K.RESOURCE_LIMIT),
        ([TEST], {Trait.DISK}, K.RESOURCE_LIMIT),
        ([], {Trait.UNKNOWN_FIXTURE}, K.TEST_ERROR),
        ([], {Trait.UNKNOWN_FIXTURE, Trait.PLUGIN_MISSING}, K.ENVIRONMENT_ERROR),
        ([TEST], {Trait.INTERRUPT}, K.CRASH),
    ],
)
def test_the_call_phase(frames, traits, kind):
    assert classify_failure(failure(*frames, traits=traits), Phase.CALL) is kind


@pytest.mark.parametrize("phase", [Phase.SETUP, Phase.TEARDOWN])
@pytest.mark.parametrize("traits", [set(), {Trait.ASSERTION}, {Trait.NAME}])
def test_set_up_and_tear_down_are_no_verdict(phase, traits):
    assert classify_failure(failure(TEST, SOURCE, traits=traits), phase) is K.SETUP_ERROR


@pytest.mark.parametrize(
    ("traits", "kind"),
    [
        (set(), K.COLLECTION_ERROR),
        ({Trait.NAME}, K.COLLECTION_ERROR),
        ({Trait.UNKNOWN_FIXTURE}, K.COLLECTION_ERROR),
        ({Trait.MODULE_MISSING}, K.ENVIRONMENT_ERROR),
        ({Trait.PROJECT_NAME_MISSING}, K.COLLECTION_ERROR),
        ({Trait.MEMORY}, K.RESOURCE_LIMIT),
    ],
)
def test_loading(traits, kind):
    assert classify_collection(failure(TEST, traits=traits)) is kind


def phase(name: Phase, outcome: PhaseOutcome, *failures: Failure) -> PhaseResult:
    return PhaseResult(name, outcome, failures)


PASSED_SETUP = phase(Phase.SETUP, PhaseOutcome.PASSED)
FAILED_CALL = phase(Phase.CALL, PhaseOutcome.FAILED, failure(TEST, traits={Trait.ASSERTION}))


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        (NodeResult("n", (PASSED_SETUP, phase(Phase.CALL, PhaseOutcome.PASSED))), K.PASSED),
        (NodeResult("n", (PASSED_SETUP, FAILED_CALL)), K.ASSERTION_FAILED),
        (
            NodeResult(
                "n", (PASSED_SETUP, FAILED_CALL, phase(Phase.TEARDOWN, PhaseOutcome.FAILED, failure(TEST)))
            ),
            K.SETUP_ERROR,
        ),
        (NodeResult("n", (phase(Phase.SETUP, PhaseOutcome.SKIPPED),)), K.NOT_RUN),
        (NodeResult("n", (PASSED_SETUP, phase(Phase.CALL, PhaseOutcome.XFAILED))), K.NOT_RUN),
        (NodeResult("n", (PASSED_SETUP, phase(Phase.CALL, PhaseOutcome.XPASSED))), K.NOT_RUN),
        (NodeResult("n", (PASSED_SETUP,), finished=False), K.CRASH),
        (NodeResult("n", ()), K.NOT_RUN),
        (
            NodeResult(
                "n",
                (
                    phase(
                        Phase.CALL,
                        PhaseOutcome.FAILED,
                        failure(SOURCE),
                        failure(TEST, traits={Trait.ASSERTION}),
                    ),
                ),
            ),
            K.ASSERTION_FAILED,
        ),
    ],
)
def test_nodes(node, kind):
    assert classify_node(node).kind is kind


def completed(end: End = End.EXITED, status: int | None = 0, reached: set[End] = frozenset()) -> Completed:  # type: ignore[assignment]
    isolation = Isolation("plain", ())
    return Completed(end, status, None, b"", b"", b"", frozenset(reached), 0, 0, 0, isolation)


@pytest.mark.parametrize(
    ("done", "report", "kind"),
    [
        (completed(), RunReport(complete=True), None),
        (completed(), RunReport(), K.CRASH),
        (completed(End.SIGNALLED, None), RunReport(), K.CRASH),
        (completed(End.SIGNALLED, None), RunReport(problems=("cut",)), K.REPORT_INVALID),
        (completed(End.WALL, None), RunReport(problems=("cut",)), K.TIMEOUT),
        (completed(End.CPU, None), RunReport(), K.TIMEOUT),
        (completed(End.MEMORY, None), RunReport(), K.RESOURCE_LIMIT),
        (completed(reached={End.PROCESSES}), RunReport(complete=True), K.RESOURCE_LIMIT),
        (completed(End.BROKEN, None), RunReport(), K.INFRASTRUCTURE_ERROR),
        (completed(End.BROKEN, None), RunReport(tampering=("x",)), K.TAMPERING),
        (completed(), RunReport(complete=True, interrupted=True), K.CRASH),
    ],
)
def test_how_the_process_ended(done, report, kind):
    reason = first_of(end_reasons(done, report))
    assert (reason.kind if reason else None) is kind


def test_every_kind_of_a_run_has_its_place_in_the_order():
    before_the_run = {
        K.CONTRACT_INVALID,
        K.PATCH_MALFORMED,
        K.PATCH_FORBIDDEN,
        K.PATCH_CONFLICT,
        K.SOURCE_PATCH_INVALID,
        K.COMMAND_REJECTED,
    }
    assert set(RUN_PRECEDENCE) == set(FailureKind) - before_the_run - {K.NONDETERMINISTIC}
