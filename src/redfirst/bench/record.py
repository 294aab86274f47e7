# SPDX-License-Identifier: Apache-2.0
"""What is kept of one bug: one line of ``results.jsonl``, out and in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any

from redfirst.core.errors import UsageError

SCHEMA = 1


class Answer(StrEnum):
    """What a qualified test says of one tree. Only a valid verdict accepts or rejects."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The gate on one tree. ``patch``: ``gold``, ``correct``, ``wrong-1``, …"""

    patch: str
    answer: Answer
    kind: str
    why: str
    seconds: float


@dataclass(frozen=True, slots=True)
class BugResult:
    """One bug. ``seconds``: of the reproduce step alone, in a warm environment; ``audit_seconds``: of the audit.

    ``refusal``: why no test was handed over. ``error``: what kept the bug from being measured; with it nothing
    else is said. ``balanced_accuracy``: None without a qualified test. ``strengths``: what the strategy says of its
    assertions. ``run``: the bug's folder, relative to the bench run's.
    """

    instance_id: str
    qualified: bool = False
    kind: str | None = None
    fail_to_pass: bool = False
    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    balanced_accuracy: float | None = None
    seconds: float | None = None
    refusal: str | None = None
    error: str | None = None
    nodes: tuple[str, ...] = ()
    digest: str | None = None
    strengths: tuple[str, ...] = ()
    audit_seconds: float | None = None
    judgements: tuple[Judgement, ...] = ()
    run: str = ""
    schema: int = SCHEMA


def line_of(result: BugResult) -> str:
    """The result as one line of JSON, without its line end."""
    return json.dumps(asdict(result), ensure_ascii=False)


def result_of(record: Mapping[str, Any], where: str) -> BugResult:
    """The result that one JSON object holds. Raises UsageError naming ``where``."""
    known = {field.name for field in fields(BugResult)}
    if (
        record.get("schema") != SCHEMA
        or not set(record) <= known
        or not isinstance(record.get("instance_id"), str)
    ):
        raise UsageError(f"{where} is no result of schema {SCHEMA}", "run the bench again into a new folder")
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    try:
        judged = tuple(
            Judgement(**{**item, "answer": Answer(item["answer"])}) for item in record.get("judgements", ())
        )
    except (TypeError, KeyError, ValueError):
        raise UsageError(f"{where}: its judgements cannot be read", "run the bench again") from None
    return replace(BugResult(**values), judgements=judged)
