# SPDX-License-Identifier: Apache-2.0
"""The patched tree as parsers and classification see it: whose file a path is, what it holds."""

from __future__ import annotations

import os
import posixpath
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from redfirst.core.evidence import Place
from redfirst.patches.policy import PathPolicy

_FOREIGN = ("node_modules", ".venv", "venv", ".tox", ".nox")


@dataclass(frozen=True)
class ProjectView:
    """Look-ups over Base with the applied changes; implements the runners' ``Project``.

    ``changed`` maps paths to their content after the patches (None: removed). Paths are relative to
    the tree, with forward slashes.
    """

    tree_dir: Path
    mount: str
    prefix: str | None
    policy: PathPolicy
    changed: Mapping[str, bytes | None] = field(default_factory=dict)
    editable_roots: tuple[str, ...] = ()
    layer: str | None = None

    def place(self, path: str) -> tuple[str, Place]:
        """Relative path and whose it is; files of the environment inside the tree are OUTSIDE."""
        if path.startswith("file://"):
            path = path.removeprefix("file://")
        whole = posixpath.normpath(path)
        relative = self.relative(whole)
        if relative is None or self._foreign(whole, relative):
            return path, Place.OUTSIDE
        return relative, Place.TEST if self.policy.is_test(relative) else Place.SOURCE

    def is_foreign(self, path: str) -> bool:
        """Whether an absolute path lies outside the workspace, or in an environment inside it."""
        whole = posixpath.normpath(path)
        relative = self.relative(whole)
        return relative is None or self._foreign(whole, relative)

    def is_shadow(self, name: str, path: str) -> bool:
        """Whether a module that source defines was imported from a test path that a patch brought."""
        relative = self.relative(posixpath.normpath(path))
        if relative is None or relative not in self.changed or not self.policy.is_test(relative):
            return False
        spelled = name.replace(".", "/")
        places = [
            _join(root, form)
            for root in self.import_roots
            for form in (f"{spelled}/__init__.py", f"{spelled}.py")
        ]
        return any(
            place != relative and self.exists(place) and not self.policy.is_test(place) for place in places
        )

    def without_changes(self) -> ProjectView:
        """The same project as Base has it."""
        return replace(self, changed={})

    def relative(self, path: str) -> str | None:
        """``path`` relative to the mount, or None where it lies elsewhere."""
        root = self.mount.rstrip("/") + "/"
        return path.removeprefix(root) if path.startswith(root) else None

    def _foreign(self, whole: str, relative: str) -> bool:
        if self.prefix and (whole + "/").startswith(self.prefix.rstrip("/") + "/"):
            return True
        return any(part in _FOREIGN for part in relative.split("/")[:-1])

    def read(self, path: str) -> bytes | None:
        """Content of a tracked regular file after the patches, None where there is none."""
        if path in self.changed:
            return self.changed[path]
        file = self.tree_dir / path
        if path.startswith(".git/") or posixpath.isabs(path) or ".." in path.split("/"):
            return None
        try:
            if file.is_symlink() or not file.is_file():
                return None
            return file.read_bytes()
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Whether the tree has a tracked file or link at ``path`` after the patches."""
        if path in self.changed:
            return self.changed[path] is not None
        return os.path.lexists(self.tree_dir / path) and not (self.tree_dir / path).is_dir()

    def owns_module(self, name: str) -> bool:
        """Whether the top-level module ``name`` lies on the project's import path."""
        return bool(name) and any(self._holds(root, name) for root in self.import_roots)

    def owns_package(self, name: str) -> bool:
        """As ``owns_module``, but only for a real module or a package with ``__init__.py``."""
        return bool(name) and any(
            self.exists(_join(root, f"{name}/__init__.py")) or self.exists(_join(root, f"{name}.py"))
            for root in self.import_roots
        )

    def _holds(self, root: str, name: str) -> bool:
        if self.exists(_join(root, f"{name}.py")):
            return True
        folder = _join(root, name) + "/"
        if any(path.startswith(folder) and content is not None for path, content in self.changed.items()):
            return True
        return _has_modules(self.tree_dir / folder)

    @cached_property
    def import_roots(self) -> tuple[str, ...]:
        """Folders from which tests import the project, relative; "" is the tree itself."""
        roots = ["", "src", "lib", *_configured_roots(self.read), "tests", "test"]
        roots += [root for path in self.editable_roots if (root := self._inside(path)) is not None]
        roots += [posixpath.dirname(path) for path in self.changed if self.policy.is_test(path)]
        return tuple(dict.fromkeys(roots))

    @property
    def source_roots(self) -> tuple[str, ...]:
        """Those of the import roots that are there and are not for tests; a runner adds them by itself."""
        roots = [root for root in ("src", *_configured_roots(self.read)) if (self.tree_dir / root).is_dir()]
        return tuple(dict.fromkeys(root for root in roots if root))

    def _inside(self, path: str) -> str | None:
        whole = posixpath.normpath(path)
        return "" if whole == self.mount.rstrip("/") else self.relative(whole)


def _join(root: str, name: str) -> str:
    return f"{root}/{name}" if root else name


def _has_modules(folder: Path, depth: int = 2) -> bool:
    """Whether a folder holds Python modules, itself or a few levels down (namespace packages)."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return False
    if any(entry.name.endswith((".py", ".so", ".pyx", ".pyd")) for entry in entries):
        return True
    folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    return depth > 0 and any(_has_modules(Path(entry.path), depth - 1) for entry in folders[:50])


def _configured_roots(read: object) -> list[str]:
    """``pythonpath`` of pytest's configuration in pyproject.toml, as relative folders."""
    assert callable(read)
    data = read("pyproject.toml")
    if not isinstance(data, bytes):
        return []
    try:
        value = tomllib.loads(data.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return []
    for key in ("tool", "pytest", "ini_options", "pythonpath"):
        value = value.get(key, {}) if isinstance(value, dict) else {}
    words: list[object] = list(
        value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    )
    paths = [posixpath.normpath(word) for word in words if isinstance(word, str)]
    return ["" if path == "." else path for path in paths if not path.startswith(("/", ".."))]
