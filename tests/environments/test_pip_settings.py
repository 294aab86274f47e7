# SPDX-License-Identifier: Apache-2.0
"""Keeps out: a build that ignores where the user's pip looks, or one that sees more of the user than that."""

from __future__ import annotations

from pathlib import Path

from tests.environments.checkouts import write

from redfirst.environments.pip_settings import pip_settings


def test_files_and_variables_in_their_order(tmp_path: Path) -> None:
    links, index = tmp_path / "links", tmp_path / "mirror" / "simple"
    links.mkdir()
    index.mkdir(parents=True)
    write(
        tmp_path,
        {
            "xdg/pip/pip.conf": "[global]\nindex-url = https://one.example/simple\ntimeout = 3\n",
            "home/.config/pip/pip.conf": f"[global]\nfind-links =\n    {links}\n    file://{index}\ntarget = /tmp/x\n"
            "[install]\nindex-url = https://two.example/simple\n",
        },
    )
    environ = {
        "HOME": str(tmp_path / "home"),
        "XDG_CONFIG_DIRS": str(tmp_path / "xdg"),
        "PIP_TIMEOUT": "9",
        "HTTPS_PROXY": "http://proxy.example:8080",
        "API_TOKEN": "secret",
    }
    found = pip_settings(environ)
    variables = dict(found.variables)

    assert variables["PIP_INDEX_URL"] == "https://two.example/simple"
    assert variables["PIP_TIMEOUT"] == "9"
    assert variables["PIP_FIND_LINKS"] == f"{links} file://{index}"
    assert variables["PIP_CONFIG_FILE"] == "/dev/null"
    assert variables["HTTPS_PROXY"] == "http://proxy.example:8080"
    assert not {"PIP_TARGET", "API_TOKEN", "HOME"} & set(variables)
    bound = {bind.inside for bind in found.binds}
    assert {str(links), str(index.parent)} <= bound
    assert str(tmp_path / "home") not in bound
    assert not any(bind.writable for bind in found.binds)


def test_a_named_file_is_the_strongest_file(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"mine.conf": "[global]\nno-index = true\n", "home/.pip/pip.conf": "[global]\nno-index = false\n"},
    )
    environ = {"HOME": str(tmp_path / "home"), "PIP_CONFIG_FILE": str(tmp_path / "mine.conf")}
    assert dict(pip_settings(environ).variables)["PIP_NO_INDEX"] == "true"
    assert "PIP_NO_INDEX" not in dict(pip_settings({**environ, "PIP_CONFIG_FILE": "/dev/null"}).variables)
