# SPDX-License-Identifier: Apache-2.0
"""Which paths a patch may touch: test paths for a test patch, the rest for a source patch."""

from __future__ import annotations

import fnmatch
import posixpath
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from redfirst.patches.apply import TreeChange
from redfirst.patches.base import PreparedBase
from redfirst.patches.parse import Patch, PatchedFile
from redfirst.patches.python_imports import imported_by_source
from redfirst.patches.rust_tests import changed_outside_tests, changed_test_lines

_TEST_FOLDERS = frozenset({"tests", "test", "__tests__", "spec", "specs", "testdata", "__snapshots__", "e2e"})
_TEST_NAMES = tuple(
    re.compile(pattern)
    for pattern in (
        r"test_.*\.pyi?",
        r".*_test\.py",
        r"tests?\.py",
        r"conftest\.py",
        r".*_test\.(go|cc|cpp|c|rb|exs|dart)",
        r"(test_.*|.*_spec)\.rb",
        r".*(Test|Tests|IT|TestCase)\.(java|kt|scala|groovy)",
        r"Test.*\.java",
        r".*\.(test|spec)\.(js|jsx|ts|tsx|mjs|cjs|mts|cts)",
        r".*Tests?\.(cs|php|swift)",
    )
)
_CONFIG_NAMES = frozenset(
    {
        "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml", "setup.cfg", "setup.py",
        "pyproject.toml", "redfirst.toml", "noxfile.py", "sitecustomize.py", "usercustomize.py", "MANIFEST.in",
        "Pipfile", "Pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock", "environment.yml", "pixi.toml",
        ".coveragerc", "hatch.toml", "package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", ".npmrc",
        "tsconfig.json", ".mocharc.js", ".mocharc.json", ".mocharc.yml", ".mocharc.yaml", ".mocharc.cjs",
        "Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml", "go.mod", "go.sum",
        "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties",
        "CMakeLists.txt", "Makefile", "makefile", "GNUmakefile", "meson.build", "Dockerfile", "Jenkinsfile",
        ".gitattributes", ".gitmodules", ".gitignore", ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml",
        "appveyor.yml", ".appveyor.yml", "bitbucket-pipelines.yml", ".pre-commit-config.yaml", "codecov.yml",
    }
)  # fmt: skip
_CONFIG_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r".*\.pth",
        r"requirements.*\.(txt|in)",
        r".*[-_]requirements\.(txt|in)",
        r"(jest|vitest|vite|karma|babel|webpack|rollup|playwright|cypress)\.config\.[cm]?[jt]s(on)?",
        r"(sitecustomize|usercustomize)(\..*)?",
    )
)
_CONFIG_FOLDERS = frozenset(
    {".github", ".gitlab", ".circleci", ".buildkite", ".cargo", ".husky", ".config", ".woodpecker"}
)


@dataclass(frozen=True)
class PathPolicy:
    """Tells tests from source in one Base. ``globs``: the project's own ``[tool.redfirst] test-paths``."""

    tree_dir: Path
    globs: tuple[str, ...] = ()
    _known: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    def is_test(self, path: str) -> bool:
        """Whether ``path`` is a test path: by the project's own words, else by convention."""
        if path not in self._known:
            self._known[path] = self._judge(path)
        return self._known[path]

    def _judge(self, path: str) -> bool:
        if any(_glob(path, glob) for glob in self.globs):
            return True
        if not by_convention(path):
            return False
        return not (path.endswith((".py", ".pyi")) and imported_by_source(self.tree_dir, path, by_convention))


def policy_for(base: PreparedBase) -> PathPolicy:
    """The policy of one Base, with the settings that Base itself holds."""
    return PathPolicy(base.tree_dir, _configured(base.tree_dir))


def by_convention(path: str) -> bool:
    """Whether names alone say that this is a test or lies among tests."""
    *folders, name = path.split("/")
    if any(folder in _TEST_FOLDERS for folder in folders):
        return True
    if any(folders[at : at + 2] == ["src", "test"] for at in range(len(folders))):
        return True
    return any(pattern.fullmatch(name) for pattern in _TEST_NAMES)


def is_configuration(path: str) -> bool:
    """Whether a path configures Git, CI, the build, packaging or a test runner."""
    *folders, name = path.split("/")
    if ".git" in [part.lower() for part in path.split("/")]:
        return True
    if any(folder in _CONFIG_FOLDERS for folder in folders):
        return True
    if name in _CONFIG_NAMES or any(pattern.fullmatch(name) for pattern in _CONFIG_PATTERNS):
        return True
    return path == "conftest.py"


def judge_test_paths(patch: Patch, policy: PathPolicy) -> list[str]:
    """Faults of a test patch that paths, modes and names show, before it is applied."""
    faults = [fault for file in patch.files for fault in _file_faults(file)]
    if faults:
        return faults
    faults = [fault for path in patch.paths for fault in _test_path_faults(path, policy)]
    return [*faults, *_case_faults(patch.paths, policy.tree_dir)]


def judge_source_patch(patch: Patch, changes: Sequence[TreeChange], policy: PathPolicy) -> list[str]:
    """Faults of a source patch: it may touch anything but tests and configuration."""
    faults = [fault for path in patch.paths for fault in _shape_faults(path)]
    for path in dict.fromkeys((*patch.paths, *(change.path for change in changes))):
        if is_configuration(path):
            faults.append(f"{path} configures the build or the tests; a source patch may not touch it")
        elif policy.is_test(path):
            faults.append(f"{path} is a test path; a source patch may not touch it")
    for change in changes:
        if change.new_mode in ("120000", "160000") or change.old_mode == "160000":
            faults.append(f"{change.path} is a link or a submodule")
        elif change.path.endswith(".rs") and changed_test_lines(change.old, change.new):
            faults.append(
                f"{change.path} has lines in #[cfg(test)] changed; a source patch may not touch tests"
            )
    return faults


def judge_test_changes(changes: Sequence[TreeChange], policy: PathPolicy) -> list[str]:
    """Faults that only the applied test patch shows: what it does to existing tests, new hooks."""
    from redfirst.patches.existing import existing_faults

    faults = []
    for change in changes:
        if change.new_mode in ("120000", "160000", "100755") and change.new_mode != change.old_mode:
            faults.append(f"{change.path} becomes a link, a submodule or executable")
        elif change.path.endswith(".rs") and not policy.is_test(change.path):
            if changed_outside_tests(change.old, change.new):
                faults.append(f"{change.path} is changed outside #[cfg(test)]")
            else:
                faults += existing_faults(change)
        else:
            faults += existing_faults(change)
    return faults


def _file_faults(file: PatchedFile) -> list[str]:
    faults = [fault for path in file.paths for fault in _shape_faults(path)]
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


def _shape_faults(path: str) -> list[str]:
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return [f"{path} is absolute"]
    parts = path.split("/")
    if ".." in parts:
        return [f"{path} leads upwards"]
    if "" in parts or "." in parts or "\\" in path or any(ord(letter) < 32 for letter in path):
        return [f"{path!r} is no plain path"]
    if any(part.lower().rstrip(". ") in (".git", "git~1") for part in parts):
        return [f"{path} lies in Git's folder"]
    return []


def _test_path_faults(path: str, policy: PathPolicy) -> list[str]:
    if is_configuration(path):
        return [f"{path} configures the build or the tests"]
    if policy.is_test(path) or path.endswith(".rs"):
        return []
    return [f"{path} is no test file"]


def _case_faults(paths: Sequence[str], tree_dir: Path) -> list[str]:
    faults = []
    lowered: dict[str, str] = {}
    for path in paths:
        twin = lowered.setdefault(path.casefold(), path)
        if twin != path:
            faults.append(f"{path} and {twin} differ only in case")
        known = _spelling(tree_dir, path)
        if known and known != path:
            faults.append(f"{path} differs only in case from {known}")
    return faults


def _spelling(tree_dir: Path, path: str) -> str:
    """How Base spells as much of ``path`` as it has, or '' where it has none of it in another case."""
    spelled: list[str] = []
    for part in path.split("/"):
        folder = tree_dir.joinpath(*spelled)
        names = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
        if part in names:
            spelled.append(part)
            continue
        twin = next((name for name in sorted(names) if name.casefold() == part.casefold()), None)
        if twin is None:
            return ""
        return "/".join([*spelled, twin, *path.split("/")[len(spelled) + 1 :]])
    return path


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
    bare = glob.rstrip("/").removesuffix("/**")
    return path == bare or path.startswith(bare + "/") or fnmatch.fnmatchcase(path, glob)
