# SPDX-License-Identifier: Apache-2.0
"""What a change touches: tests, source, documentation or configuration."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from redfirst.gate.check.compared import is_link
from redfirst.patches.apply import TreeChange
from redfirst.patches.configuration import is_configuration
from redfirst.patches.policy import PathPolicy
from redfirst.patches.rust_tests import changed_outside_tests, changed_test_lines, with_tests_of
from redfirst.runners.python_declared import parsed

_DOCUMENTS = re.compile(r".*\.(md|mdx|markdown|rst|adoc|asciidoc|texi|pot?)", re.IGNORECASE)
_NAMED = re.compile(
    r"(readme|changes|changelog|history|news|authors|contributors|contributing|licen[cs]e|copying|notice|todo"
    r"|code_of_conduct|security|codeowners|citation)(\.\w+)?",
    re.IGNORECASE,
)
_FOLDERS = frozenset({"doc", "docs", "documentation", "changelog.d", "newsfragments", "changes.d"})
_IN_DOCUMENTS = re.compile(
    r".*\.(txt|html?|css|png|jpe?g|gif|svg|webp|pdf|ico|drawio|csv|bib)", re.IGNORECASE
)
_SETTINGS = frozenset({".gitignore", ".editorconfig", ".mailmap", ".git-blame-ignore-revs", ".dockerignore"})
#: Configuration that may decide what a test says: of the runner, the build or the package.
_OF_RUNS = frozenset(
    {"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml"}
    | {"conftest.py", "package.json", "Cargo.toml", "unittest.cfg", ".coveragerc", ".mocharc.json"}
)
_DEPENDENCIES = re.compile(
    r"(?:.*/)?(?:pyproject\.toml|setup\.(?:py|cfg)|.*requirements.*\.(?:txt|in)|requirements/.*|.*\.lock"
    r"|Pipfile|Cargo\.toml|package(?:-lock)?\.json|environment\.ya?ml)"
)


class Role(StrEnum):
    """Whose side a changed path is on."""

    TESTS = "tests"
    SOURCE = "source"
    DOCUMENTATION = "documentation"
    CONFIGURATION = "configuration"
    SUBMODULES = "submodules"


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """All changed paths with their roles; a Rust file with inline tests may have two."""

    changes: tuple[TreeChange, ...]
    roles: tuple[tuple[str, Role], ...]

    def paths(self, role: Role) -> tuple[str, ...]:
        """The changed paths of one role, in Git's order."""
        return tuple(path for path, found in self.roles if found is role)

    def of(self, role: Role) -> tuple[TreeChange, ...]:
        """The changes of one role."""
        wanted = frozenset(self.paths(role))
        return tuple(change for change in self.changes if change.path in wanted)

    @property
    def behaves(self) -> bool:
        """Whether anything changed that can change what the program does."""
        return bool(self.paths(Role.SOURCE) or self.paths(Role.SUBMODULES))


def change_set(changes: Iterable[TreeChange], base: PathPolicy, head: PathPolicy) -> ChangeSet:
    """Give every changed path its roles: by head's policy where head has it, else by base's."""
    changes = tuple(changes)
    roles = [
        (change.path, role)
        for change in changes
        for role in _roles(change, (base if change.new_mode is None else head).is_test(change.path))
    ]
    return ChangeSet(changes, tuple(roles))


def _roles(change: TreeChange, is_test: bool) -> list[Role]:
    path = change.path
    if "160000" in (change.old_mode, change.new_mode):
        return [Role.SUBMODULES]
    if is_test:
        return [Role.TESTS]
    if is_configuration(path) or posixpath.basename(path) in _SETTINGS:
        return [Role.CONFIGURATION]
    if is_document(path) or _says_the_same(change):
        return [Role.DOCUMENTATION]
    if path.endswith(".rs") and changed_test_lines(change.old, change.new):
        outside = changed_outside_tests(change.old, change.new)
        return [Role.TESTS, *([Role.SOURCE] if outside else [])]
    return [Role.SOURCE]


def is_document(path: str) -> bool:
    """Whether a path documents the project, by its name and place."""
    *folders, name = path.split("/")
    if _NAMED.fullmatch(name) and not name.endswith(".py"):
        return True
    inside = any(folder.lower() in _FOLDERS for folder in folders)
    return bool(_DOCUMENTS.fullmatch(name)) or (inside and bool(_IN_DOCUMENTS.fullmatch(name)))


def _says_the_same(change: TreeChange) -> bool:
    """Whether Python text differs only in comments and layout."""
    if not change.path.endswith(".py") or change.old is None or change.new is None or is_link(change):
        return False
    before, after = parsed(change.old), parsed(change.new)
    return before is not None and after is not None and ast.dump(before) == ast.dump(after)


def laid_over_base(changed: ChangeSet) -> tuple[TreeChange, ...]:
    """Head's tests as changes of base: every test path, removals first, and the test modules of Rust files."""
    found = [_inline(c) if Role.SOURCE in _of(changed, c.path) else c for c in changed.of(Role.TESTS)]
    usable = [change for change in found if change is not None and not is_link(change)]
    return tuple(sorted(usable, key=lambda change: change.new is not None))


def _of(changed: ChangeSet, path: str) -> set[Role]:
    return {role for known, role in changed.roles if known == path}


def _inline(change: TreeChange) -> TreeChange | None:
    """Base's Rust source with head's test modules; None where the two cannot be told apart."""
    if change.old is None or change.new is None:
        return None
    text = with_tests_of(change.old.decode("utf-8", "replace"), change.new.decode("utf-8", "replace"))
    if text is None:
        return None
    return TreeChange(change.path, "M", change.old_mode, change.new_mode, change.old, text.encode())


def run_settings(changed: ChangeSet) -> tuple[TreeChange, ...]:
    """Changed files that configure how tests run, to be tried on base where its own do not fit."""
    return tuple(
        change
        for change in changed.of(Role.CONFIGURATION)
        if posixpath.basename(change.path) in _OF_RUNS and not is_link(change)
    )


def dependencies_changed(changed: ChangeSet) -> tuple[str, ...]:
    """Changed files from which an environment is built."""
    return tuple(path for path in changed.paths(Role.CONFIGURATION) if _DEPENDENCIES.fullmatch(path))
