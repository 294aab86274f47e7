# SPDX-License-Identifier: Apache-2.0
"""Keeps out: tests run by an interpreter that cannot see the workspace, lacks a dependency, or is hostile."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.environments.checkouts import (
    committed,
    git,
    make_project,
    make_venv,
    pip_install,
    pretend_installed,
    write,
)

from redfirst.core.environment import Environment
from redfirst.core.errors import EnvironmentFailed, UsageError
from redfirst.core.limits import Limits
from redfirst.environments.find import candidates, environment_for, project_of
from redfirst.patches.base import PreparedBase, prepare_base
from redfirst.sandbox.protocol import FileEdit, Sandbox

Find = Callable[..., Environment]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_project(tmp_path / "repo")


def test_the_venv_in_the_checkout_with_an_editable_installation(repo: Path, find: Find) -> None:
    prefix = make_venv(repo / ".venv")
    pretend_installed(prefix, pytest="8.0")
    pip_install(prefix, "-e", str(repo))

    found = find(repo)

    assert (found.kind, found.python) == ("checkout", str(prefix / "bin" / "python"))
    assert found.mount == str(repo)
    assert found.editable_roots == (str(repo / "src"),)
    assert found.prefix == str(prefix)
    assert str(prefix) in [bind.inside for bind in found.binds]
    assert not any(bind.writable for bind in found.binds)
    assert dict(found.variables)["VIRTUAL_ENV"] == str(prefix)
    assert found.path[0] == str(prefix / "bin")


def test_an_editable_installation_of_another_checkout_decides_the_mount(tmp_path: Path, find: Find) -> None:
    first = make_project(tmp_path / "first")
    second = tmp_path / "second"
    shutil.copytree(first, second)
    prefix = make_venv(tmp_path / "env")
    pretend_installed(prefix, pytest="8.0")
    pip_install(prefix, "-e", str(first))

    found = find(second, python=str(prefix / "bin" / "python"))

    assert found.kind == "named"
    assert found.mount == str(first)
    assert found.editable_roots == (str(first / "src"),)
    assert str(first) not in [bind.inside for bind in found.binds]


def test_a_checkout_reached_through_a_link_keeps_the_recorded_spelling(repo: Path, find: Find) -> None:
    link = repo.parent / "link"
    link.symlink_to(repo)
    prefix = make_venv(repo.parent / "env")
    (next(prefix.glob("lib/*/site-packages")) / "acme.pth").write_text(f"{link}/src\n")
    pretend_installed(prefix, pytest="8.0")

    assert find(repo, python=str(prefix)).mount == str(link)


def test_a_flat_project_needs_no_installation(tmp_path: Path, find: Find) -> None:
    repo = make_project(tmp_path / "flat", package="acme_wrap")
    prefix = make_venv(repo / ".venv")
    pretend_installed(prefix, pytest="8.0")

    found = find(repo)

    assert found.kind == "checkout"
    assert found.mount == "/workspace"
    assert found.notes == ("the project is not installed in it",)
    assert ("/workspace/.venv", str(prefix)) in [(bind.inside, bind.host) for bind in found.binds]


def test_a_copy_in_site_packages_is_passed_over(repo: Path, find: Find) -> None:
    prefix = make_venv(repo / ".venv")
    pretend_installed(prefix, pytest="8.0")
    pip_install(prefix, str(repo))

    with pytest.raises(EnvironmentFailed, match="a copy of acme-wrap is installed"):
        find(repo)

    named = find(repo, python=str(prefix))
    assert named.editable_roots == ()


def test_a_missing_dependency_makes_the_active_interpreter_unsuitable(
    tmp_path: Path, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_project(tmp_path / "flat", package="acme_wrap", needs='"leftpad>=2"')
    active = make_venv(tmp_path / "active")
    pretend_installed(active, pytest="8.0")
    monkeypatch.setenv("VIRTUAL_ENV", str(active))

    with pytest.raises(EnvironmentFailed, match="leftpad is missing"):
        find(repo)

    pretend_installed(active, leftpad="1.9")
    with pytest.raises(EnvironmentFailed, match=r"leftpad 1\.9 is not >=2"):
        find(repo)

    shutil.rmtree(next(active.glob("lib/*/site-packages/leftpad-1.9.dist-info")))
    pretend_installed(active, leftpad="2.1")
    assert find(repo).kind == "active"


def test_pytest_is_asked_for_only_where_it_is_used(tmp_path: Path, find: Find) -> None:
    case = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n"
    repo = committed(write(tmp_path / "plain", {"tests/__init__.py": "", "tests/test_a.py": case}))
    prefix = make_venv(repo / ".venv")

    assert find(repo).python == str(prefix / "bin" / "python")
    assert find(repo, runner="pytest").python != str(prefix / "bin" / "python")


def test_requires_python_is_kept(tmp_path: Path, find: Find) -> None:
    repo = make_project(tmp_path / "flat", package="acme_wrap")
    text = (repo / "pyproject.toml").read_text().replace(">=3.8", ">=4")
    (repo / "pyproject.toml").write_text(text)
    git(repo, "commit", "-qam", "later")
    pretend_installed(make_venv(repo / ".venv"), pytest="8.0")

    with pytest.raises(EnvironmentFailed, match="is not >=4"):
        find(repo)


@pytest.mark.parametrize("name", ["no-such-python", "/dev/null", "./README"])
def test_a_named_interpreter_that_does_not_start_is_a_usage_error(repo: Path, find: Find, name: str) -> None:
    with pytest.raises(UsageError):
        find(repo, python=name)


def test_a_named_file_that_is_no_python_is_a_usage_error(repo: Path, find: Find) -> None:
    with pytest.raises(UsageError, match="does not start"):
        find(repo, python=shutil.which("false"))


def test_the_settings_of_the_checkout_may_name_an_interpreter(tmp_path: Path, find: Find) -> None:
    repo = make_project(tmp_path / "repo")
    prefix = make_venv(tmp_path / "elsewhere")
    with (repo / "pyproject.toml").open("a") as file:
        file.write('\n[tool.redfirst]\npython = "../elsewhere/bin/python"\n')
    git(repo, "commit", "-qam", "settings")

    assert find(repo).python == str(prefix / "bin" / "python")


def test_what_the_checkout_commits_is_never_started(tmp_path: Path, find: Find) -> None:
    repo = tmp_path / "repo"
    trap = tmp_path / "started"
    script = f"#!/bin/sh\ntouch {trap}\n"
    write(repo, {".venv/bin/python": script, ".venv/pyvenv.cfg": "home = /usr/bin\n"})
    (repo / ".venv/bin/python").chmod(0o755)
    make_project(repo)
    git(repo, "add", "-f", ".venv")
    git(repo, "commit", "-qm", "trap")

    with pytest.raises(EnvironmentFailed, match="a file of the checkout itself"):
        find(repo)
    with pytest.raises(UsageError, match="a file of the checkout itself"):
        find(repo, python=str(repo / ".venv/bin/python"))
    assert not trap.exists()


def test_a_home_folder_is_never_shown(repo: Path, find: Find, monkeypatch: pytest.MonkeyPatch) -> None:
    home = repo.parent
    monkeypatch.setenv("HOME", str(home))
    prefix = make_venv(repo / ".venv")
    pretend_installed(prefix, pytest="8.0")
    pip_install(prefix, "-e", str(repo))
    (next(prefix.glob("lib/*/site-packages")) / "home.pth").write_text(f"{home}\n")

    assert str(home) not in [bind.host for bind in find(repo).binds]


def test_an_environment_that_is_a_home_folder_is_refused(
    tmp_path: Path, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_project(tmp_path / "flat", package="acme_wrap")
    home = make_venv(tmp_path / "home")
    monkeypatch.setenv("HOME", str(home))
    with pytest.raises(EnvironmentFailed, match="a whole home folder"):
        find(repo, python=str(home))


def test_a_checkout_inside_its_environment_is_refused(tmp_path: Path, find: Find) -> None:
    prefix = make_venv(tmp_path / "env")
    repo = make_project(prefix / "work" / "flat", package="acme_wrap")
    with pytest.raises(EnvironmentFailed, match="the checkout lies inside of it"):
        find(repo, python=str(prefix))


def test_tests_see_the_workspace_and_nothing_of_the_checkout(
    repo: Path, find: Find, sandbox: Sandbox, base_of: Callable[[Path], PreparedBase]
) -> None:
    prefix = make_venv(repo / ".venv")
    pretend_installed(prefix, pytest="8.0")
    pip_install(prefix, "-e", str(repo))
    base = base_of(repo)
    write(repo, {"src/acme_wrap/later.py": ""})
    found, limits = find(repo), Limits(wall_s=60)

    script = (
        "import acme_wrap.extra as e, os, sys; print(e.__file__, sys.prefix, os.listdir('src/acme_wrap'))"
    )
    workspace = sandbox.fresh(base.tree_dir, mount=found.mount, binds=found.binds, limits=limits)
    try:
        workspace.edit([FileEdit("src/acme_wrap/extra.py", b"")])
        env = {**dict(found.variables), "PATH": ":".join(found.path), "PYTHONDONTWRITEBYTECODE": "1"}
        done = workspace.run(["python", "-c", script], env=env, limits=limits)
        changes = workspace.changes()
    finally:
        workspace.close()

    assert done.exit == 0, done.err
    assert done.out.decode().startswith(f"{repo}/src/acme_wrap/extra.py {prefix} ")
    assert b"later.py" not in done.out
    assert changes == ()


def test_an_interpreter_behind_links_is_shown_under_every_name(tmp_path: Path, find: Find) -> None:
    repo = make_project(tmp_path / "flat", package="acme_wrap")
    prefix = make_venv(repo / ".venv")
    pretend_installed(prefix, pytest="8.0")
    installation = Path(sys.executable).resolve().parents[1]
    (tmp_path / "pythons").mkdir()
    alias = tmp_path / "pythons" / "3.x"
    alias.symlink_to(installation)
    (prefix / "bin" / "python").unlink()
    (prefix / "bin" / "python").symlink_to(alias / "bin" / Path(sys.executable).resolve().name)

    seen = {bind.inside: bind.host for bind in find(repo).binds}
    assert seen[str(alias)] == str(installation)
    if not installation.is_relative_to("/usr"):
        assert seen[str(installation)] == str(installation)


def test_environments_of_tox_are_found(tmp_path: Path, find: Find) -> None:
    repo = make_project(tmp_path / "flat", package="acme_wrap")
    make_venv(repo / ".tox" / "py310")
    prefix = make_venv(repo / ".tox" / "py311")
    pretend_installed(prefix, pytest="8.0")
    assert find(repo).prefix == str(prefix)


def test_editable_installations_of_other_projects_are_shown(tmp_path: Path, find: Find) -> None:
    repo = make_project(tmp_path / "repo")
    other = write(tmp_path / "other", {"lib/thing.py": ""})
    prefix = make_venv(repo / ".venv")
    pretend_installed(prefix, pytest="8.0")
    pip_install(prefix, "-e", str(repo))
    (next(prefix.glob("lib/*/site-packages")) / "other.pth").write_text(f"{other}/lib\n")

    assert f"{other}/lib" in [bind.inside for bind in find(repo).binds]


def test_the_fingerprint_follows_what_is_installed(repo: Path, find: Find) -> None:
    prefix = make_venv(repo / ".venv")
    pretend_installed(prefix, pytest="8.0")
    pip_install(prefix, "-e", str(repo))
    before = find(repo).fingerprint
    assert find(repo).fingerprint == before

    pretend_installed(prefix, colours="1.0")
    assert find(repo).fingerprint != before


def test_a_repeated_search_starts_nothing(repo: Path, find: Find) -> None:
    prefix = make_venv(repo / ".venv")
    count = repo.parent / "count"
    counting = repo.parent / "counting-python"
    counting.write_text(f'#!/bin/sh\necho started >> {count}\nexec {prefix}/bin/python "$@"\n')
    counting.chmod(0o755)

    first = find(repo, python=str(counting))
    assert find(repo, python=str(counting)) == first
    assert count.read_text() == "started\n"


def test_every_candidate_is_told_with_its_reason(
    repo: Path, cache: Path, base_of: Callable[[Path], PreparedBase]
) -> None:
    make_venv(repo / ".venv")
    base = base_of(repo)
    looked = list(candidates(repo, base, python=None, cache=cache, project=project_of(base, cache)))

    assert looked[0].executable == str(repo / ".venv/bin/python")
    assert "pytest is not installed in it" in looked[0].against
    assert os.path.realpath(sys.executable) in [os.path.realpath(item.executable) for item in looked]


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_cargo_is_run_from_its_real_toolchain(tmp_path: Path, cache: Path, sandbox: Sandbox) -> None:
    manifest = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n'
    repo = committed(write(tmp_path / "a", {"Cargo.toml": manifest, "src/lib.rs": ""}))
    base = prepare_base(repo, None, cache / "bases")
    found = environment_for("cargo", repo, base, python=None, cache=cache, sandbox=sandbox)

    assert os.access(Path(found.path[0], "cargo"), os.X_OK)
    assert "shims" not in found.path[0]
    assert found.python is None
    assert dict(found.variables)["CARGO_NET_OFFLINE"] == "true"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_untracked_node_modules_are_shown(tmp_path: Path, cache: Path, sandbox: Sandbox) -> None:
    repo = committed(write(tmp_path / "n", {"package.json": '{"name": "n"}', "test/a.test.js": ""}))
    write(repo, {"node_modules/left/index.js": ""})
    base = prepare_base(repo, None, cache / "bases")
    found = environment_for("node", repo, base, python=None, cache=cache, sandbox=sandbox)

    assert (str(repo / "node_modules"), f"{found.mount}/node_modules") in [
        (bind.host, bind.inside) for bind in found.binds
    ]


def test_a_folder_below_the_top_of_the_checkout(repo: Path, find: Find) -> None:
    write(repo, {"tools/inner/readme": ""})
    prefix = make_venv(repo / ".venv")
    pretend_installed(prefix, pytest="8.0")
    pip_install(prefix, "-e", str(repo))
    git(repo, "add", "tools")
    git(repo, "commit", "-qm", "tools")
    assert find(repo / "tools" / "inner") == find(repo)
