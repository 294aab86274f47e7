# SPDX-License-Identifier: Apache-2.0
"""The seam between the gate and one test framework; a further runner is one file that has this shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from redfirst.core.environment import Bind, Environment
from redfirst.core.evidence import Place, RunReport
from redfirst.sandbox.protocol import Completed


@dataclass(frozen=True, slots=True)
class Command:
    """A parsed ``test_command``: ``cd`` relative to the checkout, allowed assignments, plain argv."""

    cd: str
    assignments: tuple[tuple[str, str], ...]
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """A command that one runner recognised as selecting exactly these tests.

    ``nodes``: selectors as the command writes them, in its order. ``files``: workspace-relative files it
    names (empty where the runner has none). ``options``: allowed flags, in order.
    """

    runner: str
    command: Command
    nodes: tuple[str, ...]
    files: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    interpreter_options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What to start in the sandbox, and what the parser needs to read the result."""

    argv: tuple[str, ...]
    cwd: str
    env: tuple[tuple[str, str], ...]
    binds: tuple[Bind, ...] = ()
    stdin: bytes = b""
    secret: bytes = b""


class Project(Protocol):
    """The patched tree as a parser sees it; pure look-ups, nothing runs."""

    @property
    def mount(self) -> str:
        """Absolute path of the tree as the run sees it."""

    @property
    def prefix(self) -> str | None:
        """Folder of the virtual environment, as seen inside."""

    def place(self, path: str) -> tuple[str, Place]:
        """For an absolute path inside: the workspace-relative path (or itself) and whose file it is."""

    def read(self, path: str) -> bytes | None:
        """Content of a workspace-relative file after the patches."""

    def owns_module(self, name: str) -> bool:
        """Whether the top-level module ``name`` exists on the project's import path."""


class Runner(Protocol):
    """One test framework. Recognising and parsing are pure; the gate does all the running."""

    name: str

    def recognise(self, command: Command) -> Selection | None:
        """None: not this runner's argv. Raises CommandRejected: its argv, but not in the allowed form."""

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
        """How to run it instrumented. ``patched``: test files whose every test must be reported as available.

        With ``collect_only`` nothing is executed; only ``available`` for ``patched`` is wanted.
        """

    def parse(self, plan: Plan, completed: Completed, project: Project) -> RunReport:
        """Read the structured report and cross-check it with the end of the process."""

    def declared_tests(self, path: str, text: bytes) -> tuple[str, ...] | None:
        """Ids of the tests that one file's text plainly defines, without cases; None if not parsable."""

    def matches(self, declared: str, node: str) -> bool:
        """Whether an observed id is the declared one or a case of it; a bare name matches any place."""

    def base_of(self, node: str) -> str:
        """The node id without its case (``test_a[1]`` → ``test_a``)."""

    def run_selection(self, nodes: Sequence[str]) -> Selection:
        """A selection for these full ids, for `run(tree, nodes)`."""
