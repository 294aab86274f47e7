# SPDX-License-Identifier: Apache-2.0
"""The literal parts of ``setup.py`` and ``setup.cfg``; nothing in them is executed."""

from __future__ import annotations

import ast
import configparser
from dataclasses import dataclass, field
from pathlib import Path

_COMPILED = {"ext_modules", "cffi_modules", "rust_extensions", "cmake_source_dir", "ext_package"}


@dataclass(frozen=True, slots=True)
class Metadata:
    """What one file states; computed values are simply missing."""

    name: str = ""
    version: str = ""
    requires_python: str = ""
    dependencies: tuple[str, ...] = ()
    extras: dict[str, tuple[str, ...]] = field(default_factory=dict)
    installable: bool = False
    generates: bool = False
    scm: bool = False


def read_setup_cfg(path: Path) -> Metadata:
    """``[metadata]`` and ``[options]`` of a ``setup.cfg``; an unreadable file gives nothing."""
    config = configparser.RawConfigParser(strict=False)
    try:
        config.read_string(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, configparser.Error):
        return Metadata()
    section = "options.extras_require"
    extras = config.items(section) if config.has_section(section) else []
    return Metadata(
        name=_plain(config, "metadata", "name"),
        version=_plain(config, "metadata", "version"),
        requires_python=_plain(config, "options", "python_requires"),
        dependencies=_lines(_plain(config, "options", "install_requires")),
        extras={name: _lines(value) for name, value in extras},
        installable=config.has_section("options") or config.has_option("metadata", "name"),
        scm="setuptools_scm" in _plain(config, "options", "setup_requires"),
    )


def _plain(config: configparser.RawConfigParser, section: str, option: str) -> str:
    value = config.get(section, option, fallback="").strip()
    return "" if value.startswith(("attr:", "file:")) else value


def _lines(text: str) -> tuple[str, ...]:
    stripped = (line.split(" #")[0].strip() for line in text.replace(";\n", "\n").splitlines())
    return tuple(line for line in stripped if line and not line.startswith(("#", "file:")))


def read_setup_py(path: Path) -> Metadata:
    """The literal keyword arguments of the ``setup`` call; a file that does not parse gives nothing."""
    try:
        module = ast.parse(path.read_bytes())
    except (OSError, ValueError, SyntaxError):
        return Metadata()
    names = _literals(module)
    call = next((node for node in ast.walk(module) if _is_setup(node)), None)
    if not isinstance(call, ast.Call):
        return Metadata(installable=True)
    given = {item.arg: _value(item.value, names) for item in call.keywords if item.arg}
    extras = given.get("extras_require")
    return Metadata(
        name=_text(given.get("name")),
        version=_text(given.get("version")),
        requires_python=_text(given.get("python_requires")),
        dependencies=_items(given.get("install_requires")),
        extras={str(key): _items(value) for key, value in extras.items()} if isinstance(extras, dict) else {},
        installable=True,
        generates=any(item.arg in _COMPILED for item in call.keywords) or "use_scm_version" in given,
        scm=any(item.arg in ("use_scm_version", "pbr") for item in call.keywords),
    )


def _is_setup(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    name = (
        called.id
        if isinstance(called, ast.Name)
        else called.attr
        if isinstance(called, ast.Attribute)
        else ""
    )
    return name == "setup"


def _literals(module: ast.Module) -> dict[str, object]:
    found: dict[str, object] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = _value(node.value, found)
    return found


def _value(node: ast.expr, names: dict[str, object]) -> object:
    if isinstance(node, ast.Name):
        return names.get(node.id)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _items(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return _lines(value)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, (list, tuple)) else ()
