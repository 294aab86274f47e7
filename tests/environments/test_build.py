# SPDX-License-Identifier: Apache-2.0
"""Keeps out: an environment that is half built, built twice, or that cannot see its workspace."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.environments.checkouts import committed, git, write

from redfirst.core.environment import Environment
from redfirst.core.errors import EnvironmentFailed
from redfirst.core.limits import Limits
from redfirst.environments.build import build_environment
from redfirst.environments.find import project_of
from redfirst.patches.base import PreparedBase, prepare_base
from redfirst.sandbox.protocol import Completed, Sandbox
from redfirst.sandbox.select import open_sandbox

Build = Callable[[Path], Environment]

BACKEND = '''\
"""A build back end of thirty lines: an editable wheel, and a generated version file in the tree."""
import os, zipfile

NAME = "acme_wrap-3.1.dist-info"


def _wheel(folder, files):
    name = "acme_wrap-3.1-py3-none-any.whl"
    files[NAME + "/METADATA"] = "Metadata-Version: 2.1\\nName: acme-wrap\\nVersion: 3.1\\nProvides-Extra: test\\n"
    files[NAME + "/WHEEL"] = "Wheel-Version: 1.0\\nGenerator: own\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[NAME + "/RECORD"] = "".join(f"{key},,\\n" for key in [*files, NAME + "/RECORD"])
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for key, text in files.items():
            archive.writestr(key, text)
    return name


def build_editable(folder, config_settings=None, metadata_directory=None):
    with open("acme_wrap/_version.py", "w") as file:
        file.write("version = '3.1'\\n")
    print("token", os.environ.get("SECRET_TOKEN"))
    return _wheel(folder, {"acme_wrap.pth": os.getcwd() + "\\n"})


def build_wheel(folder, config_settings=None, metadata_directory=None):
    return _wheel(folder, {})
'''
PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["tools"]

[project]
name = "acme-wrap"
version = "3.1"

[tool.hatch.build.hooks.own]
"""
TEST = """\
import unittest

from acme_wrap import version


class VersionTest(unittest.TestCase):
    def test_version(self):
        self.assertEqual(version, "3.1")
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A project that generates its version file when it is installed, tested with unittest."""
    files = {
        "pyproject.toml": PYPROJECT,
        "tools/backend.py": BACKEND,
        "acme_wrap/__init__.py": "from acme_wrap._version import version\n",
        "tests/__init__.py": "",
        "tests/test_version.py": TEST,
    }
    return committed(write(tmp_path / "repo", files))


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def build(cache: Path, sandbox: Sandbox, log: list[str], monkeypatch: pytest.MonkeyPatch) -> Build:
    """build_environment with no index at all: what is built must need nothing from one."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("SECRET_TOKEN", "hush")

    def call(repo: Path) -> Environment:
        base = prepare_base(repo, None, cache / "bases")
        return build_environment(base, project_of(base, cache), cache=cache, sandbox=sandbox, log=log.append)

    return call


def _run_inside(environment: Environment, base: PreparedBase, sandbox: Sandbox, *argv: str) -> Completed:
    layer = Path(environment.layer) if environment.layer else None
    limits = Limits(wall_s=60)
    workspace = sandbox.fresh(
        base.tree_dir, mount=environment.mount, layer=layer, binds=environment.binds, limits=limits
    )
    try:
        env = {**dict(environment.variables), "PATH": ":".join(environment.path)}
        return workspace.run([str(environment.python), *argv], env=env, limits=limits)
    finally:
        workspace.close()


def test_a_built_environment_runs_the_tests_of_a_workspace(
    repo: Path, build: Build, cache: Path, sandbox: Sandbox, log: list[str]
) -> None:
    found = build(repo)

    assert (found.kind, found.mount) == ("built", "/workspace")
    assert found.editable_roots == ("/workspace",)
    assert found.layer is not None
    assert (Path(found.layer) / "acme_wrap/_version.py").read_text() == "version = '3.1'\n"
    assert not any(bind.writable for bind in found.binds)
    assert not [value for _, value in found.variables if "hush" in value]
    base = prepare_base(repo, None, cache / "bases")
    done = _run_inside(found, base, sandbox, "-m", "unittest", "tests.test_version")
    assert done.exit == 0, done.err
    where = _run_inside(found, base, sandbox, "-I", "-c", "import acme_wrap; print(acme_wrap.__file__)")
    assert where.out == b"/workspace/acme_wrap/__init__.py\n"
    assert not (repo / "acme_wrap/_version.py").exists()

    told = len(log)
    assert build(repo) == found
    assert len(log) == told


def test_an_interrupted_build_is_made_again(repo: Path, build: Build) -> None:
    found = build(repo)
    folder = Path(str(found.prefix)).parent
    (folder / "complete.json").unlink()
    (folder / "venv" / "bin" / "python").unlink()

    assert build(repo) == found
    assert (folder / "venv" / "bin" / "python").exists()


def test_a_change_of_the_source_changes_a_generated_environment(repo: Path, build: Build) -> None:
    before = build(repo)
    write(repo, {"acme_wrap/more.py": ""})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "more")
    assert build(repo).prefix != before.prefix


def test_two_that_want_the_same_wait_for_each_other(repo: Path, build: Build, log: list[str]) -> None:
    found: list[Environment] = []
    threads = [threading.Thread(target=lambda: found.append(build(repo))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1]
    assert log.count("the environment is built") == 1


def test_a_failed_build_says_what_pip_said(repo: Path, build: Build) -> None:
    text = (repo / "pyproject.toml").read_text()
    (repo / "pyproject.toml").write_text(text + "\n[project.optional-dependencies]\ntest = []\n")
    (repo / "tools/backend.py").write_text("raise RuntimeError('no compiler')\n")
    git(repo, "commit", "-qam", "broken")

    with pytest.raises(EnvironmentFailed) as caught:
        build(repo)
    first = str(caught.value).splitlines()[0]
    assert "the environment cannot be built" in first
    assert "--python EXE" in first
    assert "no compiler" in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.slow
def test_a_project_is_built_from_the_package_index(tmp_path: Path, cache: Path) -> None:
    """Needs the network, and pip's usual settings for it."""
    pyproject = """\
[build-system]
requires = ["setuptools>=64", "setuptools_scm>=8"]
build-backend = "setuptools.build_meta"
[project]
name = "acme-wrap"
dynamic = ["version"]
dependencies = ["six"]
[project.optional-dependencies]
test = ["pytest"]
[tool.setuptools_scm]
version_file = "src/acme_wrap/_version.py"
"""
    test = "import six\nfrom acme_wrap import version\n\n\ndef test_version():\n    assert six and version == '2.5'\n"
    files = {
        "pyproject.toml": pyproject,
        "src/acme_wrap/__init__.py": "from acme_wrap._version import version\n",
        "tests/test_version.py": test,
    }
    repo = committed(write(tmp_path / "repo", files))
    subprocess.run(["git", "tag", "v2.5"], cwd=repo, check=True)
    base = prepare_base(repo, None, cache / "bases")
    sandbox = open_sandbox("bubblewrap", scratch=None)
    told: list[str] = []
    found = build_environment(base, project_of(base, cache), cache=cache, sandbox=sandbox, log=told.append)

    done = _run_inside(found, base, sandbox, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.exit == 0, done.out
    assert found.editable_roots == ("/workspace/src",)
    assert found.layer is not None
