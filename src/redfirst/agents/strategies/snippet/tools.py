# SPDX-License-Identifier: Apache-2.0
"""What a checkout can be called by on a command line: its console scripts and the modules that ``python -m`` runs."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from redfirst.agents.strategies.snippet.project import import_folders
from redfirst.agents.strategies.snippet.steps import parse_quietly
from redfirst.agents.task import Gate

_ENTRY = re.compile(r"([\w.-]+)\s*=\s*([A-Za-z_][\w.]*)\s*:\s*([A-Za-z_][\w.]*)\s*(?:\[.*\])?")


class Found(Enum):
    """From where a child process finds the project's modules without being told."""

    ANYWHERE = auto()  # it is installed
    AT_ROOT = auto()  # its modules lie in the tree's root
    NOWHERE = auto()


@dataclass(frozen=True, slots=True)
class Entry:
    """The function behind a console script."""

    module: str
    function: str


@dataclass(frozen=True, slots=True)
class Tools:
    """``scripts``: console script → its function. ``modules``: what ``python -m`` can run of the project.

    ``behind``: of each of those, the modules of the project that it imports. ``found``: from where a child process
    finds the project.
    """

    scripts: Mapping[str, Entry] = field(default_factory=dict)
    modules: frozenset[str] = frozenset()
    behind: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    found: Found = Found.NOWHERE

    def must_lead(self, *, away: bool) -> bool:
        """Whether a child must be told where the project is; ``away``: it does not start in the tree's root."""
        return self.found is Found.NOWHERE or (away and self.found is Found.AT_ROOT)

    def module_of(self, entry: Entry) -> str | None:
        """The package that ``python -m`` starts and that calls the same function; None if there is none."""
        package = entry.module.partition(".")[0]
        calls = entry.module in self.behind.get(package, ())
        return package if package in self.modules and calls else None


NO_TOOLS = Tools()


def tools_of(gate: Gate) -> Tools:
    """What Base declares in its settings and metadata."""
    scripts: dict[str, Entry] = {}
    for name, target in _declared(gate):
        match = _ENTRY.fullmatch(f"{name}={target}".strip())
        if match:
            scripts.setdefault(match.group(1), Entry(match.group(2), match.group(3)))
    modules = frozenset(_modules(gate))
    behind = {
        module: _imported(gate, module, modules) for module in modules if (f"{module}.__main__") in modules
    }
    return Tools(scripts, modules, behind)


def _declared(gate: Gate) -> Iterator[tuple[str, str]]:
    """Name and target of every console script, wherever it is declared."""
    yield from _in_pyproject(_text(gate, "pyproject.toml"))
    yield from _in_sections(_text(gate, "setup.cfg"), "options.entry_points")
    yield from _in_setup(_text(gate, "setup.py"))
    for path in gate.base_files():
        if re.fullmatch(r"(?:[\w.-]+/)?[\w.-]+\.egg-info/entry_points\.txt", path):
            yield from _in_sections(f"[all]\nconsole_scripts =\n{_lines(_text(gate, path))}", "all")


def _text(gate: Gate, path: str) -> str:
    return (gate.read(path) or b"").decode("utf-8", "replace")


def _in_pyproject(text: str) -> Iterator[tuple[str, str]]:
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    tool = settings.get("tool", {})
    for holder in (settings.get("project"), *(tool.get(name) for name in ("poetry", "flit", "pdm"))):
        scripts = holder.get("scripts") if isinstance(holder, dict) else None
        for name, target in scripts.items() if isinstance(scripts, dict) else ():
            if isinstance(target, str):
                yield name, target


def _lines(text: str) -> str:
    """The lines of ``[console_scripts]``, each with a margin."""
    match = re.search(r"^\[console_scripts\]\s*\n((?:(?!\[).*\n?)*)", text, re.MULTILINE)
    lines = match.group(1).splitlines() if match else []
    return "\n".join(f"    {line.strip()}" for line in lines if line.strip())


def _in_sections(text: str, section: str) -> Iterator[tuple[str, str]]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for line in parser.get(section, "console_scripts", fallback="").splitlines():
        name, sign, target = line.partition("=")
        if sign:
            yield name.strip(), target.strip()


def _in_setup(text: str) -> Iterator[tuple[str, str]]:
    """Strings under ``console_scripts`` in a ``setup.py``; what it computes is not seen."""
    for node in ast.walk(ast.Module(parse_quietly(text), [])):
        pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
        for key, value in pairs:
            named = isinstance(key, ast.Constant) and key.value == "console_scripts"
            for item in ast.walk(value) if named else ():
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    name, _, target = item.value.partition("=")
                    yield name.strip(), target.strip()
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "[console_scripts]" in node.value
        ):
            for line in _lines(node.value).splitlines():
                name, _, target = line.partition("=")
                yield name.strip(), target.strip()


def _modules(gate: Gate) -> Iterator[str]:
    """Dotted names of the modules below the import folders, packages and their ``__main__`` included."""
    folders = import_folders(gate)
    for path in gate.base_files():
        for folder in folders:
            inside = path.removeprefix(f"{folder}/") if folder else path
            outside = bool(folder) and inside == path
            if (
                outside
                or gate.is_test(path)
                or not re.fullmatch(r"(?:[A-Za-z_]\w*/)*[A-Za-z_]\w*\.py", inside)
            ):
                continue
            name = inside.removesuffix(".py").replace("/", ".")
            if name.endswith(".__main__"):
                yield name.removesuffix(".__main__")
            yield name


def _imported(gate: Gate, package: str, modules: frozenset[str]) -> tuple[str, ...]:
    """Modules of the same top-level package that a package's ``__main__`` imports names from."""
    inside = package.replace(".", "/") + "/__main__.py"
    folders = (f"{folder}/" if folder else "" for folder in import_folders(gate))
    text = next((text for folder in folders if (text := _text(gate, folder + inside))), "")
    found: list[str] = []
    for node in ast.walk(ast.Module(parse_quietly(text), [])):
        if isinstance(node, ast.ImportFrom):
            parent = package if node.level == 1 else ""
            module = ".".join(part for part in (parent, node.module or "") if part)
            names = [f"{module}.{alias.name}" for alias in node.names]
            found += [module, *(name for name in names if name in modules)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    top = package.partition(".")[0]
    return tuple(dict.fromkeys(name for name in found if name.partition(".")[0] == top))
