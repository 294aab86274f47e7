# SPDX-License-Identifier: Apache-2.0
"""Keeps out: an editable installation that is overlooked, in any of the forms that tools leave."""

from __future__ import annotations

import json
from pathlib import Path

from tests.environments.checkouts import write

from redfirst.environments.installed import Editable, read_installed


def _distribution(name: str, version: str = "1.0", **files: str) -> dict[str, str]:
    folder = f"site/{name}-{version}.dist-info"
    metadata = {f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: x\n"}
    return metadata | {f"{folder}/{key}": text for key, text in files.items()}


def _editable(tmp_path: Path, name: str, record: str) -> dict[str, str]:
    direct = json.dumps({"url": f"file://{tmp_path}/pro%20ject", "dir_info": {"editable": True}})
    return _distribution(name, **{"direct_url.json": direct, "RECORD": record})


def test_a_path_file(tmp_path: Path) -> None:
    files = _editable(tmp_path, "Acme_Wrap", "_acme.pth,,\nx/METADATA,,\n")
    files |= {"site/_acme.pth": f"{tmp_path}/pro ject/src\n", "pro ject/src/acme.py": ""}
    write(tmp_path, files)
    found = read_installed((str(tmp_path / "site"),))

    assert found.distributions == (("acme-wrap", "1.0"),)
    root = f"{tmp_path}/pro ject"
    assert found.editables == (Editable("acme-wrap", root, (f"{root}/src",)),)


def test_an_import_hook(tmp_path: Path) -> None:
    root = f"{tmp_path}/pro ject"
    hook = f"MAPPING: dict[str, str] = {{'acme': '{root}/lib/acme'}}\nraise SystemExit\n"
    record = "__editable__.acme-1.pth,,\n__editable___acme_finder.py,,\n"
    files = _editable(tmp_path, "acme", record) | {"pro ject/lib/acme/__init__.py": ""}
    files |= {
        "site/__editable___acme_finder.py": hook,
        "site/__editable__.acme-1.pth": "import os; os._exit(9)\n",
    }
    write(tmp_path, files)

    assert read_installed((str(tmp_path / "site"),)).editables == (Editable("acme", root, (f"{root}/lib",)),)


def test_a_link_of_the_older_kind(tmp_path: Path) -> None:
    files = {
        "site/acme.egg-link": f"{tmp_path}/project/src\n../",
        "site/easy-install.pth": f"{tmp_path}/project/src\n",
        "project/src/acme.egg-info/PKG-INFO": "Name: acme\nVersion: 0.3\n",
    }
    write(tmp_path, files)
    found = read_installed((str(tmp_path / "site"),))

    assert found.editables == (Editable("acme", f"{tmp_path}/project", (f"{tmp_path}/project/src",)),)
    assert found.distributions == (("acme", "0.3"),)


def test_an_ordinary_installation_is_not_editable(tmp_path: Path) -> None:
    direct = json.dumps({"url": f"file://{tmp_path}/project", "dir_info": {}})
    write(tmp_path, _distribution("acme", **{"direct_url.json": direct}) | {"site/inner/x.py": ""})
    write(tmp_path, {"site/inner.pth": "inner\nmissing\n# note\nimport sys\n"})

    assert read_installed((str(tmp_path / "site"),)).editables == ()


def test_broken_records_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, _distribution("acme", **{"direct_url.json": "[]"}) | {"site/bad.dist-info/METADATA": "x"})
    found = read_installed((str(tmp_path / "site"), "/nowhere"))
    assert (found.distributions, found.editables) == ((("acme", "1.0"),), ())
