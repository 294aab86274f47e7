# SPDX-License-Identifier: Apache-2.0
"""unittest of the tested interpreter, observed by a loader, runner and result from outside the tree."""

from __future__ import annotations

from collections.abc import Sequence

from redfirst.core.environment import Environment
from redfirst.core.evidence import RunReport
from redfirst.runners.protocol import Command, Plan, Project, Selection
from redfirst.runners.python_command import invocation, unittest_selection
from redfirst.runners.python_declared import unittest_tests
from redfirst.runners.python_settings import instrumented
from redfirst.runners.unittest_report import read_report
from redfirst.sandbox.protocol import Completed


class UnittestRunner:
    """The adapter for ``python -m unittest``; node ids are dotted names."""

    name = "unittest"

    def recognise(self, command: Command) -> Selection | None:
        """The selection, or None if this is not unittest. Raises CommandRejected."""
        call = invocation(command.argv)
        if call is None or call.runner != self.name:
            return None
        return unittest_selection(command, call)

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
        arguments = () if collect_only else (*selection.options, *selection.nodes)
        return instrumented(
            selection,
            environment,
            self.name,
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
        """Dotted names of the tests that a file's text plainly defines; None if it does not parse."""
        return unittest_tests(path, text)

    def matches(self, declared: str, node: str) -> bool:
        """Whether both name the same test; one may be seen from a deeper folder than the other."""
        return same_dotted(declared, node)

    def base_of(self, node: str) -> str:
        """The id itself: subtests belong to their method."""
        return node

    def run_selection(self, nodes: Sequence[str]) -> Selection:
        """A selection of these full ids."""
        argv = ("python", "-m", "unittest", *nodes)
        files = tuple(dict.fromkeys("/".join(node.split(".")[:-2]) + ".py" for node in nodes))
        return Selection(self.name, Command(".", (), argv), tuple(nodes), files)


def same_dotted(declared: str, node: str) -> bool:
    """Whether two dotted names may be of one test: a bare name, or one seen from a deeper folder."""
    wanted, parts = declared.split("."), node.split(".")
    if len(wanted) == 1:
        return parts[-1] == declared
    shared = min(len(wanted), len(parts))
    return wanted[-shared:] == parts[-shared:]
