# SPDX-License-Identifier: Apache-2.0
"""What a checkout's own files say about how its tests run, read without running any of them."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redfirst.environments.django_scripts import OWN_SUITE, django_script, python_runner
from redfirst.environments.legacy import Metadata, read_setup_cfg, read_setup_py
from redfirst.environments.sessions import Sessions, read_sessions

TEST_GROUPS = ("test", "tests", "testing")
BUILD_GROUPS = (*TEST_GROUPS, "dev")

_SKIPPED = {".git", ".hg", "node_modules", "__pycache__", "target", "build", "dist", ".venv", "venv", ".tox"}
_TEST_FILE = re.compile(r"(test_.*|.*_test|conftest)\.py")
_PYTEST_STYLE = re.compile(rb"^(?:import pytest|from pytest|(?:async )?def test_)", re.MULTILINE)
_REQUIREMENT_FILE = re.compile(
    r"(requirements[-_.]?(tests?|testing|dev|ci)|(tests?|testing|dev)[-_.]requirements)\.txt", re.IGNORECASE
)
_SCANNED_FILES = 400
_READ_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Project:
    """Static facts about the tree of one checkout.

    ``dependencies`` are requirement texts that must be there; ``test_dependencies`` those of test extras and
    groups; ``group_dependencies`` those of test and development groups or, where nothing else is declared, those
    of tox, nox and hatch; ``hints`` those of requirements files and of these. ``installable``: pip can install
    it. ``generates``: installing it compiles or writes files in the tree. ``importable``: tests can import it
    from the tree without an installation. ``python``: the interpreter that ``[tool.redfirst]`` names.
    ``django_script``: what starts Django's tests, '' if nothing does. ``members``: the packages of a checkout that
    holds several, as pip takes them.
    """

    name: str = ""
    version: str = ""
    requires_python: str = ""
    dependencies: tuple[str, ...] = ()
    test_dependencies: tuple[str, ...] = ()
    group_dependencies: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    requirement_files: tuple[str, ...] = ()
    uses_pytest: bool = False
    source_folder: bool = False
    importable: bool = False
    installable: bool = False
    generates: bool = False
    scm_version: bool = False
    languages: tuple[str, ...] = ()
    python: str = ""
    tools: tuple[str, ...] = ()
    django_script: str = ""
    members: tuple[str, ...] = ()

    @property
    def runner(self) -> str:
        """The runner of its Python tests, as far as its files show it."""
        return python_runner(self.django_script, uses_pytest=self.uses_pytest)


def normalise(name: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def from_record(record: dict[str, Any]) -> Project:
    """The facts as ``dataclasses.asdict`` and JSON left them."""
    fields: dict[str, Any] = {}
    for key, value in record.items():
        fields[key] = tuple(value) if isinstance(value, list) else value
    return Project(**fields)


def read_package(tree: Path) -> Project:
    """The facts that lie at the top of ``tree``; files that cannot be read count as absent."""
    pyproject = _toml(tree / "pyproject.toml")
    legacy = _merged_legacy(tree)
    table = _table(pyproject, "project")
    poetry = _table(pyproject, "tool", "poetry")
    poetry_needs, poetry_python = _poetry_needs(_table(poetry, "dependencies"))
    extras = {**legacy.extras, **_lists(_table(table, "optional-dependencies"))}
    groups = _groups(pyproject, poetry)
    pytest_settings = _table(pyproject, "tool", "pytest", "ini_options")
    pythonpath = _pythonpath(tree, pytest_settings)
    source_folder = _has_modules(tree / "src")
    uses_pytest, has_python = _scan(tree)
    chosen = tuple(name for name in extras if normalise(name) in BUILD_GROUPS)
    files, grouped = _requirement_files(tree), _chosen({}, groups, BUILD_GROUPS)
    declared = chosen or grouped or set(files) - {"requirements.txt"}
    sessions = Sessions() if declared else read_sessions(tree)
    script = django_script(tree)
    uses_pytest = uses_pytest or bool(pytest_settings) or _pytest_configured(tree) or sessions.pytest
    return Project(
        name=str(table.get("name") or poetry.get("name") or legacy.name),
        version=str(table.get("version") or poetry.get("version") or legacy.version),
        requires_python=str(table.get("requires-python") or poetry_python or legacy.requires_python),
        dependencies=(*_texts(table.get("dependencies")), *poetry_needs, *legacy.dependencies),
        test_dependencies=_chosen(extras, groups, TEST_GROUPS),
        group_dependencies=grouped or sessions.requirements,
        extras=chosen or tuple(name for name in sessions.extras if name in extras),
        hints=(*_hints(tree), *sessions.requirements),
        requirement_files=tuple(dict.fromkeys((*files, *sessions.files))),
        uses_pytest=uses_pytest and script != OWN_SUITE,
        source_folder=source_folder,
        importable=_importable(tree, pythonpath, source_folder),
        installable=bool(table or poetry or pyproject.get("build-system")) or legacy.installable,
        generates=_generates(tree, pyproject) or legacy.generates,
        scm_version=_uses_scm(pyproject) or legacy.scm,
        languages=_languages(tree, has_python or bool(pyproject) or legacy.installable),
        python=_setting(tree, pyproject),
        tools=_tools(tree, pyproject),
        django_script=script,
    )


def workspace_patterns(tree: Path) -> tuple[tuple[str, ...], bool]:
    """The patterns in which the top lists its member packages, and whether the top is built as a package."""
    pyproject = _toml(tree / "pyproject.toml")
    uv = _table(pyproject, "tool", "uv", "workspace")
    return _texts(uv.get("members")), "build-system" in pyproject


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _table(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        inner = data.get(key)
        if not isinstance(inner, dict):
            return {}
        data = inner
    return data


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _lists(table: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: _texts(value) for name, value in table.items()}


def _merged_legacy(tree: Path) -> Metadata:
    script, cfg = read_setup_py(tree / "setup.py"), read_setup_cfg(tree / "setup.cfg")
    return Metadata(
        name=cfg.name or script.name,
        version=cfg.version or script.version,
        requires_python=cfg.requires_python or script.requires_python,
        dependencies=(*cfg.dependencies, *script.dependencies),
        extras={**script.extras, **cfg.extras},
        installable=cfg.installable or script.installable,
        generates=cfg.generates or script.generates,
        scm=cfg.scm or script.scm,
    )


def _poetry_needs(table: dict[str, Any]) -> tuple[tuple[str, ...], str]:
    """Poetry's dependency table as requirement texts, and its ``python`` as a specifier."""
    needs = []
    for name, value in table.items():
        if normalise(name) == "python":
            continue
        optional = isinstance(value, dict) and (value.get("optional") or value.get("markers"))
        if not optional:
            version = value if isinstance(value, str) else value.get("version", "") if value else ""
            needs.append(name + poetry_specifier(str(version)))
    python = table.get("python", "")
    return tuple(needs), poetry_specifier(python) if isinstance(python, str) else ""


def poetry_specifier(text: str) -> str:
    """Poetry's version notation as a standard specifier; what has no counterpart becomes ''."""
    text = text.strip()
    match = re.fullmatch(r"([\^~])\s*(\d+(?:\.\d+)*)", text)
    if match is None:
        if re.fullmatch(r"\d+(\.\d+)*", text):
            return f"=={text}"
        return text if re.fullmatch(r"[<>=!~]=?[^|^]*", text) else ""
    parts = [int(part) for part in match[2].split(".")]
    if match[1] == "~":
        keep = min(len(parts), 2)
    else:
        keep = next((i for i, part in enumerate(parts) if part), len(parts) - 1) + 1
    upper = [*parts[: keep - 1], parts[keep - 1] + 1]
    return f">={match[2]},<{'.'.join(map(str, upper))}"


def _groups(pyproject: dict[str, Any], poetry: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    table = _table(pyproject, "dependency-groups")
    groups = {name: _group(table, name, ()) for name in table}
    for name, value in _table(pyproject, "tool", "pdm", "dev-dependencies").items():
        groups.setdefault(name, _texts(value))
    for name in _table(poetry, "group"):
        groups.setdefault(name, _poetry_needs(_table(poetry, "group", name, "dependencies"))[0])
    groups.setdefault("dev", _poetry_needs(_table(poetry, "dev-dependencies"))[0])
    return groups


def _group(table: dict[str, Any], name: str, seen: tuple[str, ...]) -> tuple[str, ...]:
    """One dependency group with the groups it includes; circles are cut."""
    found: list[str] = []
    entries = table.get(name)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, str):
            found.append(entry)
        elif isinstance(entry, dict) and (inner := str(entry.get("include-group", ""))) not in (*seen, name):
            match = next((key for key in table if normalise(key) == normalise(inner)), None)
            found.extend(_group(table, match, (*seen, name)) if match else ())
    return tuple(found)


def _chosen(
    extras: dict[str, tuple[str, ...]], groups: dict[str, tuple[str, ...]], wanted: tuple[str, ...]
) -> tuple[str, ...]:
    both = (*extras.items(), *groups.items())
    return tuple(dict.fromkeys(item for name, items in both if normalise(name) in wanted for item in items))


def _requirement_files(tree: Path) -> tuple[str, ...]:
    names = [entry.name for entry in _entries(tree) if _REQUIREMENT_FILE.fullmatch(entry.name)]
    folder = tree / "requirements"
    inner = [f"requirements/{entry.name}" for entry in _entries(folder) if "test" in entry.name.lower()]
    plain = ["requirements.txt"] if (tree / "requirements.txt").is_file() else []
    return (*plain, *sorted(names), *sorted(name for name in inner if name.endswith(".txt")))


def _hints(tree: Path) -> tuple[str, ...]:
    try:
        lines = (tree / "requirements.txt").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return ()
    plain = (line.split(" #")[0].split(" --")[0].strip().rstrip("\\").strip() for line in lines)
    return tuple(line for line in plain if line and re.match(r"[A-Za-z0-9]", line) and "://" not in line)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _scan(tree: Path) -> tuple[bool, bool]:
    """Whether tests are written for pytest, and whether there is Python at all; looks at few files."""
    python, looked = False, 0
    for path in _python_files(tree):
        python = True
        if not _TEST_FILE.fullmatch(path.name):
            continue
        looked += 1
        if path.name == "conftest.py" or _PYTEST_STYLE.search(_head(path)):
            return True, True
        if looked >= _SCANNED_FILES:
            break
    return False, python


def _python_files(tree: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        yield from (Path(folder, name) for name in sorted(files) if name.endswith(".py"))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_READ_LIMIT)
    except OSError:
        return b""


def _pytest_configured(tree: Path) -> bool:
    if (
        (tree / "pytest.ini").is_file()
        or (tree / ".pytest.ini").is_file()
        or (tree / "conftest.py").is_file()
    ):
        return True
    return b"[tool:pytest]" in _head(tree / "setup.cfg") or b"[pytest]" in _head(tree / "tox.ini")


def _pythonpath(tree: Path, settings: dict[str, Any]) -> tuple[str, ...]:
    found = list(_texts(settings.get("pythonpath")))
    for name in ("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg"):
        match = re.search(rb"^pythonpath\s*=\s*(.*(?:\n[ \t]+.*)*)", _head(tree / name), re.MULTILINE)
        found.extend(match[1].decode("utf-8", "replace").split() if match else ())
    return tuple(os.path.normpath(item) for item in found)


def _has_modules(folder: Path) -> bool:
    return any(
        entry.name.endswith(".py") or (entry.is_dir() and (Path(entry.path) / "__init__.py").is_file())
        for entry in _entries(folder)
    )


def _importable(tree: Path, pythonpath: tuple[str, ...], source_folder: bool) -> bool:
    if source_folder:
        return "src" in pythonpath
    beside = (tree / name / "__init__.py" for name in ("tests", "test"))
    return "." in pythonpath or (tree / "conftest.py").is_file() or any(path.is_file() for path in beside)


_COMPILING = ("maturin", "setuptools-rust", "scikit-build", "meson-python", "cython", "cffi", "pybind11")


def _generates(tree: Path, pyproject: dict[str, Any]) -> bool:
    """Whether an installation leaves compiled or generated files in the tree."""
    needs = " ".join(_texts(_table(pyproject, "build-system").get("requires"))).lower()
    scm = _table(pyproject, "tool", "setuptools_scm") or _table(pyproject, "tool", "setuptools-scm")
    hooks = _table(pyproject, "tool", "hatch", "build", "hooks") or _table(
        pyproject, "tool", "hatch", "build", "targets", "wheel", "hooks"
    )
    if any(word in needs for word in _COMPILING) or hooks or {"write_to", "version_file"} & set(scm):
        return True
    if _table(pyproject, "tool", "setuptools").get("ext-modules"):
        return True
    return (tree / "setup.py").is_file() and _has_native_sources(tree)


def _has_native_sources(tree: Path) -> bool:
    for _, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        if any(name.endswith((".c", ".pyx", ".cpp", ".cc", ".f90")) for name in files):
            return True
    return False


def _uses_scm(pyproject: dict[str, Any]) -> bool:
    needs = " ".join(_texts(_table(pyproject, "build-system").get("requires"))).lower()
    return any(word in needs for word in ("scm", "hatch-vcs", "versioningit", "pbr", "dynamic-versioning"))


def _languages(tree: Path, python: bool) -> tuple[str, ...]:
    found = (
        ("python", python),
        ("rust", (tree / "Cargo.toml").is_file()),
        ("node", (tree / "package.json").is_file()),
    )
    return tuple(name for name, there in found if there)


def _setting(tree: Path, pyproject: dict[str, Any]) -> str:
    own = _toml(tree / "redfirst.toml")
    value = own.get("python") or _table(own, "tool", "redfirst").get("python")
    value = value or _table(pyproject, "tool", "redfirst").get("python")
    return value if isinstance(value, str) else ""


def _tools(tree: Path, pyproject: dict[str, Any]) -> tuple[str, ...]:
    """Managers that keep this checkout's environment in a place only they know."""
    tool = _table(pyproject, "tool")
    found = (
        ("poetry", "poetry" in tool or (tree / "poetry.lock").is_file()),
        ("hatch", "hatch" in tool and "envs" in _table(tool, "hatch")),
        ("pipenv", (tree / "Pipfile").is_file()),
    )
    return tuple(name for name, there in found if there)
