# SPDX-License-Identifier: Apache-2.0
"""One observation: a fresh workspace, one instrumented run in it, what it reported and changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from redfirst.core.environment import Environment
from redfirst.core.evidence import RunReport, Trait
from redfirst.core.limits import Limits
from redfirst.gate.classify import has_trait
from redfirst.gate.gitindex import staged_entries
from redfirst.gate.project import ProjectView
from redfirst.patches.apply import TreeChange
from redfirst.patches.base import PreparedBase
from redfirst.runners.protocol import Plan, Runner, Selection
from redfirst.sandbox.protocol import Change, ChangeKind, Completed, FileEdit, Sandbox, Workspace

_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_INDEX = ".git/index"
_CACHES = ("__pycache__/", ".pytest_cache/", ".mypy_cache/", ".hypothesis/")


@dataclass(frozen=True, slots=True)
class Tree:
    """Base with what was applied to it."""

    base: PreparedBase
    changes: tuple[TreeChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """One run as seen from outside. ``touched``: tracked files or Git state that the run changed."""

    completed: Completed
    report: RunReport
    touched: tuple[str, ...]
    leftovers: tuple[str, ...]
    argv: tuple[str, ...]
    project: ProjectView
    copied: bool = False


@dataclass(frozen=True, slots=True)
class Bench:
    """What stays the same over the runs of one judgement."""

    sandbox: Sandbox
    environment: Environment
    limits: Limits
    tree: Tree
    project: ProjectView

    def observe(
        self, runner: Runner, selection: Selection, *, seed: int, patched: Sequence[str]
    ) -> Observation:
        """Run the selection once; again on a copied tree if the overlay refused to rename a folder.

        Raises SandboxError when no workspace could be made.
        """
        shuffle = seed > 0 and len(selection.nodes) > 1
        plan = runner.plan(selection, self.environment, seed=seed, shuffle=shuffle, patched=patched)
        seen = self._once(runner, plan, selection, copy=False)
        if has_trait(seen.report, Trait.CROSS_DEVICE):
            seen = self._once(runner, plan, selection, copy=True)
        return seen

    def collect(self, runner: Runner, selection: Selection, files: Sequence[str]) -> RunReport:
        """Every test of ``files`` on this tree; nothing is executed."""
        plan = runner.plan(
            selection, self.environment, seed=0, shuffle=False, patched=files, collect_only=True
        )
        return self._once(runner, plan, selection, copy=False).report

    def execute(self, argv: Sequence[str], *, stdin: bytes, variables: Mapping[str, str]) -> Completed:
        """Run any command on this tree, from its root, in a workspace of its own."""
        workspace = self.workspace()
        try:
            env = self.variables((*self._import_path(workspace.mount), *variables.items()))
            return workspace.run(argv, env=env, limits=self.limits, stdin=stdin)
        finally:
            workspace.close()

    def workspace(self, *, copy: bool = False) -> Workspace:
        """A fresh workspace that holds the tree with its changes."""
        environment = self.environment
        workspace = self.sandbox.fresh(
            self.tree.base.tree_dir,
            mount=environment.mount,
            layer=Path(environment.layer) if environment.layer else None,
            binds=environment.binds,
            limits=self.limits,
            copy=copy,
        )
        try:
            workspace.edit(edits_of(self.tree.changes))
        except BaseException:
            workspace.close()
            raise
        return workspace

    def variables(self, assignments: Iterable[tuple[str, str]]) -> dict[str, str]:
        """The whole environment of a command: nothing of the caller's own gets in."""
        path = ":".join((*self.environment.path, *_SYSTEM_PATH))
        return {"PATH": path, "LANG": "C.UTF-8", **dict(self.environment.variables), **dict(assignments)}

    def _once(self, runner: Runner, plan: Plan, selection: Selection, *, copy: bool) -> Observation:
        workspace = self.workspace(copy=copy)
        try:
            completed = workspace.run(
                plan.argv,
                cwd=plan.cwd,
                env=self.variables(
                    (*self._import_path(workspace.mount), *plan.env, *selection.command.assignments)
                ),
                limits=self.limits,
                stdin=plan.stdin,
                binds=plan.binds,
            )
            changes = workspace.changes()
            index = workspace.read(_INDEX, 64 << 20) if _changed(changes, _INDEX) else None
        finally:
            workspace.close()
        project = self.project if workspace.mount == self.project.mount else self._moved(workspace.mount)
        report = runner.parse(plan, completed, project)
        touched, leftovers = self._judge_changes(changes, index)
        return Observation(
            completed, report, touched, leftovers, selection.command.argv, project, copied=copy
        )

    def _import_path(self, mount: str) -> tuple[tuple[str, str], ...]:
        """Where the backend cannot mount, an editable install points elsewhere: lead imports back here."""
        if mount == self.environment.mount or not self.environment.editable_roots:
            return ()
        here = [root.replace(self.environment.mount, mount, 1) for root in self.environment.editable_roots]
        return (("PYTHONPATH", ":".join(here)),)

    def _moved(self, mount: str) -> ProjectView:
        """The same project seen at another path, where the backend cannot mount."""
        return replace(self.project, mount=mount)

    def _judge_changes(
        self, changes: Sequence[Change], index: bytes | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        touched, leftovers = [], []
        for change in changes:
            if change.path == _INDEX and self._same_index(index):
                continue
            if change.path.startswith(".git/") or change.path == ".git":
                touched.append(f"Git state was touched: {change.path} {change.kind.value}")
            elif change.kind is not ChangeKind.ADDED and self.project.exists(change.path):
                touched.append(f"a tracked file was touched: {change.path} {change.kind.value}")
            elif not any(cache in change.path + "/" for cache in _CACHES):
                leftovers.append(change.path)
        return tuple(touched), tuple(leftovers[:200])

    def _same_index(self, index: bytes | None) -> bool:
        try:
            own = (self.tree.base.tree_dir / _INDEX).read_bytes()
        except OSError:
            return False
        staged = staged_entries(own)
        return index is not None and staged is not None and staged_entries(index) == staged


def edits_of(changes: Iterable[TreeChange]) -> tuple[FileEdit, ...]:
    """The files to lay over Base for these changes."""
    return tuple(
        FileEdit(change.path, change.new, executable=change.new_mode == "100755") for change in changes
    )


def _changed(changes: Iterable[Change], path: str) -> bool:
    return any(change.path == path and change.kind is not ChangeKind.REMOVED for change in changes)
