# SPDX-License-Identifier: Apache-2.0
"""Small real checkouts with real virtual environments; installations use what the test run itself has."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "acme-wrap"
version = "1.2"
requires-python = ">=3.8"
dependencies = [{needs}]

[tool.hatch.build]
dev-mode-dirs = ["{folder}"]

[tool.hatch.build.targets.wheel]
packages = ["{package}"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""
TEST = """\
import acme_wrap


def test_width():
    assert acme_wrap.width() == 70
"""


def write(root: Path, files: dict[str, str]) -> Path:
    """Files below ``root`` by relative path."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def git(repo: Path, *argv: str) -> None:
    """One git command with a fixed identity."""
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *argv], cwd=repo, check=True, capture_output=True)


def committed(repo: Path) -> Path:
    """The folder as a checkout with one commit; environments are ignored."""
    (repo / ".gitignore").write_text(".venv/\nnode_modules/\n")
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "start")
    return repo


def make_project(repo: Path, *, package: str = "src/acme_wrap", needs: str = "") -> Path:
    """A checkout of one package with one pytest test, in the src layout unless told otherwise."""
    files = {
        "pyproject.toml": PYPROJECT.format(
            package=package, folder=os.path.dirname(package) or ".", needs=needs
        ),
        f"{package}/__init__.py": "def width():\n    return 70\n",
        "tests/test_wrap.py": TEST,
    }
    return committed(write(repo, files))


def make_venv(folder: Path) -> Path:
    """An empty virtual environment that sees nothing of the one that runs the tests."""
    venv.create(folder, with_pip=False, symlinks=True)
    return folder


def site_packages(prefix: Path) -> Path:
    """Where its packages lie."""
    return next(prefix.glob("lib/*/site-packages"))


def pretend_installed(prefix: Path, **versions: str) -> None:
    """Record distributions without their code, which nothing here imports."""
    for name, version in versions.items():
        folder = site_packages(prefix) / f"{name}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def pip_install(prefix: Path, *arguments: str) -> None:
    """A real offline installation into ``prefix`` with the build back end that the test run has."""
    options = [
        "--prefix",
        str(prefix),
        "--no-index",
        "--no-build-isolation",
        "--no-deps",
        "--ignore-installed",
    ]
    argv = [sys.executable, "-m", "pip", "install", "-q", "--no-warn-script-location", *options, *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    subprocess.run(argv, check=True, capture_output=True, env={**environment, "PIP_CONFIG_FILE": os.devnull})
