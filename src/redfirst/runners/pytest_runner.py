# SPDX-License-Identifier: Apache-2.0
"""pytest 7 to 9, observed by a plugin from outside the tree."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from redfirst.core.environment import Environment
from redfirst.core.evidence import RunReport
from redfirst.runners.protocol import Command, Plan, Project, Selection
from redfirst.runners.pytest_report import read_report
from redfirst.runners.python_command import invocation, pytest_selection
from redfirst.runners.python_declared import base_name, pytest_tests, split_id
from redfirst.runners.python_settings import instrumented
from redfirst.sandbox.protocol import Completed


class PytestRunner:
    """The adapter for pytest; node ids are pytest's own, with paths seen from the checkout."""

    name = "pytest"

    def recognise(self, command: Command) -> Selection | None:
        """The selection, or None if this is not pytest. Raises CommandRejected."""
        call = invocation(command.argv)
        if call is None or call.runner != self.name:
            return None
        return pytest_selection(command, call)

    def plan(
        self,
        selection: Selection,
        environment: Environment,
        *,
        seed: int,
        shuffle: bool,
        patched: Sequence[str],
        collect_only: bool = False,
    ) -> Plan:
        """How to start it. Raises EnvironmentFailed if the environment has no interpreter."""
        call = invocation(selection.command.argv)
        way = "pytest-m" if call is not None and call.as_module else "pytest"
        arguments = call.arguments if call is not None else selection.nodes
        if collect_only:
            depth = selection.command.cd or "."
            arguments = tuple(posixpath.relpath(path, depth) for path in patched)
        return instrumented(
            selection,
            environment,
            way,
            arguments,
            seed=seed,
            shuffle=shuffle,
            patched=patched,
            collect_only=collect_only,
        )

    def parse(self, plan: Plan, completed: Completed, project: Project) -> RunReport:
        """The checked report of one run."""
        return read_report(plan.secret, completed, project)

    def declared_tests(self, path: str, text: bytes) -> tuple[str, ...] | None:
        """Ids of the tests that a file's text plainly defines; None if it does not parse."""
        return pytest_tests(path, text)

    def matches(self, declared: str, node: str) -> bool:
        """Whether ``node`` is the declared test or a case of it; paths may be given from a deeper folder."""
        wanted_path, wanted = split_id(declared)
        path, names = split_id(node)
        if not wanted:
            wanted_path, wanted = "", (declared,)
        elif not _looks_like_path(wanted_path):
            wanted_path, wanted = "", (wanted_path, *wanted)
        if wanted_path and not ("/" + path).endswith("/" + posixpath.normpath(wanted_path)):
            return False
        size = len(names) if wanted_path else len(wanted)
        return names[-size:] == wanted or (*names[:-1], base_name(names[-1]))[-size:] == wanted

    def base_of(self, node: str) -> str:
        """The id without its case."""
        return base_name(node)

    def run_selection(self, nodes: Sequence[str]) -> Selection:
        """A selection of these full ids."""
        files = tuple(dict.fromkeys(split_id(node)[0] for node in nodes))
        return Selection(self.name, Command(".", (), (self.name, *nodes)), tuple(nodes), files)


def _looks_like_path(text: str) -> bool:
    return "/" in text or "." in text
