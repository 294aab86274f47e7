# SPDX-License-Identifier: Apache-2.0
"""The strategy without a model: run the report's own code, compare, and write what was confirmed as a test."""

from redfirst.agents.strategies.snippet.strategy import SnippetStrategy

__all__ = ["SnippetStrategy"]
