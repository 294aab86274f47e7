# SPDX-License-Identifier: Apache-2.0
"""What a checkout's task runners (tox, nox, hatch) install before its tests, read without running any of them."""

from __future__ import annotations

import ast
import configparser
import itertools
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PY = f"py3{sys.version_info[1]}"
#: Factors of tox that hold for a plain run of the tests with a Python like this one.
_HOLDING = frozenset({"py", "py3", _PY, f"3.{sys.version_info[1]}", "test", "tests", "unit", "default"})
#: Environments that need a service, or test other versions than a release's users have.
_ODD = re.compile(
    r"postgres|psycopg|mysql|maria|oracle|mongo|redis|min|old|low|main|master|dev|nightly|tip|pypy|lint|docs|cov|type"
)
_TEST_NAME = re.compile(r"(unit)?_?(py)?tests?(_|\d|$)|^unit")
_LINE = re.compile(r"(?P<factors>[\w!.,{}-]+)\s*:\s+(?P<rest>\S.*)|(?P<plain>\S.*)")
_LOCAL = re.compile(r"(?:-e\s*)?(?:\.|\{toxinidir\}/?|\{tox_root\}/?)(?:\[(?P<extras>[\w,. -]+)\])?")
_REFERENCE = re.compile(r"\{\[(?P<section>[^\]]+)\](?P<key>\w+)\}")


@dataclass(frozen=True, slots=True)
class Sessions:
    """Requirement texts, requirements files, extras of the project, and whether pytest is started."""

    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    pytest: bool = False


def read_sessions(tree: Path) -> Sessions:
    """What tox, nox and hatch are told at the top of ``tree``; what is computed there is left out."""
    words: list[str] = []
    commands = ""
    for deps, extras, run in (_tox(tree), _tox_toml(tree), _hatch(tree), _nox(tree)):
        words += [*deps, *(f".[{name}]" for name in extras)]
        commands += " " + run
    return _sorted_out(tree, words, bool(re.search(r"(^|[\s/])(pytest|py\.test)(\s|$)", commands)))


def _sorted_out(tree: Path, words: Iterable[str], pytest: bool) -> Sessions:
    requirements: list[str] = []
    files: list[str] = []
    extras: list[str] = []
    for word in words:
        text = word.split(" #")[0].strip()
        local = _LOCAL.fullmatch(text)
        named = re.fullmatch(r"(?:-r|--requirement)[\s=]*(\S+)", text)
        if local is not None:
            extras += re.findall(r"[\w.-]+", local["extras"] or "")
        elif named is not None:
            path = os.path.normpath(re.sub(r"^\{\w+\}/?", "", named[1]))
            if not path.startswith(("/", "..")) and (tree / path).is_file():
                files.append(path)
        elif re.match(r"[A-Za-z0-9]", text) and "{" not in text:
            requirements.append(text)
    return Sessions(_once(requirements), _once(files), _once(extras), pytest)


def _once(found: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))


# tox.ini, and its sections in setup.cfg


def _tox(tree: Path) -> tuple[list[str], list[str], str]:
    config = configparser.RawConfigParser(strict=False)
    for name in ("setup.cfg", "tox.ini"):
        try:
            config.read_string((tree / name).read_text(encoding="utf-8"))
        except (OSError, ValueError, configparser.Error):
            continue
    return _tox_config(config)


def _tox_config(config: configparser.RawConfigParser) -> tuple[list[str], list[str], str]:
    listed = next(
        (
            config.get(name, key)
            for name in ("tox", "tox:tox")
            for key in ("envlist", "env_list")
            if config.has_option(name, key)
        ),
        "",
    )
    chosen = _chosen_environment(listed)
    holding = _HOLDING | frozenset(chosen.split("-"))
    sections = [
        f"testenv:{name}" for name in dict.fromkeys((chosen, _PY, "py3", "py", "test", "tests", "unit"))
    ]
    present = [name for name in ("testenv", *sections) if config.has_section(name)]
    deps: list[str] = []
    for section in present:
        lines = _resolved(config, config.get(section, "deps", fallback=""), 0).splitlines()
        deps += _conditional(lines, holding)
    extras = [line for name in present for line in config.get(name, "extras", fallback="").splitlines()]
    names = re.findall(r"[\w.-]+", " ".join(_conditional(extras, holding)))
    return deps, names, " ".join(config.get(name, "commands", fallback="") for name in present)


def _resolved(config: configparser.RawConfigParser, text: str, depth: int) -> str:
    """``{[section]key}`` replaced by what stands there."""
    match = _REFERENCE.search(text)
    if match is None or depth > 5:
        return text
    value = config.get(match["section"], match["key"], fallback="")
    return _resolved(config, text.replace(match[0], value), depth + 1)


def _conditional(lines: Iterable[str], holding: frozenset[str]) -> list[str]:
    """The lines whose factors hold, without these."""
    found = []
    for line in lines:
        match = _LINE.fullmatch(line.strip())
        if match is None or line.strip().startswith("#"):
            continue
        if match["plain"]:
            found.append(match["plain"])
        elif any(_holds(option, holding) for option in _expanded(match["factors"])):
            found.append(match["rest"])
    return found


def _holds(factors: str, holding: frozenset[str]) -> bool:
    parts = factors.split("-")
    return all((part[1:] not in holding) if part.startswith("!") else part in holding for part in parts)


def _expanded(text: str) -> list[str]:
    """``py{310,311}-{a,b}, c`` as single names."""
    found = []
    for item in re.split(r"[,\s]+(?![^{]*\})", text.strip()):
        parts = re.split(r"\{([^{}]*)\}", item)
        choices = [part.split(",") if at % 2 else [part] for at, part in enumerate(parts)]
        found += ["".join(words).replace(" ", "") for words in itertools.product(*choices)]
    return [name for name in found if name]


def _chosen_environment(listed: str) -> str:
    """Of the listed environments the last plain one for a Python like this, or ''."""
    names = _expanded("\n".join(line.split("#")[0] for line in listed.splitlines()))
    mine = [name for name in names if name.split("-")[0] in _HOLDING] or names
    plain = [name for name in mine if not _ODD.search(name)]
    return (plain or mine or [""])[-1]


# tox and hatch in TOML


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _inner(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for item in value for text in _strings(item)] if isinstance(value, list) else []


def _tox_toml(tree: Path) -> tuple[list[str], list[str], str]:
    own = _toml(tree / "tox.toml")
    pyproject = _inner(_toml(tree / "pyproject.toml"), "tool", "tox")
    legacy = _inner(pyproject, "legacy_tox_ini")
    if isinstance(legacy, str):
        config = configparser.RawConfigParser(strict=False)
        try:
            config.read_string(legacy)
        except configparser.Error:
            return [], [], ""
        return _tox_config(config)
    data = own or pyproject
    tables = [_inner(data, "env_run_base"), *(_inner(data, "env", name) for name in ("test", "tests", _PY))]
    deps = [text for table in tables for text in _strings(_inner(table, "deps"))]
    extras = [text for table in tables for text in _strings(_inner(table, "extras"))]
    return deps, extras, " ".join(text for table in tables for text in _strings(_inner(table, "commands")))


def _hatch(tree: Path) -> tuple[list[str], list[str], str]:
    environments = _inner(_toml(tree / "pyproject.toml"), "tool", "hatch", "envs")
    environments = environments or _inner(_toml(tree / "hatch.toml"), "envs")
    tables = [_inner(environments, name) for name in ("default", "test", "tests", "hatch-test")]
    keys = ("dependencies", "extra-dependencies")
    deps = [text for table in tables for key in keys for text in _strings(_inner(table, key))]
    extras = [text for table in tables for text in _strings(_inner(table, "features"))]
    scripts = [_inner(table, "scripts") for table in tables]
    runs = [text for table in scripts if isinstance(table, dict) for text in _strings(list(table.values()))]
    return deps, extras, " ".join(runs)


# nox


def _nox(tree: Path) -> tuple[list[str], list[str], str]:
    try:
        module = ast.parse((tree / "noxfile.py").read_bytes())
    except (OSError, ValueError, SyntaxError):
        return [], [], ""
    constants = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    words: list[str] = []
    commands: list[str] = []
    for function in module.body:
        if isinstance(function, ast.FunctionDef) and _is_test_session(function):
            for name, arguments in _session_calls(function, constants):
                if name == "install":
                    words += _joined_options(arguments)
                elif name == "run":
                    commands += arguments
    return words, [], " ".join(commands)


def _is_test_session(function: ast.FunctionDef) -> bool:
    targets = [item.func if isinstance(item, ast.Call) else item for item in function.decorator_list]
    return bool(_TEST_NAME.search(function.name)) and any(
        getattr(target, "attr", getattr(target, "id", "")) == "session" for target in targets
    )


def _session_calls(
    function: ast.FunctionDef, constants: dict[str, ast.expr]
) -> Iterator[tuple[str, list[str]]]:
    """(method, literal arguments) of what is called on the session."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr, [text for item in node.args for text in _literals(item, constants)]


def _literals(node: ast.expr, constants: dict[str, ast.expr]) -> list[str]:
    if isinstance(node, ast.Starred):
        return _literals(node.value, constants)
    if isinstance(node, ast.Name) and node.id in constants:
        return _literals(constants[node.id], {})
    if isinstance(node, ast.List | ast.Tuple):
        return [text for item in node.elts for text in _literals(item, constants)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def _joined_options(words: list[str]) -> list[str]:
    """Options of pip with their values as one text each."""
    found, rest = [], list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-r", "--requirement", "-e", "--editable", "-c", "--constraint") and rest:
            value = rest.pop(0)
            found.append(value if word in ("-e", "--editable") else f"{word} {value}")
        else:
            found.append(word)
    return found
