# SPDX-License-Identifier: Apache-2.0
"""Rust's own tests through ``cargo test``: libtest's JSON, checked against its log and the exit status.

A test may print to the same pipe, so nothing that it could print is believed alone: counts, pairing,
libtest's second record and the status of each binary must all say the same.
"""

from __future__ import annotations

import json
import posixpath
import re
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources

from redfirst.core.environment import Environment
from redfirst.core.errors import CommandRejected
from redfirst.core.evidence import NodeResult, RunReport
from redfirst.runners.cargo_evidence import Sources, build_failures, node_of
from redfirst.runners.cargo_report import BinaryReport, CargoReport, read_report
from redfirst.runners.protocol import Command, Plan, Project, Selection
from redfirst.runners.rust_text import module_of, scan
from redfirst.sandbox.protocol import Completed

_PATH = re.compile(r"(?:r#)?\w+(?:::(?:r#)?\w+)*")
_TARGET = re.compile(r"[\w-]+")
_CASE = re.compile(r"::case_\d+\w*$")
_IN_FILE = re.compile(r"^(?P<file>[^:]+\.rs)::(?P<path>.+)$")
_TODO = "name each test by its full path: cargo test --test NAME path -- --exact"
_RESULTS = {"test/ok": "ok", "test/failed": "failed", "test/ignored": "ignored"}


class CargoRunner:
    """The ``cargo`` adapter; doc-tests and benchmarks are not run."""

    name = "cargo"

    def recognise(self, command: Command) -> Selection | None:
        """``cargo test [--lib | --test NAME] [path] -- --exact [path ...]`` and quiet flags."""
        if command.argv[0] != "cargo":
            return None
        if command.argv[1:2] != ("test",):
            raise CommandRejected("cargo is allowed as `cargo test` only", _TODO)
        words = command.argv[2:]
        split = words.index("--") if "--" in words else len(words)
        target, names, options = _cargo_words(words[:split])
        exact, more, harness = _libtest_words(words[split + 1 :])
        nodes = (*names, *more)
        if not exact or not nodes:
            raise CommandRejected("cargo test selects more than single tests", _TODO)
        if bad := [node for node in nodes if not _PATH.fullmatch(node)]:
            raise CommandRejected(f"{bad[0]!r} is not the path of a Rust test", _TODO)
        files: tuple[str, ...] = ()
        if len(target) == 2:
            files = (posixpath.normpath(posixpath.join(command.cd, "tests", f"{target[1]}.rs")),)
        return Selection(self.name, command, nodes, files, (*target, *options, *harness))

    def plan(
        self,
        selection: Selection,
        environment: Environment,  # noqa: ARG002 - the toolchain is on PATH
        *,
        seed: int,
        shuffle: bool,
        patched: Sequence[str],
        collect_only: bool = False,
    ) -> Plan:
        """A POSIX shell script that builds, lists and runs the test binaries."""
        libtest = ["--exact", *selection.nodes]
        libtest += [word for word in selection.options if word.startswith("--test-threads=")]
        if shuffle:
            libtest.append(f"--shuffle-seed={seed}")
        target = _target_words(selection.options) or ["--tests"]
        key = secrets.token_hex(16)
        mode = "list" if collect_only else "run"
        script = resources.files(__package__).joinpath("cargo_script/run.sh").read_text(encoding="utf-8")
        argv = ("/bin/sh", "-c", script, "redfirst", mode, " ".join(libtest), *target, "--offline")
        variables = {"CARGO_TERM_COLOR": "never", "CARGO_INCREMENTAL": "0", "CARGO_NET_OFFLINE": "true"}
        return Plan(
            argv,
            selection.command.cd,
            tuple(variables.items()),
            stdin=f"{key}\n{json.dumps(list(patched))}\n".encode(),
            secret=key.encode(),
        )

    def parse(self, plan: Plan, completed: Completed, project: Project) -> RunReport:
        """Nodes from libtest's events; whatever contradicts them is a problem."""
        report = read_report(completed.report, plan.secret.decode())
        sources = Sources(project, plan.cwd)
        patched = json.loads(plan.stdin.split(b"\n")[1])
        built = report.build_status == 0
        problems = [text for binary in report.binaries for text in _problems(binary)]
        if report.end is not None and completed.exit is not None and completed.exit != report.end:
            problems.append(f"the run ended with status {completed.exit} but reported {report.end}")
        shared = _shared(report)
        nodes = [
            replace(node, node=_id(node.node, binary, report, sources, shared))
            for binary in report.binaries
            for node in _nodes(binary, sources)
        ]
        return RunReport(
            nodes=tuple(nodes),
            selected=_selected(plan),
            available=self._available(report, sources, patched, shared),
            collection_failures=() if built else build_failures(report, sources, plan.argv),
            complete=_complete(report),
            problems=tuple(problems),
        )

    def declared_tests(self, path: str, text: bytes) -> tuple[str, ...] | None:
        """Paths of the tests that a ``.rs`` file defines, in the module that its place gives it."""
        if not path.endswith(".rs"):
            return ()
        found = scan(text.decode("utf-8", "replace"))
        if not found.balanced:
            return None
        return tuple("::".join((*module_of(path), test)) for test in found.tests)

    def matches(self, declared: str, node: str) -> bool:
        """Equal, a case of it, or its last part; a file before the path must then be there in both."""
        if declared in (node, self.base_of(node)):
            return True
        if _IN_FILE.match(declared):
            return False
        path = _bare(node)
        return any(
            declared == name or ("::" not in declared and name.endswith(f"::{declared}"))
            for name in (path, self.base_of(path))
        )

    def base_of(self, node: str) -> str:
        """Without the ``case_N`` that a table of cases adds."""
        return _CASE.sub("", node)

    def run_selection(self, nodes: Sequence[str]) -> Selection:
        """All test targets, filtered to exactly these paths."""
        paths = tuple(_bare(node) for node in nodes)
        command = Command(".", (), ("cargo", "test", "--", "--exact", *paths))
        return Selection(self.name, command, paths)

    def _available(
        self, report: CargoReport, sources: Sources, patched: Sequence[str], shared: frozenset[str]
    ) -> tuple[str, ...]:
        """Tests of the patched files: as the binaries list them, by text where none lists the file."""
        seen: set[str] = set()
        found: dict[str, None] = {}
        for binary in report.binaries:
            for test in binary.listed:
                path = sources.relative(test.source)
                if path in patched:
                    seen.add(path)
                    found[_id(test.name, binary, report, sources, shared)] = None
        for path in patched:
            text = sources.project.read(path)
            if path not in seen and text is not None:
                found.update(dict.fromkeys(self.declared_tests(path, text) or ()))
        return tuple(found)


def _cargo_words(words: Sequence[str]) -> tuple[tuple[str, ...], list[str], list[str]]:
    """Target words, test paths and other options of what stands before ``--``."""
    targets: list[tuple[str, ...]] = []
    names: list[str] = []
    options: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--test" and rest:
            targets.append(("--test", rest.pop(0)))
        elif word.startswith("--test="):
            targets.append(("--test", word.removeprefix("--test=")))
        elif word == "--lib":
            targets.append(("--lib",))
        elif word in ("--offline", "--quiet", "-q"):
            options.append(word)
        elif word.startswith("-"):
            raise CommandRejected(f"cargo test {word} is not allowed", _TODO)
        else:
            names.append(word)
    if len(targets) > 1 or len(names) > 1:
        raise CommandRejected("cargo test takes one target and one path before `--`", _TODO)
    target = targets[0] if targets else ()
    if len(target) == 2 and not _TARGET.fullmatch(target[1]):
        raise CommandRejected(f"{target[1]!r} is not the name of a test target", _TODO)
    return target, names, options


def _libtest_words(words: Sequence[str]) -> tuple[bool, list[str], list[str]]:
    """Whether ``--exact`` is there, test paths and options of what stands behind ``--``."""
    exact, names, options = False, [], []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--test-threads" and rest:
            word = f"--test-threads={rest.pop(0)}"
        if word == "--exact":
            exact = True
        elif word == "--nocapture" or re.fullmatch(r"--test-threads=[1-9]\d{0,3}", word):
            options.append(word)
        elif word.startswith("-"):
            raise CommandRejected(f"libtest's {word} is not allowed", _TODO)
        else:
            names.append(word)
    return exact, names, options


def _target_words(options: Sequence[str]) -> list[str]:
    if "--lib" in options:
        return ["--lib"]
    place = options.index("--test") if "--test" in options else -1
    return [] if place < 0 else ["--test", options[place + 1]]


def _selected(plan: Plan) -> tuple[str, ...]:
    return tuple(word for word in plan.argv[5].split(" ") if not word.startswith("--"))


def _bare(node: str) -> str:
    match = _IN_FILE.match(node)
    return match["path"] if match else node


def _shared(report: CargoReport) -> frozenset[str]:
    """Paths that two binaries have."""
    counts = Counter(name for binary in report.binaries for name in {test.name for test in binary.listed})
    return frozenset(name for name, count in counts.items() if count > 1)


def _id(
    name: str, binary: BinaryReport, report: CargoReport, sources: Sources, shared: frozenset[str]
) -> str:
    if name not in shared:
        return name
    return f"{sources.relative(report.sources.get(binary.path, binary.path))}::{name}"


def _nodes(binary: BinaryReport, sources: Sources) -> list[NodeResult]:
    """One result for each test that started; a second one for the same test is a problem, not a node."""
    results = {event.name: event for event in reversed(binary.events) if event.kind in _RESULTS}
    names = dict.fromkeys(event.name for event in binary.events if event.kind in (*_RESULTS, "test/started"))
    return [node_of(name, results.get(name), sources) for name in names]


def _complete(report: CargoReport) -> bool:
    """Whether the script and every binary that it started announced their end."""
    return report.end is not None and all(
        any(event.kind in ("suite/ok", "suite/failed") for event in binary.events)
        for binary in report.binaries
        if binary.started
    )


def _problems(binary: BinaryReport) -> list[str]:
    """What contradicts itself in one binary's report, if it came to its end."""
    kinds = Counter(event.kind for event in binary.events)
    ends = [event for event in binary.events if event.kind in ("suite/ok", "suite/failed")]
    if not binary.started or binary.status is None or not ends:
        return []
    problems = []
    if len(ends) > 1 or kinds["suite/started"] != 1:
        problems.append("the run of a test binary is reported more than once")
    if (ends[-1].kind == "suite/ok") is not (binary.status == 0):
        problems.append(f"the report says {ends[-1].kind} but the binary ended with {binary.status}")
    problems += _count_problems(binary, dict(ends[-1].counts))
    return problems + _log_problems(binary)


def _count_problems(binary: BinaryReport, counts: dict[str, int]) -> list[str]:
    problems = []
    started = Counter(event.name for event in binary.events if event.kind == "test/started")
    ended = Counter(event.name for event in binary.events if event.kind in _RESULTS)
    if started != ended or any(count > 1 for count in ended.values()):
        problems.append("tests that began and tests that ended are not the same")
    for kind, name in (("test/ok", "passed"), ("test/failed", "failed"), ("test/ignored", "ignored")):
        seen = sum(event.kind == kind for event in binary.events)
        if seen != counts.get(name, 0):
            problems.append(f"{seen} tests {name} but the summary says {counts.get(name, 0)}")
    expected = [
        dict(event.counts).get("test_count") for event in binary.events if event.kind == "suite/started"
    ]
    if expected[:1] != [sum(ended.values())]:
        problems.append(f"{sum(ended.values())} tests ran but {expected[:1]} were announced")
    return problems


def _log_problems(binary: BinaryReport) -> list[str]:
    """Results of the events against libtest's own log file."""
    if binary.log is None:
        return []
    logged = Counter((line.split(" ")[0].rstrip(":"), line.rsplit(" ", 1)[-1]) for line in binary.log if line)
    seen = Counter((_RESULTS[event.kind], event.name) for event in binary.events if event.kind in _RESULTS)
    different = [name for word, name in (seen - logged) + (logged - seen)]
    return [f"libtest's log and its report disagree about {name}" for name in sorted(set(different))]
