# SPDX-License-Identifier: Apache-2.0
"""The test frameworks that the gate knows."""

from __future__ import annotations

from redfirst.core.errors import CommandRejected, UsageError
from redfirst.runners.cargo import CargoRunner
from redfirst.runners.django_runner import DjangoRunner
from redfirst.runners.node import NodeRunner
from redfirst.runners.protocol import Command, Runner, Selection
from redfirst.runners.pytest_runner import PytestRunner
from redfirst.runners.unittest_runner import UnittestRunner

RUNNERS: tuple[Runner, ...] = (PytestRunner(), UnittestRunner(), DjangoRunner(), CargoRunner(), NodeRunner())


def recognise(command: Command) -> tuple[Runner, Selection]:
    """The runner whose command this is. Raises CommandRejected: nobody's, or not in the allowed form."""
    for runner in RUNNERS:
        selection = runner.recognise(command)
        if selection is not None:
            return runner, selection
    names = ", ".join(runner.name for runner in RUNNERS)
    raise CommandRejected(f"{command.argv[0]!r} starts no known test runner", f"use one of: {names}")


def runner_named(name: str) -> Runner:
    """The runner of this name. Raises UsageError where there is none."""
    for runner in RUNNERS:
        if runner.name == name:
            return runner
    names = ", ".join(runner.name for runner in RUNNERS)
    raise UsageError(f"there is no runner {name!r}", f"use one of: {names}")
