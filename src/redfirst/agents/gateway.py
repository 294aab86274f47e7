# SPDX-License-Identifier: Apache-2.0
"""The gate as a strategy sees it: Base to read, code to run on it, bundles to qualify."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from functools import cached_property

from redfirst.core.bundle import TestBundle
from redfirst.core.errors import UsageError
from redfirst.environments.find import project_of
from redfirst.gate.observe import Bench, Tree
from redfirst.gate.session import GateSession, Qualified
from redfirst.sandbox.protocol import Completed


class SessionGate:
    """Implements the strategies' ``Gate`` over one session; counts its calls for differing hash seeds."""

    def __init__(self, session: GateSession) -> None:
        self._session = session
        self._seeds = itertools.count(1)

    @cached_property
    def runner(self) -> str:
        """``pytest`` or ``django`` where the project shows it, ``unittest`` where it only has such tests."""
        project = project_of(self._session.base, self._session.settings.cache)
        if project.runner != "unittest":
            return project.runner
        if any(path.endswith(".py") for path in self.base_files()):
            return "unittest" if self._has_unittest() else "pytest"
        raise UsageError("this checkout has no Python code", "the snippet strategy writes Python tests only")

    def base_files(self) -> tuple[str, ...]:
        """Paths of all files of Base, relative, sorted."""
        return self._files

    def read(self, path: str) -> bytes | None:
        """A file of Base, or None."""
        return self._bench.project.read(path)

    def is_test(self, path: str) -> bool:
        """Whether a test patch may touch ``path`` as a test file."""
        return self._session.policy.is_test(path)

    def run_code(self, script: str, *, stdin: bytes, seconds: float) -> Completed:
        """Run a script in the tests' environment, from the root of a fresh workspace."""
        limits = replace(self._bench.limits, wall_s=seconds, cpu_s=seconds)
        bench = replace(self._bench, limits=limits)
        python = bench.environment.python or "python3"
        variables = {"PYTHONHASHSEED": str(next(self._seeds)), "PYTHONDONTWRITEBYTECODE": "1"}
        roots = [os.path.join(bench.environment.mount, root) for root in bench.project.source_roots]
        variables["PYTHONPATH"] = ":".join(roots)
        return bench.execute((python, "-c", script), stdin=stdin, variables=variables)

    def qualify(self, bundle: TestBundle) -> Qualified:
        """Judge a bundle on Base and freeze it if it fails validly there."""
        return self._session.qualify(bundle)

    @cached_property
    def _bench(self) -> Bench:
        return self._session.bench(self.runner, Tree(self._session.base))

    @cached_property
    def _files(self) -> tuple[str, ...]:
        root = self._session.base.tree_dir
        found = []
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if name != ".git")
            found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
        return tuple(sorted(found))

    def _has_unittest(self) -> bool:
        texts = (self._session.base.tree_dir / path for path in self._files if self.is_test(path))
        return any(path.suffix == ".py" and b"unittest" in path.read_bytes()[:20_000] for path in texts)
