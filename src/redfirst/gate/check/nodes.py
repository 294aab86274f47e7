# SPDX-License-Identifier: Apache-2.0
"""Which tests a change adds, alters, moves, deletes or reaches through what they use, by their text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from redfirst.gate.check.change import ChangeSet, Role
from redfirst.gate.check.compared import is_link
from redfirst.gate.check.plain_text import PlainText, read_plain
from redfirst.gate.check.python_text import Texts
from redfirst.patches.apply import TreeChange
from redfirst.runners.protocol import Runner
from redfirst.runners.python_declared import split_id

Read = Callable[[str], bytes | None]
RunnerOf = Callable[[str, bytes | None], Runner | None]
_DOTTED = ("unittest", "django")


class Touch(StrEnum):
    """What the change did to a test."""

    ADDED = "added"
    ALTERED = "altered"
    TABLE = "cases"  # only its table of cases changed
    REACHED = "reached"  # its own text is the same; a helper, fixture or data file that it uses changed
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class TouchedTest:
    """One test without its cases. ``line`` is 0 where it is not known; ``was``: the id it had on base, if moved."""

    node: str
    runner: str
    file: str
    touch: Touch
    why: str = ""
    line: int = 0
    was: str = ""


@dataclass(frozen=True, slots=True)
class Deleted:
    """A test of base that head does not have any more."""

    node: str
    file: str


@dataclass(frozen=True, slots=True)
class TestFile:
    """A changed file that holds tests on either side. ``former``: its path on base."""

    runner: Runner
    path: str
    former: str
    old: bytes | None
    new: bytes | None

    __test__ = False


@dataclass(frozen=True, slots=True)
class Touched:
    """What the texts show. ``files``: changed files with tests on head; ``unjudged``: (path, why) of the others."""

    tests: tuple[TouchedTest, ...]
    deleted: tuple[Deleted, ...]
    files: tuple[TestFile, ...]
    data: tuple[str, ...]
    unjudged: tuple[tuple[str, str], ...]


def names_of(runner: Runner, node: str) -> tuple[str, ...]:
    """The chain of names inside a file: class and function, or the title or path of other languages."""
    if runner.name == "pytest":
        return split_id(runner.base_of(node))[1]
    if runner.name in _DOTTED:
        return tuple(node.split(".")[-2:])
    return (node,)


def touched_by_text(changed: ChangeSet, runner_of: RunnerOf, base: Texts, head: Texts) -> Touched:
    """Compare the changed test files of both sides, test by test."""
    files, data, unjudged = _sorted_files(changed, runner_of)
    tests: list[TouchedTest] = []
    gone: list[tuple[Deleted, str]] = []
    for file in files:
        found, lost, fault = _of_file(file, base, head)
        tests += found
        gone += lost
        if fault:
            unjudged.append((file.path, fault))
    tests, deleted = _moved(tests, gone, head, {file.path: file for file in files})
    return Touched(
        tuple(tests),
        tuple(deleted),
        tuple(file for file in files if file.new is not None),
        tuple(data),
        tuple(unjudged),
    )


def _sorted_files(
    changed: ChangeSet, runner_of: RunnerOf
) -> tuple[list[TestFile], list[str], list[tuple[str, str]]]:
    """Changed test paths as files of tests, data and helpers, and files that nothing here can judge."""
    former = {change.renamed_from: change for change in changed.changes if change.renamed_from}
    old_texts = {change.path: change.old for change in changed.changes}
    files: list[TestFile] = []
    data: list[str] = []
    unjudged: list[tuple[str, str]] = []
    for change in changed.of(Role.TESTS):
        if is_link(change):
            unjudged.append((change.path, "it is a symbolic link"))
            continue
        if change.path in former and change.new is None:
            continue  # judged where it is now
        was = change.renamed_from or change.path
        old = old_texts.get(was) if change.renamed_from else change.old
        runner = runner_of(change.path, change.new if change.new is not None else old)
        if runner is not None:
            files.append(TestFile(runner, change.path, was, old, change.new))
        elif _is_foreign(change.path):
            unjudged.append((change.path, "no runner here runs its tests"))
        elif not change.path.endswith((".py", ".pyi")) and change.new is not None:
            data.append(change.path)
    return files, data, unjudged


def _is_foreign(path: str) -> bool:
    """Whether a file of tests is in a language that has no runner here."""
    suffixes = (".go", ".java", ".kt", ".rb", ".php", ".swift", ".cs", ".scala", ".ex", ".exs", ".dart")
    return path.endswith((*suffixes, ".jsx", ".tsx", ".cc", ".cpp", ".ts", ".rs", ".js", ".mjs", ".cjs"))


def _of_file(
    file: TestFile, base: Texts, head: Texts
) -> tuple[list[TouchedTest], list[tuple[Deleted, str]], str]:
    runner = file.runner
    after = runner.declared_tests(file.path, file.new) if file.new is not None else ()
    before = (runner.declared_tests(file.former, file.old) if file.old is not None else ()) or ()
    if after is None:
        return [], [], "it does not parse"
    sides = _Sides(file, base, head, before, after)
    known = {names_of(runner, node): node for node in before}
    kept = {names_of(runner, node) for node in after}
    found = [test for node in after if (test := sides.judged(node, known)) is not None]
    gone = [
        (Deleted(node, file.former), sides.signature(base, file.former, names))
        for names, node in known.items()
        if names not in kept
    ]
    return found, gone, ""


class _Sides:
    """One file of tests as both sides have it."""

    def __init__(
        self, file: TestFile, base: Texts, head: Texts, before: Sequence[str], after: Sequence[str]
    ) -> None:
        self._file, self._base, self._head = file, base, head
        self._python = file.path.endswith(".py")
        self._old = read_plain(file.old, [names_of(file.runner, node)[-1] for node in before])
        self._new = read_plain(file.new, [names_of(file.runner, node)[-1] for node in after])

    def judged(self, node: str, known: dict[tuple[str, ...], str]) -> TouchedTest | None:
        """What happened to one test of head; None where nothing did."""
        file, names = self._file, names_of(self._file.runner, node)
        line = self._head.line(file.path, names) if self._python else self._new.lines.get(names[-1], 0)
        made = TouchedTest(node, file.runner.name, file.path, Touch.ADDED, line=line)
        if names not in known:
            return made
        touch, why = self._python_touch(names) if self._python else self._plain_touch(names[-1])
        if touch is not None:
            return replace(made, touch=touch, why=why)
        moved = file.former != file.path
        return replace(made, touch=Touch.MOVED, was=known[names]) if moved else None

    def _python_touch(self, names: tuple[str, ...]) -> tuple[Touch | None, str]:
        file = self._file
        old, new = self._base.own(file.former, names), self._head.own(file.path, names)
        if old != new:
            bare = [
                texts.own(path, names, decorators=False)
                for texts, path in ((self._base, file.former), (self._head, file.path))
            ]
            table = bare[0] == bare[1] and "parametrize" in f"{old}{new}"
            return (Touch.TABLE if table else Touch.ALTERED), ""
        why = difference(self._base.rests_on(file.former, names), self._head.rests_on(file.path, names), file)
        return (Touch.REACHED, why) if why else (None, "")

    def _plain_touch(self, name: str) -> tuple[Touch | None, str]:
        if self._old.bodies.get(name) != self._new.bodies.get(name):
            return Touch.ALTERED, ""
        if self._old.head != self._new.head:
            return Touch.REACHED, "what stands before the tests of its file changed"
        return None, ""

    def signature(self, texts: Texts, path: str, names: tuple[str, ...]) -> str:
        """The text of a test without its own name, by which a renamed one is known."""
        own = texts.own(path, names) if self._python else self._plain(path).bodies.get(names[-1])
        return (own or "").replace(f"'{names[-1]}'", "''", 1) if own else ""

    def _plain(self, path: str) -> PlainText:
        return self._old if path == self._file.former else self._new


def difference(
    before: dict[tuple[str, str], str], after: dict[tuple[str, str], str], file: TestFile | None
) -> str:
    """Which of the things that a test rests on changed, in words; '' where none did."""

    def own(found: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
        paths = (file.path, file.former) if file else ()
        return {("" if path in paths else path, name): text for (path, name), text in found.items()}

    old, new = own(before), own(after)
    names = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if not names:
        return ""
    told = [f"{name} ({path})" if path else name for path, name in names[:3]]
    return f"uses {', '.join(told)}, which changed"


def _moved(
    tests: list[TouchedTest],
    gone: list[tuple[Deleted, str]],
    head: Texts,
    files: dict[str, TestFile],
) -> tuple[list[TouchedTest], list[Deleted]]:
    """Pair added tests with deleted ones of the same text; those moved, or were renamed."""
    waiting = [(deleted, text) for deleted, text in gone if text]
    deleted = [lost for lost, text in gone if not text]
    found = []
    for test in tests:
        if test.touch is Touch.ADDED and test.file.endswith(".py"):
            file = files[test.file]
            names = names_of(file.runner, test.node)
            text = (head.own(test.file, names) or "").replace(f"'{names[-1]}'", "''", 1)
            match = next((pair for pair in waiting if text and pair[1] == text), None)
            if match is not None:
                waiting.remove(match)
                test = replace(test, touch=Touch.MOVED, was=match[0].node)
        found.append(test)
    return found, [*deleted, *(lost for lost, _ in waiting)]


def helper_paths(changed: ChangeSet) -> tuple[str, ...]:
    """Changed Python test paths that other tests may use, as head has them and as base had them."""
    return tuple(change.path for change in changed.of(Role.TESTS) if change.path.endswith(".py"))


def bounded(tests: Iterable[TouchedTest], limit: int) -> tuple[tuple[TouchedTest, ...], int]:
    """At most ``limit`` tests that are only reached or moved; the number left out."""
    kept: list[TouchedTest] = []
    weak = left = 0
    for test in tests:
        if test.touch in (Touch.REACHED, Touch.MOVED):
            weak += 1
            if weak > limit:
                left += 1
                continue
        kept.append(test)
    return tuple(kept), left


def test_changes(changed: ChangeSet) -> tuple[TreeChange, ...]:
    """Changes of test paths."""
    return changed.of(Role.TESTS)
