# SPDX-License-Identifier: Apache-2.0
"""Each path is a test, source or configuration, and each kind of patch is held to its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.patches.checkout_driver import Files, base_of, diff, write

from redfirst.patches.apply import apply_patch
from redfirst.patches.base import PreparedBase
from redfirst.patches.parse import parse_patch
from redfirst.patches.policy import (
    PathPolicy,
    by_convention,
    is_configuration,
    judge_source_patch,
    judge_test_changes,
    judge_test_paths,
    policy_for,
)


def words(text: str) -> list[str]:
    return text.split()


TESTS = words(
    """
tests/test_a.py tests/helper.py tests/data/x.csv tests/sub/conftest.py test/a.py test_a.py
pkg/test_a.py pkg/a_test.py pkg/tests.py pkg/tests/__init__.py src/pkg/conftest.py
src/test/java/FooTest.java src/test/resources/x.json FooTest.java FooTests.java TestFoo.java
FooIT.java FooTestCase.java FooTest.kt FooSpec.scala pkg/foo_test.go pkg/testdata/x
src/__tests__/a.js src/a.test.ts src/a.spec.tsx a.test.mjs a.spec.cjs src/__snapshots__/a.snap
spec/a_spec.rb a_test.rb tests/it.rs tests/common/mod.rs
a_test.cc a_test.dart lib/a_test.exs FooTests.cs crates/x/tests/a.rs e2e/login.ts
"""
)
SOURCE = words(
    """
src/pkg/a.py pkg/testing/a.py pkg/testing.py testing/a.py numpy/testing/x.py pkg/latest.py
pkg/attest.py pkg/contest/a.py pkg/test.txt README.md docs/tests.md src/main/java/Testament.java
src/main/java/AUDIT.java src/lib.rs src/main.rs src/latest.js src/a.js src/testing.ts src/protest.go
examples/a.py benches/a.rs conf.py src/special.js src/inspect.py tests.md mytests/a.py
"""
)
CONFIGURATION = words(
    """
pytest.ini tests/pytest.ini tox.ini setup.cfg setup.py pyproject.toml tests/pyproject.toml
sitecustomize.py tests/sitecustomize.py tests/usercustomize.py tests/sitecustomize/__init__.py x.pth
tests/a.pth conftest.py .coveragerc package.json tests/package.json package-lock.json pnpm-lock.yaml
jest.config.js vitest.config.ts .mocharc.cjs test/mocha.opts tsconfig.json Cargo.toml
crates/x/Cargo.toml Cargo.lock build.rs .cargo/config.toml rust-toolchain.toml go.mod go.sum pom.xml
build.gradle.kts CMakeLists.txt Makefile Dockerfile .github/workflows/ci.yml .gitlab-ci.yml
.circleci/config.yml .git/config .git/hooks/pre-commit .GIT/config tests/.git/x .gitattributes
.gitmodules requirements.txt dev-requirements.txt requirements/dev.txt redfirst.toml Jenkinsfile
.travis.yml noxfile.py Pipfile poetry.lock uv.lock Pytest.ini .babelrc .config/nextest.toml
"""
)


@pytest.mark.parametrize("path", TESTS)
def test_test_paths(path: str) -> None:
    assert by_convention(path)
    assert not is_configuration(path)


@pytest.mark.parametrize("path", SOURCE)
def test_source_paths(path: str) -> None:
    assert not by_convention(path)
    assert not is_configuration(path)


@pytest.mark.parametrize("path", CONFIGURATION)
def test_configuration(path: str) -> None:
    assert is_configuration(path)


@pytest.mark.parametrize(
    "path", ["tests/sub/conftest.py", "tests/setup_helpers.py", "tests/my.ini", "docs/conf.py"]
)
def test_no_configuration(path: str) -> None:
    assert not is_configuration(path)


FILES: Files = {
    "django/__init__.py": "",
    "django/core.py": "from django.test import client\nfrom django.test.runner import run\n",
    "django/test/__init__.py": "from django.test.case import TestCase\n",
    "django/test/client.py": "from .signals import s\n",
    "django/test/runner.py": "",
    "django/test/signals.py": "",
    "django/test/case.py": "",
    "src/shop/a.py": "from .test.data import table\nimport shop.specs\n",
    "src/shop/test/data.py": "",
    "src/shop/specs/__init__.py": "",
    "src/shop/tests/test_a.py": "import shop.tests.support\n",
    "src/shop/tests/support.py": "",
    "tests/test_a.py": "from tests.helper import h\n",
    "tests/helper.py": "",
    "tests/case.py": "def test_a():\n    assert 1\n",
    "noxfile.py": "import tests.helper\n",
    "testing/check.py": "",
    "src/lib.rs": (
        "pub fn f() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n"
        "    #[test]\n    fn a() {\n        assert!(true);\n    }\n}\n"
    ),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> PreparedBase:
    return base_of(tmp_path_factory.mktemp("policy"), FILES)


@pytest.fixture(scope="module")
def policy(base: PreparedBase) -> PathPolicy:
    return policy_for(base)


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("django/test/__init__.py", False),
        ("django/test/client.py", False),
        ("django/test/runner.py", False),
        ("django/test/case.py", False),
        ("django/test/signals.py", False),
        ("django/test/new.py", False),
        ("src/shop/test/data.py", False),
        ("src/shop/specs/__init__.py", False),
        ("src/shop/tests/support.py", True),
        ("src/shop/tests/test_a.py", True),
        ("src/shop/tests/new.py", True),
        ("tests/helper.py", True),
        ("tests/new.py", True),
        ("testing/check.py", False),
    ],
)
def test_python_that_source_imports_is_source(policy: PathPolicy, path: str, is_test: bool) -> None:
    assert policy.is_test(path) is is_test


@pytest.mark.parametrize(
    ("settings", "path", "is_test"),
    [
        ("", "testing/a.py", False),
        ('test-paths = ["testing/"]', "testing/a.py", True),
        ('test-paths = ["testing"]', "testing/sub/a.py", True),
        ('test-paths = ["testing/**"]', "testing/sub/a.py", True),
        ('test-paths = ["checks/*.py"]', "checks/a.py", True),
        ('test-paths = ["testing/"]', "mytesting/a.py", False),
        ('test-paths = ["testing/"]', "tests/a.py", True),
        ("test-paths = 3", "testing/a.py", False),
        ("test-paths = [3]", "testing/a.py", False),
        ("broken = = 1", "testing/a.py", False),
    ],
)
def test_the_projects_own_test_paths(tmp_path: Path, settings: str, path: str, is_test: bool) -> None:
    write(tmp_path, {"tree/pyproject.toml": f"[tool.redfirst]\n{settings}\n"})
    tree = tmp_path / "tree"
    base = PreparedBase(tree, "0" * 40, None, tree / ".git", tree, tmp_path / "index")
    assert policy_for(base).is_test(path) is is_test


def new_file(path: str, mode: str = "100644") -> bytes:
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\n"
    return f"{head}--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n".encode()


def renamed(old: str, new: str) -> bytes:
    head = f"diff --git a/{old} b/{new}\nsimilarity index 100%\n"
    return f"{head}rename from {old}\nrename to {new}\n".encode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (new_file("src/pkg/new.py"), "no test file"),
        (new_file("tests/../src/a.py"), "upwards"),
        (diff("../tests/a.py", "+x", at=(0, 0, 1, 1)), "upwards"),
        (b"--- /dev/null\n+++ /tests/a.py\n@@ -0,0 +1 @@\n+x\n", "absolute"),
        (b"--- /dev/null\n+++ b//tests/a.py\n@@ -0,0 +1 @@\n+x\n", "absolute"),
        (b"--- /dev/null\n+++ b/C:/tests/a.py\n@@ -0,0 +1 @@\n+x\n", "absolute"),
        (b"--- /dev/null\n+++ b/tests\\a.py\n@@ -0,0 +1 @@\n+x\n", "no plain path"),
        (new_file("tests//a.py"), "no plain path"),
        (new_file("./tests/a.py"), "no plain path"),
        (b'--- /dev/null\n+++ "b/tests/a\\nb.py"\n@@ -0,0 +1 @@\n+x\n', "no plain path"),
        (new_file("tests/.git/hooks/pre-commit"), "Git's folder"),
        (new_file(".git/config"), "Git's folder"),
        (new_file("tests/.GIT/config"), "Git's folder"),
        (new_file("tests/git~1/config"), "Git's folder"),
        (new_file("tests/a.sh", "100755"), "executable"),
        (new_file("tests/link", "120000"), "symbolic link"),
        (new_file("tests/vendor", "160000"), "submodule"),
        (b"diff --git a/tests/case.py b/tests/case.py\nold mode 100644\nnew mode 100755\n", "executable"),
        (b"diff --git a/tests/case.py b/tests/case.py\nold mode 100755\nnew mode 100644\n", "mode"),
        (new_file("tests/Case.py"), "only in case"),
        (new_file("Tests/test_new.py"), "only in case"),
        (new_file("tests/new.py") + new_file("tests/New.py"), "only in case"),
        (new_file("tests/d/new.py") + new_file("tests/D/other.py"), "only in case"),
        (new_file("conftest.py"), "configures"),
        (new_file("tests/sitecustomize.py"), "configures"),
        (new_file("tests/a.pth"), "configures"),
        (new_file("tests/setup.cfg"), "configures"),
        (new_file(".github/workflows/tests/ci.yml"), "configures"),
        (new_file("django/test/new.py"), "no test file"),
        (renamed("tests/case.py", "src/case.py"), "no test"),
        (renamed("src/shop/a.py", "tests/a.py"), "no test"),
    ],
)  # fmt: skip
def test_forbidden_by_path(policy: PathPolicy, data: bytes, words: str) -> None:
    faults = judge_test_paths(parse_patch(data), policy)
    assert any(words in fault for fault in faults), faults


@pytest.mark.parametrize(
    "path",
    [
        "tests/new.py",
        "tests/data/deep/new.csv",
        "tests/sub/conftest.py",
        "tests/é ü.py",
        "src/lib.rs",
        "test_new.py",
    ],
)
def test_allowed_by_path(policy: PathPolicy, path: str) -> None:
    assert judge_test_paths(parse_patch(new_file(path)), policy) == []


OUTSIDE = diff("src/lib.rs", "-pub fn f() -> i32 { 1 }", "+pub fn f() -> i32 { 2 }", " ", at=(1, 2, 1, 2))


def test_a_way_through_a_link_of_base(tmp_path: Path) -> None:
    write(tmp_path, {"tree/src/a.py": "", "tree/tests/test_a.py": ""})
    (tmp_path / "tree" / "tests" / "link").symlink_to("../src")
    tree = tmp_path / "tree"
    policy = policy_for(PreparedBase(tree, "0" * 40, None, tree / ".git", tree, tmp_path / "index"))
    for path in ("tests/link/test_b.py", "tests/link"):
        assert any("link" in fault for fault in judge_test_paths(parse_patch(new_file(path)), policy))


INSIDE = diff("src/lib.rs", "         assert!(true);", "+        assert!(1 > 0);", "     }", at=(7, 2, 7, 3))


@pytest.mark.parametrize(
    ("data", "forbidden"),
    [
        (INSIDE, False),
        (OUTSIDE, True),
        (new_file("src/more.rs"), True),
        (diff("tests/case.py", " def test_a():", "-    assert 1", "+    assert 2", at=(1, 2, 1, 2)), True),
        (diff("tests/case.py", " def test_a():", "     assert 1", "+    assert 2", at=(1, 2, 1, 3)), False),
        (b"--- a/tests/helper.py\n+++ b/tests/helper.py\n@@ -0,0 +1 @@\n+x = 1\n", False),
        (
            b"diff --git a/tests/helper.py b/tests/helper.py\ndeleted file mode 100644\nindex e69de29..0000000\n",
            True,
        ),
    ],
)
def test_forbidden_by_effect(base: PreparedBase, policy: PathPolicy, data: bytes, forbidden: bool) -> None:
    assert bool(judge_test_changes(apply_patch(base, data).changes, policy)) is forbidden


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (OUTSIDE, ""),
        (diff("django/core.py", "+x = 1", " from django.test import client", at=(1, 1, 1, 2)), ""),
        (new_file("django/more.py"), ""),
        (new_file("django/test/new.py"), ""),
        (new_file("run.sh", "100755"), ""),
        (INSIDE, "cfg(test)"),
        (new_file("tests/new.py"), "test path"),
        (new_file("conftest.py"), "configures"),
        (new_file("pytest.ini"), "configures"),
        (new_file("Cargo.toml"), "configures"),
        (new_file("link", "120000"), "link"),
        (b"--- a/tests/case.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-def test_a():\n-    assert 1\n", "test path"),
        (renamed("tests/case.py", "case.py"), "test path"),
    ],
)  # fmt: skip
def test_source_patches(base: PreparedBase, policy: PathPolicy, data: bytes, words: str) -> None:
    faults = judge_source_patch(parse_patch(data), apply_patch(base, data).changes, policy)
    assert any(words in fault for fault in faults) if words else not faults, faults
