# SPDX-License-Identifier: Apache-2.0
"""Which runner the tests of a file have, by what the checkout says of itself."""

from __future__ import annotations

from redfirst.environments.find import project_of
from redfirst.gate.check.nodes import RunnerOf
from redfirst.gate.session import GateSession
from redfirst.runners.js_text import EXTENSIONS
from redfirst.runners.protocol import Runner
from redfirst.runners.registry import runner_named


def runner_of_files(session: GateSession) -> RunnerOf:
    """A function that names the runner of a test file of this tree.

    None for a file without tests, or in a language that has no runner. A file that does not parse keeps its runner.
    """
    python = project_of(session.base, session.settings.cache).runner

    def named(path: str) -> str:
        if path.endswith(".py"):
            return python
        return "cargo" if path.endswith(".rs") else "node" if path.endswith(EXTENSIONS) else ""

    def runner_of(path: str, text: bytes | None) -> Runner | None:
        name = named(path)
        if not name or text is None:
            return None
        runner = runner_named(name)
        found = runner.declared_tests(path, text)
        return runner if found is None or found else None

    return runner_of
