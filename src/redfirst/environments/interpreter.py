# SPDX-License-Identifier: Apache-2.0
"""One candidate interpreter as it answers for itself, kept until its files change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from redfirst.environments.installed import Editable, Installed, read_installed
from redfirst.environments.records import load, record_file, save

_SCRIPT = Path(__file__).with_name("inspect_interpreter.py")
_START_S = 20


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that starts. Paths are as it reports them, links not resolved.

    ``prefix``: the folder of its virtual environment, or of the installation itself. ``bases``: folders
    of the installation that must be visible for it to start. ``markers``: environment-marker variables.
    """

    executable: str
    version: str
    implementation: str
    platform: str
    prefix: str
    virtual: bool
    bases: tuple[str, ...]
    sites: tuple[str, ...]
    markers: tuple[tuple[str, str], ...]
    installed: Installed


def find_executable(text: str, folder: Path) -> str | None:
    """An executable's absolute path: a bare name is looked up on PATH, a path is relative to ``folder``.

    A folder counts as a virtual environment. None when there is nothing to start.
    """
    if os.sep not in text and not (folder / text).is_dir():
        return shutil.which(text)
    path = os.path.abspath(os.path.join(folder, os.path.expanduser(text)))
    if os.path.isdir(path):
        path = os.path.join(path, "bin", "python")
    return path if os.path.isfile(path) and os.access(path, os.X_OK) else None


def probe(executable: str, repo: Path, cache: Path) -> Interpreter | str:
    """Ask the interpreter what it is; the reason, as text, when it does not start.

    Answers are cached on the executable, ``pyvenv.cfg`` and every site folder with its path files.
    """
    path = record_file(cache, "interpreters", executable, str(repo))
    known = load(path)
    if known is not None:
        return _interpreter(known)
    answer = _ask(executable, repo)
    if isinstance(answer, str):
        return answer
    sites = tuple(answer["sites"])
    answer["installed"] = asdict(read_installed(sites))
    answer["bases"] = _bases(answer)
    watched = [executable, answer["executable"], os.path.join(answer["prefix"], "pyvenv.cfg"), *sites]
    hooks = (os.path.join(site, name) for site in sites for name in _hooks(site))
    chosen = os.path.join(os.path.dirname(os.path.dirname(executable)), "version")  # what a shim follows
    save(path, answer, [*watched, *hooks, chosen, str(repo / ".python-version")])
    return _interpreter(answer)


def _hooks(site: str) -> list[str]:
    try:
        names = os.listdir(site)
    except OSError:
        return []
    return [name for name in names if name.endswith((".pth", ".egg-link")) or name.startswith("__editable__")]


def _ask(executable: str, repo: Path) -> dict[str, Any] | str:
    try:
        done = subprocess.run(
            [executable, "-I", "-S", str(_SCRIPT)],
            cwd=repo,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_START_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not start ({getattr(error, 'strerror', None) or 'no answer in time'})"
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    if done.returncode or not isinstance(answer, dict):
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        return f"does not start ({last[0][:200] if last else f'exit status {done.returncode}'})"
    return answer


def _bases(answer: dict[str, Any]) -> list[str]:
    """Folders of the installation under every name by which the executable reaches it."""
    found = [answer["base_prefix"], answer["base_exec_prefix"]]
    path = answer["executable"]
    for _ in range(20):
        if not answer["virtual"] or os.path.dirname(os.path.dirname(path)) != answer["prefix"]:
            found.append(os.path.dirname(os.path.dirname(path)))
        if not os.path.islink(path):
            break
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    found.append(os.path.dirname(os.path.dirname(os.path.realpath(path))))
    return list(dict.fromkeys(found))


def _interpreter(answer: dict[str, Any]) -> Interpreter:
    installed = answer["installed"]
    return Interpreter(
        executable=answer["executable"],
        version=answer["version"],
        implementation=answer["implementation"],
        platform=answer["platform"],
        prefix=answer["prefix"],
        virtual=answer["virtual"],
        bases=tuple(answer["bases"]),
        sites=tuple(answer["sites"]),
        markers=tuple(sorted(answer["markers"].items())),
        installed=Installed(
            tuple((name, version) for name, version in installed["distributions"]),
            tuple(
                Editable(item["name"], item["root"], tuple(item["imports"]))
                for item in installed["editables"]
            ),
        ),
    )
