# SPDX-License-Identifier: Apache-2.0
"""A test bundle in memory: patch, exact command and behaviour contract."""

from __future__ import annotations

from dataclasses import dataclass

from redfirst.core.digests import digest

PATCH_FILE = "test.patch"
COMMAND_FILE = "test_command"
CONTRACT_FILE = "test_contract.json"


@dataclass(frozen=True, slots=True)
class BehaviorContract:
    """What a test claims to check and on which evidence (ExecCritic §3.1)."""

    entrypoint: str
    trigger: str
    expected_output: str
    issue_evidence: tuple[str, ...]
    alternative_hypotheses: tuple[str, ...]
    non_assertions: tuple[str, ...]
    test_nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TestBundle:
    """The three files as bytes, unjudged; None where a file is missing."""

    __test__ = False

    patch: bytes | None
    command: bytes | None
    contract: bytes | None

    @property
    def digest(self) -> str:
        """SHA-256 over the three parts, each with its name and length."""
        parts = (PATCH_FILE, self.patch), (COMMAND_FILE, self.command), (CONTRACT_FILE, self.contract)
        return digest(*(piece for name, data in parts for piece in (name.encode(), data or b"")))
