# SPDX-License-Identifier: Apache-2.0
"""Drives the snippet strategy from a report to a qualified bundle or a refusal."""

from __future__ import annotations

from redfirst.agents.task import Gate, QualifiedBundle, Refusal, Task


class SnippetStrategy:
    """Runs the report's own code on Base and writes a test only of what it saw go wrong as reported."""

    name = "snippet"

    def reproduce(self, task: Task, gate: Gate) -> QualifiedBundle | Refusal:
        """A bundle that the gate qualified, or why there is none. Raises UsageError for an unreadable report."""
        raise NotImplementedError
