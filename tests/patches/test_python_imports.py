# SPDX-License-Identifier: Apache-2.0
"""Keeps what the project itself imports out of reach of test patches, whatever its folder is called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from redfirst.patches.policy import by_convention
from redfirst.patches.python_imports import imported_tests

PACKAGE = {
    "web/__init__.py": "",
    "web/test/__init__.py": "",
    "web/test/client.py": "",
    "web/test/inner.py": "",
}


def scan(folder: Path, files: Mapping[str, str], cache: Path | None = None) -> frozenset[str]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return imported_tests(folder, by_convention, cache)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import web.test.client\n", {"web/test/__init__.py", "web/test/client.py"}),
        ("from web.test import client as c, inner\n", {*PACKAGE} - {"web/__init__.py"}),
        ("from web.test import (  # both\n    client,\n)\n", {"web/test/__init__.py", "web/test/client.py"}),
        ("from .test.client import Client\n", {"web/test/__init__.py", "web/test/client.py"}),
        ("from . import test\n", {"web/test/__init__.py"}),
        ("def f():\n    import web.test\n", {"web/test/__init__.py"}),
        ("import os, \\\n    web.test.client\n", {"web/test/__init__.py", "web/test/client.py"}),
        ("try: import web.test\nexcept ImportError: pass\n", {"web/test/__init__.py"}),
        ('"""Example\n\nimport web.test.client\n"""\n', set()),
        ("# import web.test\ntext = 'import web.test'\n", set()),
        ("import webtest, web.testing\n", set()),
    ],
)  # fmt: skip
def test_forms_of_import(tmp_path: Path, text: str, found: set[str]) -> None:
    assert scan(tmp_path, {**PACKAGE, "web/core.py": text}) == found


@pytest.mark.parametrize("root", ["", "src/", "lib/", "python/deep/"])
def test_packages_are_found_where_they_begin(tmp_path: Path, root: str) -> None:
    files = {
        f"{root}{name}": text
        for name, text in {**PACKAGE, "web/core.py": "from web.test import client\n"}.items()
    }
    assert scan(tmp_path, files) == {f"{root}web/test/__init__.py", f"{root}web/test/client.py"}


def test_what_source_imports_imports_in_turn(tmp_path: Path) -> None:
    files = {
        **PACKAGE,
        "web/core.py": "import web.test\n",
        "web/test/__init__.py": "from .client import Client\n",
    }
    files["web/test/client.py"] = "from web.test.inner import x\n"
    assert scan(tmp_path, files) == {"web/test/__init__.py", "web/test/client.py", "web/test/inner.py"}


def test_scripts_that_run_tests_are_no_source(tmp_path: Path) -> None:
    tests = {"tests/__init__.py": "", "tests/test_a.py": "", "tests/helpers.py": ""}
    runners = ("setup.py", "run_tests.py", "runtests.py", "noxfile.py", "tests.py", "conftest.py")
    assert (
        scan(tmp_path, {**tests, **dict.fromkeys(runners, "from tests import helpers, test_a\n")})
        == frozenset()
    )


def test_tests_that_import_each_other_are_tests(tmp_path: Path) -> None:
    files = {
        "tests/__init__.py": "",
        "tests/helpers.py": "",
        "tests/test_a.py": "from tests.helpers import x\n",
    }
    assert scan(tmp_path, {**files, "pkg/core.py": "import os\n"}) == frozenset()


def test_a_package_among_tests_is_not_on_the_path_of_source(tmp_path: Path) -> None:
    files = {"tests/sphinx/__init__.py": "", "docs/conf.py": "import sphinx\n# tests\n"}
    assert scan(tmp_path, files) == frozenset()


def test_the_answer_is_kept(tmp_path: Path) -> None:
    cache = tmp_path / "kept.json"
    tree = tmp_path / "tree"
    first = scan(tree, {**PACKAGE, "web/core.py": "import web.test\n"}, cache)
    (tree / "web" / "core.py").write_text("")
    assert imported_tests(tree, by_convention, cache) == first
    cache.write_text("{")
    assert imported_tests(tree, by_convention, cache) == frozenset()
