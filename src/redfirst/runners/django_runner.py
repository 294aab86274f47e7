# SPDX-License-Identifier: Apache-2.0
"""Django's test runner, started by ``runtests.py`` or ``manage.py test``, observed where it uses unittest."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from redfirst.core.environment import Environment
from redfirst.core.errors import CommandRejected
from redfirst.core.evidence import RunReport
from redfirst.runners.django_command import (
    OWN_SCRIPT,
    PROJECT_SCRIPT,
    django_call,
    django_selection,
    label_files,
)
from redfirst.runners.protocol import Command, Plan, Project, Selection
from redfirst.runners.python_declared import unittest_tests
from redfirst.runners.python_settings import instrumented
from redfirst.runners.unittest_report import read_report
from redfirst.runners.unittest_runner import same_dotted
from redfirst.sandbox.protocol import Completed

_TESTS = "tests/"


class DjangoRunner:
    """The adapter for ``runtests.py`` and ``manage.py test``; node ids are the dotted names that these take."""

    name = "django"

    def recognise(self, command: Command) -> Selection | None:
        """The selection, or None if this is not Django's. Raises CommandRejected."""
        call = django_call(command.argv)
        return django_selection(command, call) if call is not None else None

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
        """How to start it, in one process. Raises EnvironmentFailed if the environment has no interpreter."""
        call = django_call(selection.command.argv)
        if call is None:
            raise CommandRejected(
                "this is no command of Django's tests", "start runtests.py or manage.py test"
            )
        task = ("test",) if posixpath.basename(call.script) == PROJECT_SCRIPT else ()
        labels = () if collect_only else selection.nodes
        arguments = (call.script, *task, *call.options, "--noinput", "--parallel=1", *labels)
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
        """Dotted names of the tests that a file's text plainly defines, seen from ``tests/`` below the top."""
        return unittest_tests(path.removeprefix(_TESTS) if path.count("/") > 1 else path, text)

    def matches(self, declared: str, node: str) -> bool:
        """Whether both name the same test; one may be seen from a deeper folder than the other."""
        return same_dotted(declared, node)

    def base_of(self, node: str) -> str:
        """The id itself: subtests belong to their method."""
        return node

    def run_selection(self, nodes: Sequence[str], script: str = "") -> Selection:
        """A selection of these full ids; without a ``script``, by that of Django's own suite."""
        script = script or f"{_TESTS}{OWN_SCRIPT}"
        task = ("test",) if posixpath.basename(script) == PROJECT_SCRIPT else ()
        command = Command(".", (), ("python", script, *task, *nodes))
        return Selection(self.name, command, tuple(nodes), label_files(".", script, nodes))
