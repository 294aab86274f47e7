# SPDX-License-Identifier: Apache-2.0
"""Failures of Rust tests and builds as evidence: whose line panicked, whose line did not compile."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from redfirst.core.evidence import (
    Failure,
    Frame,
    NodeResult,
    Phase,
    PhaseOutcome,
    PhaseResult,
    Place,
    Trait,
)
from redfirst.runners.cargo_report import CargoReport, CompilerError, Event
from redfirst.runners.protocol import Project
from redfirst.runners.rust_panic import panic_of
from redfirst.runners.rust_text import declaring_files, scan

_OUTCOMES = {
    "test/ok": PhaseOutcome.PASSED,
    "test/failed": PhaseOutcome.FAILED,
    "test/ignored": PhaseOutcome.SKIPPED,
}
_NOT_AS_EXPECTED = (
    "test did not panic as expected",
    "note: test did not panic as expected",
    "panic did not contain",
)
_MISSING_CRATE = re.compile(
    r"(?:unlinked crate|missing crate|missing a crate named|can't find crate for|find module or crate) `(\w+)`"
)
_NO_LINKER = re.compile(r"linker `[^`]+` not found")
_MESSAGE_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class Sources:
    """Paths as the compiler writes them, found again in the project. ``cd``: where Cargo was started."""

    project: Project
    cd: str

    def relative(self, path: str) -> str:
        """Relative to the workspace; the path itself where it lies outside."""
        return self.placed(path)[0]

    def placed(self, path: str, line: int = 0) -> tuple[str, Place]:
        """The relative path, and whose text that line of it is."""
        found, place = self.project.place(self._absolute(path))
        if place is Place.SOURCE and found.endswith(".rs") and self._is_test_text(found, line):
            return found, Place.TEST
        return found, place

    def _absolute(self, path: str) -> str:
        """Rust writes paths relative to the root of Cargo's workspace, which may lie above ``cd``."""
        if posixpath.isabs(path):
            return path
        folder = "" if self.cd in ("", ".") else self.cd
        while folder and self.project.read(posixpath.normpath(posixpath.join(folder, path))) is None:
            folder = posixpath.dirname(folder)
        return posixpath.normpath(posixpath.join(self.project.mount, folder, path))

    def _is_test_text(self, path: str, line: int) -> bool:
        text = self.project.read(path)
        if text is None:
            return False
        if scan(text.decode("utf-8", "replace")).is_test_line(line):
            return True
        for parent, name in declaring_files(path):
            above = self.project.read(parent)
            if above is not None and name in scan(above.decode("utf-8", "replace")).test_modules:
                return True
        return False


def node_of(name: str, event: Event | None, sources: Sources) -> NodeResult:
    """The result of one test; ``event`` is None where its end was never reported."""
    if event is None:
        return NodeResult(name, (), finished=False)
    outcome = _OUTCOMES[event.kind]
    failures = (_failure(name, event, sources),) if outcome is PhaseOutcome.FAILED else ()
    note = event.message if outcome is PhaseOutcome.SKIPPED else ""
    return NodeResult(name, (PhaseResult(Phase.CALL, outcome, failures, event.seconds, note),))


def _failure(name: str, event: Event, sources: Sources) -> Failure:
    """A test fails by a panic, by a panic that was expected and missing, or by returning ``Err``."""
    detail = event.stdout[-_MESSAGE_LIMIT:]
    if event.message.startswith(_NOT_AS_EXPECTED):
        return Failure("should_panic", event.message, traits=frozenset({Trait.ASSERTION}), detail=detail)
    panic = panic_of(name, event.stdout)
    if panic is None:
        return Failure("Err", _last_line(event.stdout) or event.message, detail=detail)
    path, place = sources.placed(panic.file, panic.line)
    traits = set(panic.traits)
    if place is Place.TEST and not traits:
        traits.add(Trait.ASSERTION)
    frame = Frame(path, panic.line, name, place)
    return Failure("panic", panic.message[:_MESSAGE_LIMIT], (frame,), frozenset(traits), detail)


def _last_line(text: str) -> str:
    """What Rust prints of an ``Err`` that a test returns: the last line that begins with ``Error:``."""
    lines = [line for line in text.splitlines() if line.startswith("Error: ")]
    return lines[-1].removeprefix("Error: ") if lines else ""


def build_failures(report: CargoReport, sources: Sources, argv: Sequence[str]) -> tuple[Failure, ...]:
    """Why there is no test binary; empty where the named target does not exist or the build was cut."""
    if report.build_status is None:
        return ()
    if report.errors:
        return tuple(_compile_failure(error, sources) for error in report.errors)
    if report.finished:
        return (Failure("build", "the build failed without an error of the compiler"),)
    if report.targets is None:
        return (Failure("manifest", "Cargo cannot read the manifest of the package"),)
    if not _has_target(report.targets, argv):
        return ()
    message = "Cargo cannot make the dependencies ready without the network"
    return (Failure("dependencies", message, traits=frozenset({Trait.MODULE_MISSING})),)


def _has_target(targets: Sequence[tuple[str, str]], argv: Sequence[str]) -> bool:
    if "--test" in argv:
        return ("test", argv[list(argv).index("--test") + 1]) in targets
    if "--lib" in argv:
        return any(kind.endswith("lib") or kind == "proc-macro" for kind, _ in targets)
    return True


def _compile_failure(error: CompilerError, sources: Sources) -> Failure:
    path, place = sources.placed(error.file, error.line)
    traits: set[Trait] = set()
    if _missing_crate(error, sources) or _NO_LINKER.match(error.message):
        traits.add(Trait.MODULE_MISSING)
    kind = f"error[{error.code}]" if error.code else "error"
    frames = (Frame(path, error.line, "", place),) if path else ()
    return Failure(kind, f"{error.message} ({path}:{error.line})", frames, frozenset(traits))


def _missing_crate(error: CompilerError, sources: Sources) -> bool:
    """Whether a crate is missing that is neither the project's nor a module of its own."""
    if error.code not in ("E0432", "E0433", "E0463"):
        return False
    names = {match[1] for text in error.texts for match in _MISSING_CRATE.finditer(text)}
    return bool(names) and not any(_own_name(name, sources) for name in names)


def _own_name(name: str, sources: Sources) -> bool:
    folder = "" if sources.cd in ("", ".") else f"{sources.cd}/"
    read = sources.project.read
    if any(read(f"{folder}{place}") is not None for place in (f"src/{name}.rs", f"src/{name}/mod.rs")):
        return True
    dashed = name.replace("_", "-")
    folders = [f"{above}{spelled}" for above in ("", "crates/") for spelled in (name, dashed)]
    if any(read(f"{place}/Cargo.toml") is not None for place in folders):
        return True
    manifest = (read(f"{folder}Cargo.toml") or b"").decode("utf-8", "replace")
    return (
        re.search(rf'^name\s*=\s*"(?:{re.escape(name)}|{re.escape(dashed)})"', manifest, re.MULTILINE)
        is not None
    )
