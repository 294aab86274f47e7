# SPDX-License-Identifier: Apache-2.0
"""Keeps every file of the repository headed, free of addresses, and small enough to read."""

from __future__ import annotations

import ast
import re
import subprocess
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPDX = "SPDX-License-Identifier: Apache-2.0"
HEADED = {".py", ".toml", ".yml", ".yaml", ".sh"}
LINES_SOURCE, LINES_TEST, LINES_FUNCTION = 400, 500, 60

#: Registry hosts and machine paths, written in pieces so that this file has none of them.
FORBIDDEN = [
    *("py" + "pi.org", "python" + "hosted", "registry." + "npmjs", "deb." + "debian.org", "crates" + ".io"),
    *("/wo" + "rk/", "/fa" + "rm/", "." + "library"),
]


def listed() -> list[Path]:
    """Files that Git tracks or would track."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(argv, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    return sorted(ROOT / name for name in names if name and (ROOT / name).is_file())


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def is_data(path: Path) -> bool:
    """Whether a file belongs to a small project that tests or examples run, not to redfirst itself."""
    parts = path.relative_to(ROOT).parts
    return parts[:2] == ("tests", "projects") or (parts[0] == "examples" and len(parts) > 2)


def test_every_file_names_its_licence() -> None:
    wanted = [path for path in listed() if path.suffix in HEADED and not is_data(path)]
    wanted += [ROOT / "Makefile", ROOT / ".ci" / "run"]
    missing = [str(path.relative_to(ROOT)) for path in wanted if SPDX not in text_of(path)[:300]]
    assert missing == []


def test_the_licence_is_here_in_full() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_no_file_names_a_registry_host_or_a_machine_path() -> None:
    allowed = re.compile(r"work/(?:up|wk|tmp)|/workspace")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word}"
        for path in listed()
        for number, line in enumerate(text_of(path).splitlines(), 1)
        for word in FORBIDDEN
        if word in allowed.sub("", line)
    ]
    assert found == []


def test_no_test_uses_a_mock_library() -> None:
    word = "unittest" + ".mock"
    users = [str(path) for path in listed() if path.suffix == ".py" and f"import {word}" in text_of(path)]
    users += [str(path) for path in listed() if path.suffix == ".py" and f"from {word}" in text_of(path)]
    assert users == []


def test_no_module_is_named_for_nothing() -> None:
    names = {"utils", "common", "helpers", "misc"}
    assert [path for path in (ROOT / "src").rglob("*") if path.stem in names] == []


def test_every_module_says_its_idea() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in listed()
        if path.suffix == ".py" and not is_data(path) and not ast.get_docstring(ast.parse(text_of(path)))
    ]
    assert silent == []


def long_places() -> list[str]:
    """Files and functions beyond the size at which to look again."""
    found = []
    for path in listed():
        if path.suffix != ".py" or is_data(path):
            continue
        text = text_of(path)
        lines = len(text.splitlines())
        if lines > (LINES_TEST if "tests" in path.parts else LINES_SOURCE):
            found.append(f"{path.relative_to(ROOT)}: {lines} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LINES_FUNCTION:
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} has {length} lines")
    return found


@pytest.mark.filterwarnings("default:look again:UserWarning")
def test_long_places_are_listed_not_refused() -> None:
    for place in long_places():
        warnings.warn(f"look again: {place}", UserWarning, stacklevel=1)
