# SPDX-License-Identifier: Apache-2.0
"""Where the workspace must be seen, and what else must be visible, for one interpreter to work inside."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from redfirst.core.digests import digest
from redfirst.core.environment import Bind, Environment
from redfirst.environments.installed import Editable
from redfirst.environments.interpreter import Interpreter
from redfirst.environments.project import Project, normalise

FIXED_MOUNT = "/workspace"
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")

_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc",
    "/proc",
    "/dev",
    "/sys",
    "/run",
    "/boot",
)
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")


@dataclass(frozen=True, slots=True)
class Placement:
    """``own``: the editable installation of this project, if any. ``problem``: why it cannot be seen."""

    mount: str
    own: Editable | None
    problem: str = ""


def within(path: str, folder: str) -> bool:
    """Whether ``path`` is ``folder`` or below it; both normalised."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def place(interpreter: Interpreter, project: Project, repo: Path) -> Placement:
    """The mount that makes an editable installation of this project point into the workspace.

    Without one: the checkout's own path, or a fixed path where that lies in a folder that runs have to
    themselves or share with the system.
    """
    real = os.path.realpath(repo)
    for folder in (*interpreter.bases, interpreter.prefix):
        problem = _unshowable(folder, real)
        if problem:
            return Placement(FIXED_MOUNT, None, problem)
    own = _own(interpreter, project, real)
    if own is None:
        taken = any(within(real, folder) for folder in (*_SYSTEM, *_TEMPORARY)) or real == "/"
        return Placement(FIXED_MOUNT if taken else real, None)
    mount = _recorded_mount(own, real)
    if mount == "/" or any(within(mount, folder) for folder in _SYSTEM):
        return Placement(FIXED_MOUNT, own, f"its editable installation points into {mount}, a system folder")
    return Placement(mount, own)


def _unshowable(folder: str, real: str) -> str:
    """Why a folder of the interpreter cannot be shown, or ''."""
    host = os.path.realpath(folder)
    if any(within(host, item) for item in _SYSTEM):
        return ""
    if within(real, host):
        return f"the checkout lies inside of it, in {folder}"
    return "" if bindable(host) else f"it lies in {folder}, which would show a whole home folder"


def _own(interpreter: Interpreter, project: Project, real: str) -> Editable | None:
    name = normalise(project.name)
    editables = [item for item in interpreter.installed.editables if item.paths]
    named = [item for item in editables if name and item.name == name]
    here = [item for item in editables if _in_checkout(item, real, interpreter.prefix)]
    return next(iter((*named, *here)), None)


def _in_checkout(item: Editable, real: str, prefix: str) -> bool:
    """Whether it points into the checkout, other than into an environment that lies in there."""
    inside = (path for path in item.paths if within(os.path.realpath(path), real))
    return any(not within(os.path.realpath(path), os.path.realpath(prefix)) for path in inside)


def _recorded_mount(own: Editable, real: str) -> str:
    """The path of the project's top folder as the installation recorded it, spelling kept."""
    for path in own.paths:
        resolved = os.path.realpath(path)
        if within(resolved, real):
            below = os.path.relpath(resolved, real)
            if below == ".":
                return path
            return path[: -len(below) - 1] if path.endswith("/" + below) else real
    if own.root:
        return own.root
    recorded = own.imports[0]
    return os.path.dirname(recorded) if os.path.basename(recorded) == "src" else recorded


def environment_of(interpreter: Interpreter, placement: Placement, repo: Path, kind: str) -> Environment:
    """The finished value for an interpreter at its place; pure except for looking where links lead."""
    mount = placement.mount
    roots = _roots(interpreter, placement, os.path.realpath(repo))
    variables = [("LANG", "C.UTF-8"), ("PYTHONNOUSERSITE", "1")]
    if interpreter.virtual:
        variables.append(("VIRTUAL_ENV", interpreter.prefix))
    return Environment(
        kind=kind,
        python=interpreter.executable,
        prefix=interpreter.prefix if interpreter.virtual else None,
        mount=mount,
        binds=_binds(interpreter, placement, os.path.realpath(repo)),
        path=tuple(dict.fromkeys((os.path.dirname(interpreter.executable), *SYSTEM_PATH))),
        variables=tuple(variables),
        editable_roots=roots,
        fingerprint=_fingerprint(interpreter, roots),
    )


def _roots(interpreter: Interpreter, placement: Placement, real: str) -> tuple[str, ...]:
    """Folders from which editable installations import the checkout's packages, the project's own first."""
    own = placement.own
    found = [*(own.imports or own.paths)] if own else []
    for item in interpreter.installed.editables:
        for path in item.imports or item.paths:
            if within(path, placement.mount):
                found.append(path)
            elif within(os.path.realpath(path), real) and not within(path, interpreter.prefix):
                found.append(os.path.join(placement.mount, os.path.relpath(os.path.realpath(path), real)))
    return tuple(dict.fromkeys(found))


def _fingerprint(interpreter: Interpreter, roots: tuple[str, ...]) -> str:
    names = (f"{name}=={version}" for name, version in interpreter.installed.distributions)
    identity = (interpreter.version, interpreter.implementation, interpreter.platform)
    return digest(*(text.encode() for text in (*identity, *names, *roots)))


def _binds(interpreter: Interpreter, placement: Placement, real: str) -> tuple[Bind, ...]:
    wanted: dict[str, str] = {}
    for folder in (*interpreter.bases, interpreter.prefix):
        wanted.setdefault(folder, os.path.realpath(folder))
    prefix = os.path.realpath(interpreter.prefix)
    if interpreter.virtual and within(prefix, real) and prefix != real:
        wanted.setdefault(os.path.join(placement.mount, os.path.relpath(prefix, real)), prefix)
    for item in interpreter.installed.editables:
        if item == placement.own:
            continue
        for path in item.imports or item.paths:
            host = os.path.realpath(path)
            # Neither the checkout that the workspace stands for, nor a folder that holds it.
            if not within(host, real) and not within(real, host) and not within(path, placement.mount):
                wanted.setdefault(path, host)
    return tuple(Bind(host, inside) for inside, host in _outermost(wanted).items() if bindable(host))


def _outermost(wanted: dict[str, str]) -> dict[str, str]:
    """Without what another one already shows, shortest paths first so that inner ones lie on top."""
    kept: dict[str, str] = {}
    for inside in sorted(wanted, key=lambda path: (path.count("/"), path)):
        host = wanted[inside]
        shown = any(
            within(inside, outer)
            and host == os.path.normpath(os.path.join(kept[outer], os.path.relpath(inside, outer)))
            for outer in kept
        )
        if not shown and not any(within(inside, folder) for folder in _SYSTEM):
            kept[inside] = host
    return kept


def bindable(host: str) -> bool:
    """Whether a host folder may be shown: it exists, and is neither a home nor a folder that holds one."""
    home = os.path.realpath(os.path.expanduser("~"))
    whole_home = within(home, host) or os.path.dirname(host) in ("/home", "/Users")
    return host != "/" and not whole_home and os.path.exists(host)
