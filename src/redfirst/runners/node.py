# SPDX-License-Identifier: Apache-2.0
"""JavaScript tests of Node's own runner, through a reporter in the process that starts the files."""

from __future__ import annotations

import base64
import json
import posixpath
import re
import secrets
from collections.abc import Sequence
from importlib import resources

from redfirst.core.environment import Environment
from redfirst.core.errors import CommandRejected
from redfirst.core.evidence import RunReport
from redfirst.runners.js_text import EXTENSIONS, SEPARATOR, declared_titles
from redfirst.runners.node_nodes import Reading
from redfirst.runners.node_report import read_report
from redfirst.runners.protocol import Command, Plan, Project, Selection
from redfirst.sandbox.protocol import Completed

_PATTERN = "--test-name-pattern"
_NOTHING = f"{_PATTERN}=(?!)"
_IN_FILE = re.compile(r"^(?P<file>[^:\s]+\.[cm]?[jt]s)::(?P<title>.+)$", re.DOTALL)
_META = frozenset(".*+?()[]{}|^$/-")
_TODO = "select each test by its title: node --test --test-name-pattern='^title$' FILE"


class NodeRunner:
    """The ``node --test`` adapter, for Node 18.19 and newer."""

    name = "node"

    def recognise(self, command: Command) -> Selection | None:
        """``node --test --test-name-pattern=^title$ [...] FILE``."""
        if command.argv[0] != "node":
            return None
        patterns, files = _words(command.argv[1:])
        if not patterns or not files:
            raise CommandRejected("node --test selects more than single tests", _TODO)
        titles = tuple(_literal(pattern) for pattern in patterns)
        paths = tuple(_inside(command.cd, file) for file in files)
        return Selection(self.name, command, titles, paths)

    def plan(
        self,
        selection: Selection,
        environment: Environment,  # noqa: ARG002 - the toolchain is on PATH
        *,
        seed: int,  # noqa: ARG002 - Node's runner keeps the order of the file
        shuffle: bool,  # noqa: ARG002
        patched: Sequence[str],
        collect_only: bool = False,
    ) -> Plan:
        """Node with our reporter beside its own, both given as text so that no file can be changed."""
        reporter, preload = _script("reporter.mjs"), _script("preload.mjs")
        _, files = _words(selection.command.argv[1:])
        patterns = [f"{_PATTERN}=^{_escaped(title)}$" for title in selection.nodes]
        destinations = (f"--test-reporter={reporter}", "--test-reporter-destination=stdout")
        human = ("--test-reporter=spec", "--test-reporter-destination=stdout")
        chosen = [_NOTHING] if collect_only else patterns
        key = secrets.token_hex(16).encode()
        known = {"patched": list(patched), "files": list(selection.files), "titles": list(selection.nodes)}
        return Plan(
            ("node", "--test", *chosen, *destinations, *human, *files),
            selection.command.cd,
            (("NODE_OPTIONS", f"--import={preload}"),),
            stdin=key + b"\n" + json.dumps(known).encode(),
            secret=key,
        )

    def parse(self, plan: Plan, completed: Completed, project: Project) -> RunReport:
        """Nodes from the signed stream; what contradicts it, the exit status included, is a problem."""
        known = json.loads(plan.stdin.partition(b"\n")[2])
        reading = Reading(
            read_report(completed.report, plan.secret), project, known["files"], known["titles"]
        )
        collecting = _NOTHING in plan.argv
        problems, tampering = reading.contradictions(completed.exit)
        return RunReport(
            nodes=reading.nodes(),
            selected=tuple(known["titles"]),
            deselected=reading.left_out(),
            available=reading.available(known["patched"]),
            collection_failures=reading.collection_failures(),
            complete=collecting or reading.complete(),
            problems=problems,
            tampering=tampering,
        )

    def declared_tests(self, path: str, text: bytes) -> tuple[str, ...] | None:
        """Full titles of the tests that a file plainly defines with ``node:test``."""
        if not path.endswith(EXTENSIONS) or b"node:test" not in text:
            return ()
        return declared_titles(text.decode("utf-8", "replace"))

    def matches(self, declared: str, node: str) -> bool:
        """Equal, or its innermost title; a file before the title must then be there in both."""
        if declared == node:
            return True
        match = _IN_FILE.match(node)
        title = match["title"] if match else node
        return declared == title or title.endswith(SEPARATOR + declared)

    def base_of(self, node: str) -> str:
        """The node itself: Node's tests have no cases."""
        return node

    def run_selection(self, nodes: Sequence[str]) -> Selection:
        """The named titles, in the named files or in those that Node finds by itself."""
        found = [(match["file"], match["title"]) if (match := _IN_FILE.match(n)) else ("", n) for n in nodes]
        files = tuple(dict.fromkeys(file for file, _ in found if file))
        titles = tuple(title.rpartition(SEPARATOR)[2] for _, title in found)
        patterns = [f"{_PATTERN}=^{_escaped(title)}$" for title in titles]
        return Selection(self.name, Command(".", (), ("node", "--test", *patterns, *files)), titles, files)


def _script(name: str) -> str:
    data = resources.files(__package__).joinpath(f"node_reporter/{name}").read_bytes()
    return f"data:text/javascript;base64,{base64.b64encode(data).decode()}"


def _words(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Patterns and files. Raises CommandRejected for any other word."""
    patterns: list[str] = []
    files: list[str] = []
    rest = list(argv)
    test = False
    while rest:
        word = rest.pop(0)
        if word == "--test":
            test = True
        elif word == _PATTERN and rest:
            patterns.append(rest.pop(0))
        elif word.startswith(f"{_PATTERN}="):
            patterns.append(word.removeprefix(f"{_PATTERN}="))
        elif word.startswith("-"):
            raise CommandRejected(f"node {word.partition('=')[0]} is not allowed", _TODO)
        else:
            files.append(word)
    if not test:
        raise CommandRejected("node is allowed as `node --test` only", _TODO)
    return patterns, files


def _literal(pattern: str) -> str:
    """The one title that an anchored pattern stands for."""
    if len(pattern) < 3 or not pattern.startswith("^") or not pattern.endswith("$"):
        raise CommandRejected(f"the pattern {pattern!r} is not anchored", _TODO)
    title: list[str] = []
    rest = iter(pattern[1:-1])
    for character in rest:
        if character == "\\":
            character = next(rest, "")
            if character not in _META | {"\\", '"', "'", " ", "`"}:
                raise CommandRejected(f"the pattern {pattern!r} matches more than one title", _TODO)
        elif character in _META - {".", "/", "-"}:
            raise CommandRejected(
                f"the pattern {pattern!r} matches more than one title", f"put a backslash before {character}"
            )
        title.append(character)
    if "".join(title) != "" and not pattern.endswith("\\$"):
        return "".join(title)
    raise CommandRejected(f"the pattern {pattern!r} is not anchored", _TODO)


def _escaped(title: str) -> str:
    return "".join(f"\\{character}" if character in "\\.*+?()[]{}|^$/" else character for character in title)


def _inside(cd: str, file: str) -> str:
    path = posixpath.normpath(posixpath.join(cd, file))
    if file.startswith("/") or path.split("/")[0] == "..":
        raise CommandRejected(f"{file} lies outside the checkout", "name a file of it by a relative path")
    if not path.endswith(EXTENSIONS) or set(file) & set("*?{}"):
        raise CommandRejected(f"{file} is not one file of tests", _TODO)
    return path
