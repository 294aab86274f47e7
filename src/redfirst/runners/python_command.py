# SPDX-License-Identifier: Apache-2.0
"""Which argv of pytest and unittest are allowed, and what they select."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from redfirst.core.errors import CommandRejected
from redfirst.runners.protocol import Command, Selection
from redfirst.runners.python_declared import base_name, class_bodies, parsed, split_id

PYTHON = re.compile(r"python(3(\.\d+)?)?\Z")
_PYTEST = ("pytest", "py.test")
_STYLES = ("auto", "long", "short", "line", "native", "no")
_COLORS = ("yes", "no", "auto")
_PYTEST_LONG = frozenset(
    ["--quiet", "--verbose", "--exitfirst", "--showlocals", "--no-header", "--no-summary", "--full-trace"]
)
_PYTEST_SHORT = re.compile(r"-[qvxsl]+\Z")
_SUMMARY = re.compile(r"-r[A-Za-z]+\Z")
_UNITTEST_FLAGS = frozenset(("-v", "-q", "-f", "-b", "--locals"))
DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z")
_IDS_ONLY = "name each test by its full id"


@dataclass(frozen=True, slots=True)
class Invocation:
    """One start of a Python test runner: how Python is named, its options, the runner's arguments."""

    program: str
    runner: str
    as_module: bool
    options: tuple[str, ...]
    arguments: tuple[str, ...]


def invocation(argv: tuple[str, ...]) -> Invocation | None:
    """How ``argv`` starts pytest or unittest; None if it does not.

    Raises CommandRejected for a Python option that may not be used beside ``-m pytest|unittest``.
    """
    if not argv:
        return None
    name = posixpath.basename(argv[0])
    if name in _PYTEST:
        return Invocation(argv[0], "pytest", False, (), argv[1:])
    if not PYTHON.match(name):
        return None
    for at, word in enumerate(argv[1:], start=1):
        if word == "-m" and argv[at + 1 : at + 2] and argv[at + 1] in ("pytest", "unittest"):
            options = interpreter_options(argv[1:at])
            return Invocation(argv[0], argv[at + 1], True, options, argv[at + 2 :])
        if word in ("-c", "-m") or (not word.startswith("-") and argv[at - 1] not in ("-X", "-W")):
            return None
    return None


def interpreter_options(words: tuple[str, ...]) -> tuple[str, ...]:
    """Python's own options as they may stand before a test runner. Raises CommandRejected."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-X", "-W") and rest:
            value = rest.pop(0)
        elif word[:2] in ("-X", "-W") and len(word) > 2:
            value = word[2:]
        else:
            raise CommandRejected(f"python option {word} is not allowed", "use -X dev or -W only")
        if word[:2] == "-X" and value != "dev":
            raise CommandRejected(f"python option -X {value} is not allowed", "use -X dev only")
    return words


def interpreter_path(selection: Selection) -> str | None:
    """The path by which the command names its interpreter (or pytest); None if it is a bare name."""
    program = selection.command.argv[0] if selection.command.argv else ""
    return program if "/" in program else None


def pytest_selection(command: Command, call: Invocation) -> Selection:
    """The selection of a pytest command. Raises CommandRejected."""
    rest, options, nodes = list(call.arguments), [], []
    while rest:
        word = rest.pop(0)
        taken = _pytest_option(word, rest)
        if taken:
            options += [word, *(rest.pop(0) for _ in range(taken - 1))]
        elif word.startswith("-"):
            raise CommandRejected(f"pytest option {word} is not allowed", _IDS_ONLY)
        else:
            nodes.append(_pytest_node(command.cd, word))
    files = [_file_of(command.cd, node) for node in nodes]
    return _selection("pytest", command, call, nodes, options, files)


def _pytest_option(word: str, rest: list[str]) -> int:
    """How many words an allowed option takes; 0 if it is none."""
    if word in _PYTEST_LONG or _PYTEST_SHORT.match(word) or _SUMMARY.match(word):
        return 1
    if word == "-W" and rest:
        return 2
    if word.startswith("-W") and len(word) > 2:
        return 1
    for name, values in (("--tb", _STYLES), ("--color", _COLORS)):
        if word.startswith(name + "=") and word.partition("=")[2] in values:
            return 1
        if word == name and rest and rest[0] in values:
            return 2
    return 0


def _pytest_node(cd: str, word: str) -> str:
    path, names = split_id(word)
    if not names:
        raise CommandRejected(f"{word} selects more than one test", _IDS_ONLY)
    if not all(names) or not path or path.startswith(("@", "-")):
        raise CommandRejected(f"{word} is not a test id", _IDS_ONLY)
    if posixpath.isabs(path) or _joined(cd, path).startswith("../"):
        raise CommandRejected(f"{word} lies outside the checkout", "give ids relative to the checkout")
    return word


def unittest_selection(command: Command, call: Invocation) -> Selection:
    """The selection of a unittest command. Raises CommandRejected."""
    options = [word for word in call.arguments if word in _UNITTEST_FLAGS]
    nodes = [word for word in call.arguments if word not in _UNITTEST_FLAGS]
    for word in nodes:
        if word.startswith("-"):
            raise CommandRejected(f"unittest option {word} is not allowed", _IDS_ONLY)
        if not DOTTED.match(word):
            raise CommandRejected(f"{word} is not a dotted test name", "write module.Class.method")
        if word.count(".") < 2:
            raise CommandRejected(f"{word} selects more than one test", "write module.Class.method")
    files = [_joined(command.cd, "/".join(node.split(".")[:-2]) + ".py") for node in nodes]
    return _selection("unittest", command, call, nodes, options, files)


def _selection(
    runner: str,
    command: Command,
    call: Invocation,
    nodes: list[str],
    options: list[str],
    files: Iterable[str],
) -> Selection:
    if not nodes:
        raise CommandRejected(f"the command names no test for {runner}", _IDS_ONLY)
    unique = tuple(dict.fromkeys(files))
    return Selection(runner, command, tuple(nodes), unique, tuple(options), call.options)


def _joined(cd: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(cd or ".", path))


def _file_of(cd: str, node: str) -> str:
    return _joined(cd, split_id(node)[0])


def wide_selectors(selection: Selection, read: Callable[[str], bytes | None]) -> list[str]:
    """Selectors that by the text of their files name a class, module or package, not one test.

    ``read`` gives the content of a checkout-relative file after the patches, or None.
    """
    if selection.runner == "pytest":
        return [node for node in selection.nodes if _names_class(selection.command.cd, node, read)]
    if selection.runner == "unittest":
        return [node for node in selection.nodes if is_wide_name(selection.command.cd, node, read)]
    return []


def _names_class(cd: str, node: str, read: Callable[[str], bytes | None]) -> bool:
    names = split_id(base_name(node))[1]
    return _is_class(read(_file_of(cd, node)), names)


def _is_class(text: bytes | None, names: tuple[str, ...]) -> bool:
    """Whether a chain of names leads to a class in the text of a module."""
    tree = parsed(text) if text is not None else None
    if tree is None:
        return False
    body: list[ast.stmt] = tree.body
    for name in names:
        found = class_bodies(body).get(name)
        if found is None:
            return False
        body = found.body
    return True


def is_wide_name(cd: str, node: str, read: Callable[[str], bytes | None]) -> bool:
    """Whether a dotted name, looked up from the folder ``cd``, is that of a class, module or package."""
    parts = node.split(".")
    for count in range(len(parts), 0, -1):
        stem = _joined(cd, "/".join(parts[:count]))
        text = read(stem + ".py")
        if text is None:
            text = read(stem + "/__init__.py")
        if text is not None:
            return count == len(parts) or _is_class(text, tuple(parts[count:]))
    return False
