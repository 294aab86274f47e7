# SPDX-License-Identifier: Apache-2.0
"""Which argv of Django's test scripts are allowed, and what they select."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redfirst.core.errors import CommandRejected
from redfirst.runners.protocol import Command, Selection
from redfirst.runners.python_command import DOTTED, PYTHON, interpreter_options, is_wide_name

#: Django's own suite, and the script of every Django project.
OWN_SCRIPT, PROJECT_SCRIPT = "runtests.py", "manage.py"
SETTINGS_VARIABLE = "DJANGO_SETTINGS_MODULE"

_VALUED = {
    "--settings": re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z"),
    "--parallel": re.compile(r"1\Z"),
    "--verbosity": re.compile(r"[0-3]\Z"),
    "-v": re.compile(r"[0-3]\Z"),
}
_DEFAULT = re.compile(rb"DJANGO_SETTINGS_MODULE[\"'][\],]\s*=?\s*[\"']([\w.]+)[\"']")
_GLUED = re.compile(r"-v[0-3]\Z")
_IDS_ONLY = "name each test as app.module.Class.method"


@dataclass(frozen=True, slots=True)
class DjangoCall:
    """One start of a test script: Python's options, the script's path, its options, and the labels after them.

    ``options`` are in their order and without ``--parallel``.
    """

    interpreter_options: tuple[str, ...]
    script: str
    options: tuple[str, ...]
    labels: tuple[str, ...]


def django_call(argv: Sequence[str]) -> DjangoCall | None:
    """How ``argv`` starts a script of Django's tests; None if it does not. Raises CommandRejected."""
    if not argv or not PYTHON.match(posixpath.basename(argv[0])):
        return None
    at = _script_at(argv)
    if at is None:
        return None
    script, rest = argv[at], list(argv[at + 1 :])
    name = posixpath.basename(script)
    if name == PROJECT_SCRIPT:
        if rest[:1] != ["test"]:
            return None
        del rest[0]
    elif name != OWN_SCRIPT:
        return None
    options, labels = _split(rest)
    return DjangoCall(interpreter_options(tuple(argv[1:at])), script, tuple(options), tuple(labels))


def _script_at(argv: Sequence[str]) -> int | None:
    """Where the script stands: the first word that is neither an option of Python nor its value."""
    for at, word in enumerate(argv[1:], start=1):
        if word in ("-c", "-m"):
            return None
        if not word.startswith("-") and argv[at - 1] not in ("-X", "-W"):
            return at
    return None


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """(options, labels) of a script's arguments. Raises CommandRejected for an option that may not be used."""
    rest, options, labels = list(words), [], []
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            labels.append(word)
        elif _GLUED.match(word):
            options.append(word)
        elif name in _VALUED and (equals or rest):
            value = value if equals else rest.pop(0)
            if not _VALUED[name].match(value):
                raise CommandRejected(f"Django's {name} {value} is not allowed", _allowed(name))
            if name != "--parallel":
                options += [word] if equals else [word, value]
        else:
            raise CommandRejected(f"Django's option {word} is not allowed", _IDS_ONLY)
    return options, labels


def _allowed(name: str) -> str:
    ways = {
        "--settings": "name a module of settings",
        "--parallel": "tests run one after another: --parallel 1",
    }
    return ways.get(name, "use 0, 1, 2 or 3")


def django_selection(command: Command, call: DjangoCall) -> Selection:
    """The selection of a Django command. Raises CommandRejected."""
    if posixpath.isabs(call.script) or _joined(command.cd, call.script).startswith("../"):
        raise CommandRejected(f"{call.script} lies outside the checkout", "give its path relative to it")
    if not call.labels:
        raise CommandRejected("the command names no test for django", _IDS_ONLY)
    for label in call.labels:
        if not DOTTED.match(label):
            raise CommandRejected(f"{label} is not a dotted test name", _IDS_ONLY)
        if label.count(".") < 2:
            raise CommandRejected(f"{label} selects more than one test", _IDS_ONLY)
    files = label_files(command.cd, call.script, call.labels)
    return Selection("django", command, call.labels, files, call.options, call.interpreter_options)


def label_files(cd: str, script: str, labels: Sequence[str]) -> tuple[str, ...]:
    """The files in which tests of these labels lie, relative to the checkout."""
    folder = script_folder(cd, script)
    names = ("/".join(label.split(".")[:-2]) + ".py" for label in labels)
    return tuple(dict.fromkeys(_joined(folder, name) for name in names))


def script_folder(cd: str, script: str) -> str:
    """The folder of the script, relative to the checkout: labels and settings are looked up from there."""
    return posixpath.dirname(_joined(cd or ".", script)) or "."


def wide_labels(selection: Selection, read: Callable[[str], bytes | None]) -> list[str]:
    """Labels that by the text of their files name a class, module or package, not one test."""
    call = django_call(selection.command.argv)
    if call is None:
        return []
    folder = script_folder(selection.command.cd, call.script)
    return [label for label in selection.nodes if is_wide_name(folder, label, read)]


def ruling_files(selection: Selection, read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """Files that decide how the command's tests run: its script, and the settings that either of them names.

    A settings module may lie beside the script or at the top of the checkout, as module or package.
    """
    call = django_call(selection.command.argv)
    if call is None:
        return ()
    cd, folder = selection.command.cd or ".", script_folder(selection.command.cd, call.script)
    assigned = [value for name, value in selection.command.assignments if name == SETTINGS_VARIABLE]
    script = _joined(cd, call.script)
    default = [name.decode() for name in _DEFAULT.findall(read(script) or b"")]
    named = [*_named_settings(call.options), *assigned, *default]
    stems = [_joined(root, name.replace(".", "/")) for name in named for root in (folder, cd, ".")]
    files = (f"{stem}{ending}" for stem in stems for ending in (".py", "/__init__.py"))
    return tuple(dict.fromkeys((script, *files)))


def _named_settings(options: Sequence[str]) -> list[str]:
    found = [word.partition("=")[2] for word in options if word.startswith("--settings=")]
    return found + [value for word, value in itertools.pairwise(options) if word == "--settings"]


def _joined(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder or ".", path))
