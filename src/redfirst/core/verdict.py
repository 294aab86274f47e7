# SPDX-License-Identifier: Apache-2.0
"""A verdict with its receipt: plain records that go out as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

from redfirst.core.kinds import FailureKind, Outcome

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    """The kind of one bound node, and where and how it failed. ``labels``: e.g. ``new API``."""

    node: str
    kind: FailureKind
    message: str = ""
    where: str = ""
    seconds: float = 0.0
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One of the repeats: its seed, how it ended, and the kind of each node."""

    seed: int
    kind: FailureKind
    nodes: tuple[tuple[str, FailureKind], ...]
    wall_s: float
    cpu_s: float | None
    peak_memory_mb: float | None
    end: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What anyone needs to check a verdict again; digests are SHA-256, tree hashes are Git's."""

    schema: int = SCHEMA_VERSION
    redfirst: str = ""
    bundle: str | None = None
    base_tree: str | None = None
    base_tree_after: str | None = None
    source_patch: str | None = None
    tested_tree: str | None = None
    canonical_patch: str | None = None
    environment: str | None = None
    environment_kind: str | None = None
    sandbox: str | None = None
    isolation: tuple[tuple[str, str], ...] = ()
    limits: tuple[tuple[str, float], ...] = ()
    command: tuple[str, ...] = ()
    runs: tuple[RunRecord, ...] = ()
    modules: tuple[tuple[str, str], ...] = ()
    leftovers: tuple[str, ...] = ()
    network_attempted: bool = False
    started: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's answer. ``outcome`` is None exactly when ``valid`` is False."""

    kind: FailureKind
    why: str
    nodes: tuple[NodeVerdict, ...] = ()
    faults: tuple[str, ...] = ()
    output: str = ""
    receipt: Receipt = field(default_factory=Receipt)

    @property
    def valid(self) -> bool:
        return self.kind.valid

    @property
    def outcome(self) -> Outcome | None:
        return self.kind.outcome
