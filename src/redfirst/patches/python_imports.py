# SPDX-License-Identifier: Apache-2.0
"""Which Python files that look like tests are imported by the project's own code, and so are source."""

from __future__ import annotations

import ast
import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

_SCHEMA = 1
_IMPORT = re.compile(
    rb"(?:^|[;:])[ \t]*(?:from[ \t]+(\.*[ \t]*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]*)|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
_SKIPPED = frozenset(
    {".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", "build", "dist"}
)
#: Scripts that start or set up tests are no source that tests are about.
_TOOLING = re.compile(
    r"setup\.py|noxfile\.py|conftest\.py|tasks\.py|fabfile\.py|(?:.*[-_])?(?:run|all)?[-_]?tests?(?:[-_]?(?:run|runner|all|suite))?\.py"
)
_MARKS = re.compile(rb"[tT]est|spec|e2e")
_LIMIT = 1 << 20


def imported_tests(tree_dir: Path, is_test: Callable[[str], bool], cache: Path | None) -> frozenset[str]:
    """Paths of files that are tests by convention but imported, directly or through each other, by source.

    ``is_test`` tells by convention. By a scan of import statements; names are looked up from the root, ``src``,
    ``lib`` and from wherever a package begins. Kept in the file ``cache``, which belongs to this very tree.
    """
    known = _read(cache)
    if known is None:
        known = _scan(tree_dir, is_test)
        _write(cache, known)
    return known


def _read(cache: Path | None) -> frozenset[str] | None:
    if cache is None:
        return None
    try:
        value = json.loads(cache.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if (
        not isinstance(value, dict)
        or value.get("schema") != _SCHEMA
        or not isinstance(value.get("paths"), list)
    ):
        return None
    return frozenset(path for path in value["paths"] if isinstance(path, str))


def _write(cache: Path | None, paths: frozenset[str]) -> None:
    """A store that cannot be written costs the next process a scan, no more."""
    if cache is None:
        return
    try:
        handle, draft = tempfile.mkstemp(prefix=".imports-", dir=cache.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"schema": _SCHEMA, "paths": sorted(paths)}, file)
        Path(draft).replace(cache)
    except (OSError, UnicodeEncodeError):
        return


def _scan(tree_dir: Path, is_test: Callable[[str], bool]) -> frozenset[str]:
    files = list(_python_files(tree_dir))
    tests = [path for path in files if is_test(path)]
    by_name: dict[str, set[str]] = {}
    packages = {path.removesuffix("/__init__.py") for path in files if path.endswith("/__init__.py")}
    for path in tests:
        for name in module_names(path, packages, is_test):
            by_name.setdefault(name, set()).add(path)
    if not by_name:
        return frozenset()
    hinted = set(tests)
    found: set[str] = set()
    waiting = [
        path for path in files if path not in hinted and not _TOOLING.fullmatch(path.rsplit("/", 1)[-1])
    ]
    while waiting:
        path = waiting.pop()
        for name in _imports_of(tree_dir, path, packages, by_name, sure=path in hinted):
            for reached in by_name.get(name, ()):
                if reached not in found:
                    found.add(reached)
                    waiting.append(reached)
    return frozenset(found)


def _python_files(tree_dir: Path) -> Iterator[str]:
    start = len(str(tree_dir)) + 1
    for folder, folders, names in os.walk(tree_dir):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        for name in names:
            if name.endswith((".py", ".pyi")):
                yield os.path.join(folder, name)[start:]


def module_names(path: str, packages: set[str], is_test: Callable[[str], bool]) -> set[str]:
    """Dotted names under which source can import a file; no test folder is on its import path."""
    parts = path.removesuffix(".pyi").removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        parts = parts[:-1]
    depth = len(path.split("/")) - 1
    while depth and "/".join(path.split("/")[:depth]) in packages:
        depth -= 1
    if is_test("/".join([*path.split("/")[:depth], "x.py"])):
        depth = 0
    starts = {0, depth, 1 if parts[:1] in (["src"], ["lib"]) else 0}
    return {".".join(parts[start:]) for start in starts if parts[start:]}


def _imports_of(
    tree_dir: Path, path: str, packages: set[str], by_name: dict[str, set[str]], *, sure: bool
) -> set[str]:
    """Names that the file imports, with the packages around them; a quick look first, then the syntax tree."""
    try:
        with (tree_dir / path).open("rb") as handle:
            text = handle.read(_LIMIT)
    except OSError:
        return set()
    if not sure and not _MARKS.search(text):
        return set()
    names = _with_parents(_by_words(text.replace(b"\\\n", b" "), path, packages))
    if not any(name in by_name for name in names):
        return set()
    tree = _parse(text)
    return names if tree is None else _with_parents(_by_tree(tree, path, packages))


def _by_words(text: bytes, path: str, packages: set[str]) -> Iterator[str]:
    for match in _IMPORT.finditer(text):
        source, imported, plain = (b"" if group is None else group for group in match.groups())
        if plain:
            yield from (
                word.split()[0].decode("ascii", "replace") for word in plain.split(b",") if word.split()
            )
            continue
        names = re.findall(rb"\w+(?=[ \t]*(?:,|\)|\n|$|[ \t]as\b|#))", imported)
        dotted = source.replace(b" ", b"").replace(b"\t", b"").decode("ascii", "replace")
        yield from _from(dotted, [name.decode("ascii", "replace") for name in names], path, packages)


def _by_tree(tree: ast.Module, path: str, packages: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            dotted = "." * node.level + (node.module or "")
            yield from _from(dotted, [alias.name for alias in node.names], path, packages)


def _from(dotted: str, names: Iterable[str], path: str, packages: set[str]) -> Iterator[str]:
    """Absolute names of ``from dotted import names`` in the file ``path``."""
    names = list(names)
    level = len(dotted) - len(dotted.lstrip("."))
    rest = dotted.lstrip(".")
    if not level:
        bases = {rest}
    else:
        folder = path.split("/")[:-1]
        around = "/".join([*folder[: len(folder) - level + 1], *([rest.replace(".", "/")] if rest else [])])
        bases = module_names(f"{around}/__init__.py", packages, lambda _: False) if around else set()
    for base in bases:
        yield base
        yield from (f"{base}.{name}" for name in names)


def _with_parents(names: Iterable[str]) -> set[str]:
    """``a.b.c`` imports the packages ``a.b`` and ``a`` as well."""
    found: set[str] = set()
    for name in names:
        words = name.split(".")
        found |= {".".join(words[:length]) for length in range(1, len(words) + 1)}
    return found


def _parse(text: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
