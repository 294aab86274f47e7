# SPDX-License-Identifier: Apache-2.0
"""The closed set of verdict kinds, with what each of them means for validity."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What a valid verdict says of the tree."""

    PASS = "pass"
    FAIL = "fail"


class FailureKind(StrEnum):
    """Why a verdict is what it is; exactly one for each verdict and each node."""

    PASSED = "passed"
    ASSERTION_FAILED = "assertion_failed"
    EXCEPTION_RAISED = "exception_raised"
    CONTRACT_INVALID = "contract_invalid"
    PATCH_MALFORMED = "patch_malformed"
    PATCH_FORBIDDEN = "patch_forbidden"
    PATCH_CONFLICT = "patch_conflict"
    SOURCE_PATCH_INVALID = "source_patch_invalid"
    COMMAND_REJECTED = "command_rejected"
    NODE_UNBOUND = "node_unbound"
    COLLECTION_ERROR = "collection_error"
    SETUP_ERROR = "setup_error"
    TEST_ERROR = "test_error"
    NOT_RUN = "not_run"
    TIMEOUT = "timeout"
    RESOURCE_LIMIT = "resource_limit"
    CRASH = "crash"
    ENVIRONMENT_ERROR = "environment_error"
    NONDETERMINISTIC = "nondeterministic"
    TAMPERING = "tampering"
    REPORT_INVALID = "report_invalid"
    INFRASTRUCTURE_ERROR = "infrastructure_error"

    @property
    def outcome(self) -> Outcome | None:
        """``pass`` or ``fail`` for the three valid kinds, None for every other."""
        return _OUTCOMES.get(self)

    @property
    def valid(self) -> bool:
        """Whether a verdict of this kind may be trusted (r in ExecCritic §3)."""
        return self in _OUTCOMES


_OUTCOMES = {
    FailureKind.PASSED: Outcome.PASS,
    FailureKind.ASSERTION_FAILED: Outcome.FAIL,
    FailureKind.EXCEPTION_RAISED: Outcome.FAIL,
}

#: Inside a run, the first of these that any evidence supports is the kind of the run.
RUN_PRECEDENCE = (
    FailureKind.TAMPERING,
    FailureKind.INFRASTRUCTURE_ERROR,
    FailureKind.REPORT_INVALID,
    FailureKind.CRASH,
    FailureKind.RESOURCE_LIMIT,
    FailureKind.TIMEOUT,
    FailureKind.COLLECTION_ERROR,
    FailureKind.SETUP_ERROR,
    FailureKind.ENVIRONMENT_ERROR,
    FailureKind.TEST_ERROR,
    FailureKind.NOT_RUN,
    FailureKind.NODE_UNBOUND,
    FailureKind.ASSERTION_FAILED,
    FailureKind.EXCEPTION_RAISED,
    FailureKind.PASSED,
)
