# SPDX-License-Identifier: Apache-2.0
"""Tests in files that did not change, but that use a changed helper, fixture or data file."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence

from redfirst.gate.check.nodes import RunnerOf, Touch, TouchedTest, difference, names_of
from redfirst.gate.check.python_text import Texts
from redfirst.runners.protocol import Runner

#: Files that are read, and tests that are run, at most because of one change to what they use.
FILES_READ = 400
_SHORT = 4


def reached_tests(
    paths: Iterable[str],
    helpers: Sequence[str],
    runner_of: RunnerOf,
    base: Texts,
    head: Texts,
) -> list[TouchedTest]:
    """Python tests of unchanged files whose helpers or fixtures differ between the sides."""
    names = _changed_names(helpers, base, head)
    if not names:
        return []
    found = []
    for path in list(paths)[:FILES_READ]:
        text = head.read(path)
        if text is None or not any(word.encode() in text for word in names):
            continue
        runner = runner_of(path, text)
        for node in (runner.declared_tests(path, text) if runner is not None else ()) or ():
            assert runner is not None
            own = names_of(runner, node)
            why = difference(base.rests_on(path, own), head.rests_on(path, own), None)
            if why:
                line = head.line(path, own)
                found.append(TouchedTest(node, runner.name, path, Touch.REACHED, why, line))
    return found


def _changed_names(helpers: Sequence[str], base: Texts, head: Texts) -> set[str]:
    """Words by which a file may use a changed helper: its module's name; for a conftest its changed names."""
    words: set[str] = set()
    for path in helpers:
        if posixpath.basename(path) != "conftest.py":
            words.add(
                posixpath.basename(posixpath.dirname(path) if path.endswith("__init__.py") else path[:-3])
            )
            continue
        before, after = base.module(path), head.module(path)
        for module in (before, after):
            for name in module.definitions if module is not None else ():
                words.add(name)
            if module is not None and module.implicit:
                words.add("test")
            words |= set(module.fixtures) if module is not None else set()
    return {word for word in words if word}


def tests_of_data(
    data: Sequence[str],
    paths: Sequence[str],
    read: Callable[[str], bytes | None],
    runner_of: RunnerOf,
    head: Texts,
) -> tuple[list[TouchedTest], list[str]]:
    """Tests that name a changed data file, else those beside it; and notes on which rule found them."""
    found: dict[str, TouchedTest] = {}
    notes = []
    for path in data:
        mine = _naming(path, paths[:FILES_READ], read, runner_of, head)
        if not mine:
            mine = _beside(path, paths, read, runner_of, head)
            if mine:
                notes.append(f"no test names {path}; the tests of {mine[0].file} stand for it")
        for test in mine:
            found.setdefault(test.node, test)
    return list(found.values()), notes


def _naming(
    path: str,
    paths: Sequence[str],
    read: Callable[[str], bytes | None],
    runner_of: RunnerOf,
    head: Texts,
) -> list[TouchedTest]:
    base = posixpath.basename(path)
    stem = base.partition(".")[0]
    words = [base, *([stem] if len(stem) > _SHORT else [])]
    found: list[TouchedTest] = []
    for file in paths:
        text = read(file)
        if text is None or not any(word.encode() in text for word in words):
            continue
        runner = runner_of(file, text)
        if runner is None:
            continue
        why = f"names {path}, which changed"
        every = _tests(file, text, runner, head, why)
        naming = [test for test in every if _names_it(head, file, names_of(runner, test.node), words)]
        found += naming or (every if base.encode() in text else [])
    return found


def _names_it(head: Texts, file: str, names: tuple[str, ...], words: Sequence[str]) -> bool:
    if not file.endswith(".py"):
        return False
    texts = [head.own(file, names) or "", *head.rests_on(file, names).values()]
    return any(word in text for word in words for text in texts)


def _beside(
    path: str,
    paths: Sequence[str],
    read: Callable[[str], bytes | None],
    runner_of: RunnerOf,
    head: Texts,
) -> list[TouchedTest]:
    """The tests of the first file of tests in the nearest folder around ``path`` that has one."""
    folder = posixpath.dirname(path)
    while folder:
        for file in sorted(item for item in paths if posixpath.dirname(item) == folder):
            text = read(file)
            runner = runner_of(file, text) if text is not None else None
            if text is not None and runner is not None:
                mine = _tests(file, text, runner, head, f"lies beside {path}, which changed")
                if mine:
                    return mine
        folder = posixpath.dirname(folder)
    return []


def _tests(file: str, text: bytes, runner: Runner, head: Texts, why: str) -> list[TouchedTest]:
    return [
        TouchedTest(
            node,
            runner.name,
            file,
            Touch.REACHED,
            why,
            head.line(file, names_of(runner, node)) if file.endswith(".py") else 0,
        )
        for node in runner.declared_tests(file, text) or ()
    ]
