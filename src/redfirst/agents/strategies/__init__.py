# SPDX-License-Identifier: Apache-2.0
"""One folder for each way from a report to a test bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redfirst.core.errors import UsageError

if TYPE_CHECKING:
    from redfirst.agents.task import Strategy


def strategy_named(name: str) -> Strategy:
    """The strategy of that name. Raises UsageError naming those there are."""
    if name != "snippet":
        raise UsageError(f"no strategy {name!r}", "there is: snippet")
    from redfirst.agents.strategies.snippet.strategy import SnippetStrategy

    return SnippetStrategy()
