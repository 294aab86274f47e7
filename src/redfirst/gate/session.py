# SPDX-License-Identifier: Apache-2.0
"""The gate itself: `run`, `judge` and `qualify` over one Base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from redfirst.core.bundle import PATCH_FILE, BehaviorContract, TestBundle
from redfirst.core.digests import digest
from redfirst.core.environment import Environment
from redfirst.core.errors import (
    CommandRejected,
    ContractInvalid,
    EnvironmentFailed,
    PatchConflict,
    PatchError,
    PatchForbidden,
    PatchMalformed,
    SandboxError,
)
from redfirst.core.kinds import FailureKind, Outcome
from redfirst.core.limits import Limits
from redfirst.core.verdict import Receipt, Verdict
from redfirst.environments.find import environment_for, project_of
from redfirst.gate.bind import faults_before_run
from redfirst.gate.bundles import FrozenBundle, freeze
from redfirst.gate.contract import parse_contract
from redfirst.gate.decide import Declared, decide
from redfirst.gate.observe import Bench, Tree
from redfirst.gate.project import ProjectView
from redfirst.gate.receipts import ReceiptDraft
from redfirst.gate.selectors import check_selection
from redfirst.patches.apply import AppliedTree, TreeChange, apply_patch
from redfirst.patches.base import PreparedBase, prepare_base
from redfirst.patches.parse import parse_patch
from redfirst.patches.policy import (
    PathPolicy,
    judge_source_patch,
    judge_test_changes,
    judge_test_paths,
    policy_for,
)
from redfirst.runners.command import parse_command
from redfirst.runners.django_runner import DjangoRunner
from redfirst.runners.protocol import Runner, Selection
from redfirst.runners.registry import recognise, runner_named
from redfirst.sandbox.protocol import Sandbox
from redfirst.sandbox.select import open_sandbox


def _silent(_line: str) -> None:
    """Progress that nobody wants to see."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Where Base is and how runs are made. ``cache``: prepared Bases and environments; ``store``: frozen bundles."""

    repo: Path
    cache: Path
    store: Path
    ref: str | None = None
    python: str | None = None
    sandbox: str = "bubblewrap"
    scratch: Path | None = None
    limits: Limits = field(default_factory=Limits)
    repeat: int = 2
    log: Callable[[str], None] = _silent


@dataclass(frozen=True, slots=True)
class Qualified:
    """A verdict on Base, and the frozen bundle if it qualified."""

    verdict: Verdict
    frozen: FrozenBundle | None


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A bundle that passed every check before its run."""

    runner: Runner
    selection: Selection
    contract: BehaviorContract
    test: AppliedTree
    tree: AppliedTree


class _Stopped(Exception):
    """A stage before the run decided the verdict."""

    def __init__(self, kind: FailureKind, faults: Sequence[str]) -> None:
        super().__init__(kind.value)
        self.kind = kind
        self.faults = tuple(faults)


class GateSession:
    """One gate over one Base; safe to use for many judgements in a row, each in a fresh workspace."""

    def __init__(self, settings: GateSettings) -> None:
        self.settings = settings
        #: the environments found so far, by runner
        self.environments: dict[str, Environment] = {}

    @cached_property
    def sandbox(self) -> Sandbox:
        return open_sandbox(self.settings.sandbox, scratch=self.settings.scratch)

    @cached_property
    def base(self) -> PreparedBase:
        return prepare_base(self.settings.repo, self.settings.ref, self.settings.cache / "bases")

    @cached_property
    def policy(self) -> PathPolicy:
        return policy_for(self.base)

    def environment(self, runner: str) -> Environment:
        """The environment in which tests of ``runner`` run; found once. Raises EnvironmentFailed, UsageError."""
        if runner not in self.environments:
            self.environments[runner] = environment_for(
                runner,
                self.settings.repo,
                self.base,
                python=self.settings.python,
                cache=self.settings.cache,
                sandbox=self.sandbox,
                log=self.settings.log,
            )
        return self.environments[runner]

    def qualify(self, bundle: TestBundle) -> Qualified:
        """Judge on Base and freeze the canonical bundle if it fails validly there."""
        draft = ReceiptDraft(self.settings.limits, bundle)
        verdict, prepared = self._judge(bundle, None, draft)
        if verdict.outcome is not Outcome.FAIL or prepared is None:
            return Qualified(verdict, None)
        canonical = replace(bundle, patch=prepared.test.canonical)
        return Qualified(verdict, freeze(canonical, self.settings.store))

    def judge(self, bundle: TestBundle, source_patch: bytes | None = None) -> Verdict:
        """What this bundle says of Base, or of Base with ``source_patch``. Raises UsageError alone."""
        return self._judge(bundle, source_patch, ReceiptDraft(self.settings.limits, bundle))[0]

    def facts(self, bundle: TestBundle, source_patch: bytes | None = None) -> Receipt:
        """What a judgement of this bundle would rest on now; nothing of it is run."""
        draft = ReceiptDraft(self.settings.limits, bundle)
        try:
            prepared = self._prepare(bundle, source_patch, draft)
            draft.bench = self.bench(prepared.runner.name, Tree(self.base, prepared.tree.changes))
        except _Stopped as stop:
            return draft.seal(stop.kind, stop.faults).receipt
        return draft.seal(FailureKind.NOT_RUN, ()).receipt

    def run(self, nodes: Sequence[str], *, runner: str, changes: tuple[TreeChange, ...] = ()) -> Verdict:
        """The kernel: run these full ids on Base with any ``changes``; no contract, no patch policy."""
        adapter = runner_named(runner)
        draft = ReceiptDraft(self.settings.limits, None)
        try:
            selection = self.selection(adapter, tuple(nodes))
            declared = Declared(tuple(nodes), (), ())
            return self._run(adapter, selection, declared, Tree(self.base, changes), draft)
        except (SandboxError, EnvironmentFailed) as error:
            return draft.seal(_kind_of(error), [str(error)])

    def selection(self, adapter: Runner, nodes: tuple[str, ...]) -> Selection:
        """These ids as a command; Django's tests are started by a script that only the tree can tell."""
        if isinstance(adapter, DjangoRunner):
            return adapter.run_selection(nodes, project_of(self.base, self.settings.cache).django_script)
        return adapter.run_selection(nodes)

    def bench(self, runner: str, tree: Tree) -> Bench:
        """Everything needed to run commands on ``tree``. Raises SandboxError, EnvironmentFailed."""
        environment = self.environment(runner)
        project = ProjectView(
            self.base.tree_dir,
            environment.mount,
            environment.prefix,
            self.policy,
            {change.path: change.new for change in tree.changes},
            environment.editable_roots,
            environment.layer,
        )
        return Bench(self.sandbox, environment, self.settings.limits, tree, project)

    def _judge(
        self, bundle: TestBundle, source_patch: bytes | None, draft: ReceiptDraft
    ) -> tuple[Verdict, _Prepared | None]:
        try:
            prepared = self._prepare(bundle, source_patch, draft)
            tree = Tree(self.base, prepared.tree.changes)
            declared = self._declared(prepared, tree)
            verdict = self._run(prepared.runner, prepared.selection, declared, tree, draft)
        except _Stopped as stop:
            return draft.seal(stop.kind, stop.faults), None
        except CommandRejected as error:
            return draft.seal(FailureKind.COMMAND_REJECTED, [str(error)]), None
        except (SandboxError, EnvironmentFailed) as error:
            return draft.seal(_kind_of(error), [str(error)]), None
        return verdict, prepared

    def _prepare(self, bundle: TestBundle, source_patch: bytes | None, draft: ReceiptDraft) -> _Prepared:
        """The checks of the spec's order: contract, test patch, source patch, command."""
        try:
            contract = parse_contract(bundle.contract)
        except ContractInvalid as error:
            raise _Stopped(FailureKind.CONTRACT_INVALID, [str(error)]) from None
        test = self._test_patch(bundle.patch)
        draft.base, draft.canonical = self.base, digest(test.canonical)
        tree = test
        if source_patch is not None and source_patch.strip():
            draft.source_patch = digest(source_patch)
            tree = self._with_source(source_patch, bundle.patch or b"")
        draft.tested_tree = tree.tree
        runner, selection = self._command(bundle.command, tree)
        return _Prepared(runner, selection, contract, test, tree)

    def _test_patch(self, data: bytes | None) -> AppliedTree:
        if data is None:
            raise _Stopped(FailureKind.PATCH_MALFORMED, [f"{PATCH_FILE} is missing"])
        try:
            patch = parse_patch(data)
            _refuse(FailureKind.PATCH_FORBIDDEN, judge_test_paths(patch, self.policy))
            applied = apply_patch(self.base, data)
            _refuse(FailureKind.PATCH_FORBIDDEN, judge_test_changes(applied.changes, self.policy))
        except PatchError as error:
            raise _Stopped(_patch_kind(error), [str(error)]) from None
        return applied

    def _with_source(self, source: bytes, test: bytes) -> AppliedTree:
        try:
            patch = parse_patch(source)
            applied = apply_patch(self.base, source)
            faults = judge_source_patch(patch, applied.changes, self.policy)
        except PatchError as error:
            raise _Stopped(FailureKind.SOURCE_PATCH_INVALID, [str(error)]) from None
        _refuse(FailureKind.SOURCE_PATCH_INVALID, faults)
        try:
            return apply_patch(self.base, test, onto=applied)
        except PatchError as error:
            raise _Stopped(FailureKind.PATCH_CONFLICT, [f"beside the source patch: {error}"]) from None

    def _command(self, data: bytes | None, tree: AppliedTree) -> tuple[Runner, Selection]:
        try:
            if data is None:
                raise CommandRejected("test_command is missing", "add it to the bundle")
            runner, selection = recognise(parse_command(data))
            project = self.bench_project(tree.changes)
            check_selection(selection, self.base.tree_dir, project)
        except CommandRejected as error:
            raise _Stopped(FailureKind.COMMAND_REJECTED, [str(error)]) from None
        return runner, selection

    def bench_project(self, changes: Sequence[TreeChange]) -> ProjectView:
        """The patched tree before any environment is known."""
        changed = {change.path: change.new for change in changes}
        return ProjectView(self.base.tree_dir, str(self.settings.repo), None, self.policy, changed)

    def _declared(self, prepared: _Prepared, tree: Tree) -> Declared:
        """Bind by text what can be bound before the run; raises _Stopped with ``node_unbound``."""
        runner, contract = prepared.runner, prepared.contract
        changes = [change for change in prepared.test.changes if self.policy.is_test(change.path)]
        changes += [c for c in prepared.test.changes if c.path.endswith(".rs") and c not in changes]
        before = [t for c in changes if c.old for t in runner.declared_tests(c.path, c.old) or ()]
        after = [t for c in changes if c.new for t in runner.declared_tests(c.path, c.new) or ()]
        known = after
        if not after:
            project = self.bench_project(tree.changes)
            texts = [(path, project.read(path)) for path in prepared.selection.files]
            known = [t for path, text in texts if text for t in runner.declared_tests(path, text) or ()]
            before = [*before, *known]
        _refuse(FailureKind.NODE_UNBOUND, faults_before_run(runner, contract.test_nodes, before, known))
        files = tuple(c.path for c in changes if c.new is not None and runner.declared_tests(c.path, c.new))
        return Declared(contract.test_nodes, tuple(before), files)

    def _run(
        self, runner: Runner, selection: Selection, declared: Declared, tree: Tree, draft: ReceiptDraft
    ) -> Verdict:
        draft.base = self.base
        bench = self.bench(runner.name, tree)
        check_selection(selection, self.base.tree_dir, bench.project, bench.environment)
        draft.bench = bench
        return decide(runner, selection, declared, bench, self.settings.repeat, draft)


def _refuse(kind: FailureKind, faults: Sequence[str]) -> None:
    if faults:
        raise _Stopped(kind, faults)


def _patch_kind(error: PatchError) -> FailureKind:
    kinds: dict[type[PatchError], FailureKind] = {
        PatchMalformed: FailureKind.PATCH_MALFORMED,
        PatchForbidden: FailureKind.PATCH_FORBIDDEN,
        PatchConflict: FailureKind.PATCH_CONFLICT,
    }
    return kinds.get(type(error), FailureKind.PATCH_MALFORMED)


def _kind_of(error: SandboxError | EnvironmentFailed) -> FailureKind:
    if isinstance(error, EnvironmentFailed):
        return FailureKind.ENVIRONMENT_ERROR
    return FailureKind.INFRASTRUCTURE_ERROR
