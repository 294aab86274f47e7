# SPDX-License-Identifier: Apache-2.0
"""Which script of a checkout starts Django's tests, and so which Python runner its tests have."""

from __future__ import annotations

from pathlib import Path

#: Django's own suite.
OWN_SUITE = "tests/runtests.py"
_PROJECT = "manage.py"
_SKIPPED = ("node_modules", "venv", "build", "dist", "docs", "examples", "example")


def django_script(tree: Path) -> str:
    """The script, relative; '' where Django's tests have none.

    Django itself has ``tests/runtests.py``; a project has ``manage.py``, at the top or one folder below.
    """
    if (tree / OWN_SUITE).is_file() and (tree / "django" / "test" / "runner.py").is_file():
        return OWN_SUITE
    below = sorted(
        path.name
        for path in tree.iterdir()
        if path.is_dir() and not path.name.startswith(".") and path.name not in _SKIPPED
    )
    places = (_PROJECT, *(f"{name}/{_PROJECT}" for name in below))
    return next((place for place in places if _starts_django(tree / place)), "")


def python_runner(script: str, *, uses_pytest: bool) -> str:
    """The runner of a checkout's Python tests: Django's suite has its own, a project may have taken pytest."""
    if script == OWN_SUITE:
        return "django"
    return "pytest" if uses_pytest else "django" if script else "unittest"


def _starts_django(path: Path) -> bool:
    try:
        return not path.is_symlink() and b"django" in path.read_bytes()[:20_000]
    except OSError:
        return False
