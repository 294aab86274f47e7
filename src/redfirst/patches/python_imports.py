# SPDX-License-Identifier: Apache-2.0
"""Whether a Python file that looks like a test is imported by the project's own code, and so is source."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([^\n#]+))",
    re.MULTILINE,
)
_SKIPPED = frozenset(
    {".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", "build", "dist"}
)
_NOT_SOURCE = frozenset({"setup.py", "noxfile.py", "conftest.py", "tasks.py", "fabfile.py", "runtests.py"})
_LIMIT = 1 << 20


def imported_by_source(tree_dir: Path, path: str, is_test: Callable[[str], bool]) -> bool:
    """Whether a non-test file of Base imports the module at ``path`` or a package that holds it.

    By a scan of import statements; ``is_test`` tells by convention. Only a package with ``__init__.py``
    around the file can be imported so, or a module on the root or below ``src/``.
    """
    names = _module_names(path)
    if not names or not (tree_dir / path).is_file():
        return False
    wanted = _imports(tree_dir, is_test)
    return any(name in wanted for name in names)


def _module_names(path: str) -> tuple[str, ...]:
    """Dotted names under which the file could be imported from the root and from ``src/``."""
    parts = path.removesuffix(".pyi").removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        parts = parts[:-1]
    if not parts or parts[-1].startswith("test_") or parts[-1] == "conftest":
        return ()
    whole = [parts, *([parts[1:]] if parts[0] in ("src", "lib") else [])]
    return tuple(".".join(words) for words in whole if words)


@lru_cache(maxsize=16)
def _imports(tree_dir: Path, is_test: Callable[[str], bool]) -> frozenset[str]:
    """Every absolute module name that non-test files of the tree import."""
    found: set[str] = set()
    for folder, folders, names in os.walk(tree_dir):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        for name in names:
            if not name.endswith(".py") or name in _NOT_SOURCE:
                continue
            relative = os.path.relpath(os.path.join(folder, name), tree_dir)
            if is_test(relative):
                continue
            found |= _imports_of(Path(folder, name), relative)
    return frozenset(found)


def _imports_of(file: Path, relative: str) -> set[str]:
    try:
        with file.open("rb") as handle:
            text = handle.read(_LIMIT)
    except OSError:
        return set()
    if b"test" not in text and b"spec" not in text:
        return set()
    package = relative.removesuffix(".py").split("/")[:-1]
    package = package[1:] if package[:1] in (["src"], ["lib"]) else package
    found: set[str] = set()
    for match in _IMPORT.finditer(text):
        source, imported, plain = match.groups()
        if plain is not None:
            found |= {word.split(b" as ")[0].strip().decode("ascii", "replace") for word in plain.split(b",")}
            continue
        module = _absolute(source.decode("ascii", "replace"), package)
        names = re.findall(rb"[\w]+(?:[ \t]+as[ \t]+\w+)?", imported)
        found |= {f"{module}.{name.split()[0].decode('ascii', 'replace')}".strip(".") for name in names}
        found.add(module)
    return {whole for name in found for whole in _parents(name)}


def _parents(name: str) -> set[str]:
    """``a.b.c`` imports the packages ``a.b`` and ``a`` as well."""
    words = name.split(".")
    return {".".join(words[:length]) for length in range(1, len(words) + 1)}


def _absolute(name: str, package: list[str]) -> str:
    level = len(name) - len(name.lstrip("."))
    rest = name.lstrip(".")
    if not level:
        return rest
    base = package[: len(package) - level + 1]
    return ".".join([*base, rest] if rest else base)
