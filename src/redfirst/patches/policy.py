# SPDX-License-Identifier: Apache-2.0
"""Which paths a patch may touch: test paths for a test patch, the rest for a source patch."""

from __future__ import annotations

import fnmatch
import posixpath
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from redfirst.patches.apply import TreeChange
from redfirst.patches.base import PreparedBase
from redfirst.patches.configuration import is_compiled, is_configuration
from redfirst.patches.existing import existing_faults
from redfirst.patches.names import case_faults, link_faults, shape_faults
from redfirst.patches.parse import Patch, PatchedFile
from redfirst.patches.python_imports import imported_tests
from redfirst.patches.rust_tests import changed_outside_tests, changed_test_lines, declared_for_tests

_TEST_FOLDERS = frozenset({"tests", "test", "Tests", "__tests__", "spec", "testdata", "__snapshots__", "e2e"})
_TEST_NAMES = tuple(
    re.compile(pattern)
    for pattern in (
        r"test_.*\.pyi?",
        r".*_test\.py",
        r"tests\.py",
        r"conftest\.py",
        r".*_test\.(go|cc|cpp|c|rb|exs|dart)",
        r"(test_.*|.*_spec)\.rb",
        r".*(Test|Tests|[a-z0-9]IT|TestCase|Spec)\.(java|kt|scala|groovy)",
        r"Test([A-Z0-9_].*)?\.java",
        r".*\.(test|spec)\.(js|jsx|ts|tsx|mjs|cjs|mts|cts)",
        r".*Tests?\.(cs|php|swift)",
    )
)
_RUNNERS = frozenset({"pytest", "_pytest", "pluggy", "unittest"})
_LINKS = ("120000", "160000")


@dataclass(frozen=True)
class PathPolicy:
    """Tells tests from source in one Base.

    ``globs``: the project's own ``[tool.redfirst] test-paths``. ``cache``: a file for what the scan of imports
    finds, or None.
    """

    tree_dir: Path
    globs: tuple[str, ...] = ()
    cache: Path | None = None
    _known: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    def is_test(self, path: str) -> bool:
        """Whether ``path`` is a test path: by the project's own words, else by convention."""
        if path not in self._known:
            self._known[path] = self._judge(path)
        return self._known[path]

    def is_configuration(self, path: str) -> bool:
        """Whether it configures anything; a ``conftest.py`` that lies among source counts."""
        if is_configuration(path):
            return True
        folder, _, name = path.rpartition("/")
        return name == "conftest.py" and not (
            self._named(path) or _in_test_folder(path) or self._has_tests(folder)
        )

    def hides(self, path: str, beside: Sequence[str] = ()) -> str:
        """The source module or runner in whose place a new file among tests would be imported, or ''.

        pytest puts the first folder around a test file that has no ``__init__.py`` on the import path. ``beside``:
        what else is new.
        """
        if not path.endswith(".py") or not _in_test_folder(path) or (self.tree_dir / path).exists():
            return ""
        parts = path.split("/")
        depth = len(parts) - 1
        while depth and self._is_package("/".join(parts[:depth]), beside):
            depth -= 1
        name = parts[depth].removesuffix(".py")
        if not depth or name == "__init__" or not self._is_on_path("/".join(parts[:depth]), path, beside):
            return ""
        if name in _RUNNERS:
            return name
        roots = (self.tree_dir, self.tree_dir / "src", self.tree_dir / "lib")
        return name if any(_is_module(root, name) for root in roots) else ""

    def _is_on_path(self, folder: str, path: str, beside: Sequence[str]) -> bool:
        """Whether test files lie in this very folder."""
        new = [other for other in beside if other != path and other.rpartition("/")[0] == folder]
        return self._has_tests(folder) or any(_is_named_as_test(other.rpartition("/")[2]) for other in new)

    def _is_package(self, folder: str, beside: Sequence[str]) -> bool:
        return f"{folder}/__init__.py" in beside or (self.tree_dir / folder / "__init__.py").is_file()

    def _judge(self, path: str) -> bool:
        if self._named(path):
            return True
        if path.endswith(".rs") and declared_for_tests(path, self._read):
            return True
        if not by_convention(path):
            return False
        return not (path.endswith((".py", ".pyi")) and self._is_source(path))

    def _is_source(self, path: str) -> bool:
        """Imported by source, or a new helper in a package that is."""
        if path in self._imported:
            return True
        folder, _, name = path.rpartition("/")
        if f"{folder}/__init__.py" not in self._imported or (self.tree_dir / path).exists():
            return False
        return not _is_named_as_test(name)

    @cached_property
    def _imported(self) -> frozenset[str]:
        return imported_tests(self.tree_dir, by_convention, self.cache)

    def _named(self, path: str) -> bool:
        return any(_glob(path, glob) for glob in self.globs)

    def _has_tests(self, folder: str) -> bool:
        """Whether files of a folder below the root are named as tests."""
        place = self.tree_dir / folder
        if not folder or not place.is_dir():
            return False
        return any(entry.name != "conftest.py" and _is_named_as_test(entry.name) for entry in place.iterdir())

    def _read(self, path: str) -> bytes | None:
        try:
            return (self.tree_dir / path).read_bytes()
        except OSError:
            return None


def policy_for(base: PreparedBase) -> PathPolicy:
    """The policy of one Base, with the settings that Base itself holds."""
    return PathPolicy(base.tree_dir, _configured(base.tree_dir), base.index.parent / "imported-tests.json")


def by_convention(path: str) -> bool:
    """Whether names alone say that this is a test or lies among tests."""
    return _in_test_folder(path) or _is_named_as_test(path.rsplit("/", 1)[-1])


def _is_named_as_test(name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in _TEST_NAMES)


def _in_test_folder(path: str) -> bool:
    return any(folder in _TEST_FOLDERS for folder in path.split("/")[:-1])


def judge_test_paths(patch: Patch, policy: PathPolicy) -> list[str]:
    """Faults of a test patch that paths, modes and names show, before it is applied."""
    faults = [fault for file in patch.files for fault in _file_faults(file)]
    if faults:
        return faults
    paths = patch.paths
    faults = [fault for path in paths for fault in _test_path_faults(path, policy, paths)]
    return [*faults, *link_faults(paths, policy.tree_dir), *case_faults(paths, policy.tree_dir)]


def judge_source_patch(patch: Patch, changes: Sequence[TreeChange], policy: PathPolicy) -> list[str]:
    """Faults of a source patch: it may touch anything but tests and configuration."""
    paths = tuple(dict.fromkeys((*patch.paths, *(change.path for change in changes))))
    faults = [fault for path in paths for fault in shape_faults(path)]
    if faults:
        return faults
    for path in paths:
        if policy.is_configuration(path):
            faults.append(f"{path} configures the build or the tests; a source patch may not touch it")
        elif policy.is_test(path):
            faults.append(f"{path} is a test path; a source patch may not touch it")
        elif is_compiled(path):
            faults.append(f"{path} is compiled; a source patch holds source")
    for change in changes:
        if change.new_mode in _LINKS or change.old_mode == "160000":
            faults.append(f"{change.path} is a link or a submodule")
        elif change.status == "A" and _hides_standard(change.path):
            faults.append(f"{change.path} would be imported in place of a standard module")
        elif change.path.endswith(".rs") and changed_test_lines(change.old, change.new):
            faults.append(
                f"{change.path} has lines in #[cfg(test)] changed; a source patch may not touch tests"
            )
    return [*faults, *link_faults(paths, policy.tree_dir), *case_faults(paths, policy.tree_dir)]


def _hides_standard(path: str) -> bool:
    """Whether a new file would lie before the standard library on the import path."""
    parts = path.removeprefix("src/").split("/")
    return path.endswith(".py") and parts[0].removesuffix(".py") in sys.stdlib_module_names


def judge_test_changes(changes: Sequence[TreeChange], policy: PathPolicy) -> list[str]:
    """Faults that only the applied test patch shows: what it changed in fact, what it does to existing tests, hooks."""
    texts = {change.path: change.new for change in changes}
    faults = []
    for change in changes:
        modes = (change.old_mode, change.new_mode)
        shape = shape_faults(change.path) or _test_path_faults(change.path, policy, tuple(texts))
        if shape:
            faults += shape
        elif any(mode in _LINKS for mode in modes):
            faults.append(f"{change.path} is a link or a submodule")
        elif change.new_mode == "100755" != change.old_mode:
            faults.append(f"{change.path} becomes executable")
        elif _leaves_source_changed(change, texts, policy):
            faults.append(f"{change.path} is changed outside #[cfg(test)]")
        else:
            faults += existing_faults(change)
    return faults


def _leaves_source_changed(change: TreeChange, texts: Mapping[str, bytes | None], policy: PathPolicy) -> bool:
    if not change.path.endswith(".rs") or policy.is_test(change.path):
        return False
    if declared_for_tests(change.path, texts.get):
        return False
    return changed_outside_tests(change.old, change.new)


def _file_faults(file: PatchedFile) -> list[str]:
    faults = [fault for path in file.paths for fault in shape_faults(path)]
    name = file.new_path or file.old_path or ""
    modes = (file.old_mode, file.new_mode)
    if "120000" in modes:
        faults.append(f"{name} is a symbolic link")
    if "160000" in modes:
        faults.append(f"{name} is a submodule")
    if file.new_mode == "100755" and file.old_mode != "100755":
        faults.append(f"{name} becomes executable")
    elif file.old_mode and file.new_mode and file.old_mode != file.new_mode:
        faults.append(f"{name} changes its mode")
    return faults


def _test_path_faults(path: str, policy: PathPolicy, beside: Sequence[str]) -> list[str]:
    if policy.is_configuration(path):
        return [f"{path} configures the build or the tests"]
    if is_compiled(path):
        return [f"{path} is compiled; a test patch holds source and data"]
    if not (policy.is_test(path) or path.endswith(".rs")):
        return [f"{path} is no test file"]
    hidden = policy.hides(path, beside)
    return [f"{path} would be imported in place of {hidden}"] if hidden else []


def _is_module(root: Path, name: str) -> bool:
    return (root / f"{name}.py").is_file() or (root / name / "__init__.py").is_file()


def _configured(tree_dir: Path) -> tuple[str, ...]:
    for name, keys in (("redfirst.toml", ()), ("pyproject.toml", ("tool", "redfirst"))):
        try:
            value: object = tomllib.loads((tree_dir / name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue
        for key in (*keys, "test-paths"):
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, list):
            return tuple(posixpath.normpath(item) for item in value if isinstance(item, str))
    return ()


def _glob(path: str, glob: str) -> bool:
    """``testing/`` and ``testing`` mean all below; ``*`` crosses folders as in ``fnmatch``."""
    bare = glob.removesuffix("/**")
    if bare == ".":
        return False
    return path == bare or path.startswith(bare + "/") or fnmatch.fnmatchcase(path, glob)
