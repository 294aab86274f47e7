# SPDX-License-Identifier: Apache-2.0
"""A sandbox is the one that was asked for, or an error; never another one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from redfirst.core.errors import SandboxError, UsageError
from redfirst.sandbox.select import PROGRAM_VARIABLE, find_bubblewrap, open_sandbox


def test_the_names() -> None:
    assert open_sandbox().name == "bubblewrap"
    assert open_sandbox("plain").name == "plain"
    for name in ("", "docker", "Plain"):
        with pytest.raises(UsageError, match="bubblewrap, plain"):
            open_sandbox(name)


def test_no_tool_is_an_error_and_not_another_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("redfirst.sandbox.select._bundled", lambda: None)
    with pytest.raises(SandboxError) as caught:
        open_sandbox()
    assert "apt install bubblewrap" in str(caught.value)
    assert "--sandbox plain" in str(caught.value)
    assert open_sandbox("plain").name == "plain"


def test_the_user_may_name_the_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = shutil.which("bwrap")
    assert real is not None
    (tmp_path / "mine").symlink_to(real)
    monkeypatch.setenv(PROGRAM_VARIABLE, str(tmp_path / "mine"))
    assert find_bubblewrap() == str(tmp_path / "mine")
    monkeypatch.setenv(PROGRAM_VARIABLE, str(tmp_path / "other"))
    with pytest.raises(SandboxError, match=PROGRAM_VARIABLE):
        open_sandbox()


def test_guarantees_name_their_means() -> None:
    ensured, none = dict(open_sandbox().guarantees()), dict(open_sandbox("plain").guarantees())
    assert set(ensured) == set(none)
    assert "none" not in ensured.values()
    assert none["network"] == none["filesystem"] == none["disk"] == "none"
    assert ensured["memory"] in ("cgroup", "watchdog")
