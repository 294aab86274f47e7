# SPDX-License-Identifier: Apache-2.0
"""Keeps the documents true: their paths, commands, options, kinds and messages are those of the code."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from redfirst.core import errors
from redfirst.core.kinds import FailureKind

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "redfirst"
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")]
DOCUMENTS += sorted((ROOT / "docs").rglob("*.md"))
SLUG = re.compile(r'^    slug = "([a-z-]+)"$', re.MULTILINE)
FENCE = re.compile(r"^```(?:bash|console|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SCRIPT = str(Path(sys.executable).parent / "redfirst")


def slugs() -> set[str]:
    """Slugs of all classes of errors in the source, the root's own left out."""
    texts = [path.read_text("utf-8") for path in PACKAGE.rglob("*.py")]
    return {slug for text in texts for slug in SLUG.findall(text)} - {errors.RedfirstError.slug}


def headings(path: Path) -> set[str]:
    """The headings of a document, without backquotes."""
    lines = path.read_text("utf-8").splitlines()
    return {line.lstrip("#").strip().strip("`") for line in lines if line.startswith("#")}


def commands() -> list[tuple[str, list[str]]]:
    """Every call of redfirst in a shell block of the documents, as (document, words)."""
    found = []
    for document in DOCUMENTS:
        for block in FENCE.findall(document.read_text("utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line.removeprefix("$ "), comments=True)
                if words and words[0] == "redfirst":
                    found.append((document.name, words[1:]))
    return found


@cache
def help_of(command: str) -> str:
    """Help of one subcommand (two words where it is in a group), wide enough that no option is cut."""
    argv = [SCRIPT, *command.split(), "--help"]
    env = {"PATH": "/usr/bin:/bin", "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(argv, check=True, capture_output=True, text=True, env=env).stdout


def test_each_error_has_an_entry_in_messages() -> None:
    assert slugs() - headings(ROOT / "docs" / "messages.md") == set()


def test_each_kind_is_explained() -> None:
    text = (ROOT / "docs" / "gate.md").read_text("utf-8")
    assert [kind for kind in FailureKind if f"`{kind}`" not in text] == []


def test_the_documents_show_commands_at_all() -> None:
    assert len(commands()) >= 3


@pytest.mark.parametrize(
    ("document", "words"), commands(), ids=lambda value: value if isinstance(value, str) else " ".join(value)
)
def test_commands_in_documents_exist(document: str, words: list[str]) -> None:
    named = words[: 2 if words[:1] == ["bench"] else 1]
    command = " ".join(word for word in named if not word.startswith("-"))
    text = help_of(command)
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    assert [option for option in options if option not in text] == [], document


def test_make_targets_in_documents_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    used = {name for path in DOCUMENTS for name in re.findall(r"`?make ([a-z-]+)`", path.read_text("utf-8"))}
    assert used - targets == set()


def test_the_map_names_paths_that_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    paths = re.findall(r"`((?:src|tests|docs|tools|benchmarks|examples|\.ci)/[\w./-]*)`", text)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_map_names_every_room() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {room for room in rooms if f"`{room}/`" not in text} == set()


def test_links_between_documents_lead_somewhere() -> None:
    broken = []
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            if "://" not in target and not (path.parent / target).exists():
                broken.append(f"{path.name}: {target}")
    assert broken == []


def test_public_functions_are_described() -> None:
    """Every public function and class of the lower rooms' top level has a docstring."""
    silent = []
    for path in sorted((PACKAGE / "core").glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                silent += [] if ast.get_docstring(node) else [f"{path.name}: {node.name}"]
    assert silent == []
