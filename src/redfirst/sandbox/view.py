# SPDX-License-Identifier: Apache-2.0
"""Decides what a command can see: the arguments for bubblewrap, from typed values alone."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from redfirst.core.environment import Bind
from redfirst.core.errors import SandboxError

USER = 1000
HOST_NAME = "redfirst"
PATH = "/usr/local/bin:/usr/bin:/bin"

_TOP = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_RESERVED = ("/usr", "/etc", "/proc", "/dev", *_TOP)

#: Of the host's /etc only what programs need and what holds no secret; private keys lie beside the certificates.
_ETC = (
    "/etc/alternatives",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/java*",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/python3*",
    "/etc/services",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
)

_NOBODY = 65534


@dataclass(frozen=True, slots=True)
class Places:
    """Where the private folders appear inside."""

    home: str
    temporary: str


@dataclass(frozen=True, slots=True)
class View:
    """One command's view. ``store``: the capped file system as the holder sees it; ``run``: folder in it
    with this run's ``home``, ``tmp`` and ``shm``. ``writable``: None or the only writable paths of the tree.
    """

    store: str
    run: str
    mount: str
    cwd: str
    binds: tuple[Bind, ...]
    writable: tuple[str, ...] | None
    network: bool
    status_fd: int
    filter_fd: int | None = None


def check_mount(mount: str) -> str:
    """The normalised mount path. Raises SandboxError where a workspace cannot lie."""
    path = os.path.normpath(mount)
    if not mount.startswith("/") or path == "/" or path.startswith("//") or "\0" in mount:
        raise SandboxError(f"the workspace cannot be mounted at {mount!r}", "give an absolute path below /")
    if path in _RESERVED or path.startswith(("/proc/", "/dev/")):
        raise SandboxError(f"the workspace cannot replace the system folder {path}", "choose another path")
    return path


def places(mount: str, binds: Sequence[Bind]) -> Places:
    """Home and temporary folder at their usual paths, unless the workspace itself lies there."""
    taken = {mount, *(os.path.normpath(bind.inside) for bind in binds)}

    def free(*candidates: str) -> str:
        return next(path for path in candidates if not any(_within(path, other) for other in taken))

    home = free("/home/redfirst", "/redfirst/home", "/var/redfirst/home")
    return Places(home, free("/tmp", "/redfirst/tmp", "/var/redfirst/tmp"))


def etc_files(home: str) -> dict[str, str]:
    """The few files of /etc that we write ourselves, so that no name of the host shows."""
    return {
        "passwd": (
            f"root:x:0:0:root:/root:/bin/sh\nredfirst:x:{USER}:{USER}::{home}:/bin/sh\n"
            f"nobody:x:{_NOBODY}:{_NOBODY}::/nonexistent:/bin/false\n"
        ),
        "group": f"root:x:0:\nredfirst:x:{USER}:\nnogroup:x:{_NOBODY}:\n",
        "hosts": f"127.0.0.1 localhost {HOST_NAME}\n::1 localhost ip6-localhost ip6-loopback\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
    }


def arguments(view: View) -> list[str]:
    """Everything that bubblewrap is told before the command."""
    return [
        *_system(),
        *_etc(view),
        "--proc",
        "/proc",
        *("--dev", "/dev", "--bind", f"{view.run}/shm", "/dev/shm"),
        *_private(view),
        *_room_for(view.mount),
        *_shown(view),
        # Run by root, a command is still the owner of /proc/sys, to which it needs no capability to write.
        *("--remount-ro", "/", "--remount-ro", "/dev", "--remount-ro", "/proc", *_sealed(view.mount)),
        *("--chdir", os.path.join(view.mount, view.cwd)),
        *_walls(view),
    ]


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for path in _TOP:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path).lstrip("/"), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)


def _etc(view: View) -> Iterator[str]:
    own = dict.fromkeys(etc_files(""))
    if view.network:
        for path in ("/etc/resolv.conf", "/etc/hosts"):
            if os.path.exists(path):
                own.pop(os.path.basename(path), None)
                yield from ("--ro-bind", os.path.realpath(path), path)
    for name in own:
        yield from ("--ro-bind", f"{view.store}/etc/{name}", f"/etc/{name}")
    for pattern in _ETC:
        for path in sorted(glob.glob(pattern)) if "*" in pattern else (pattern,):
            if os.path.exists(path):
                yield from ("--ro-bind", os.path.realpath(path), path)


def _private(view: View) -> Iterator[str]:
    at = places(view.mount, view.binds)
    yield from ("--bind", f"{view.run}/tmp", at.temporary)
    yield from ("--bind", f"{view.run}/home", at.home)


def _shown(view: View) -> Iterator[str]:
    """The workspace and the binds, outer ones first so that inner ones lie on top."""
    tree = f"{view.store}/tree"
    mounts: list[tuple[str, list[str]]] = [
        (view.mount, ["--bind" if view.writable is None else "--ro-bind", tree, view.mount])
    ]
    for path in view.writable or ():
        inside = os.path.normpath(os.path.join(view.mount, path))
        mounts.append((inside, ["--bind", os.path.normpath(os.path.join(tree, path)), inside]))
    for bind in view.binds:
        inside = os.path.normpath(bind.inside)
        mounts.append((inside, ["--bind" if bind.writable else "--ro-bind", bind.host, inside]))
    for _, options in sorted(mounts, key=lambda item: item[0].count("/")):
        yield from options


def _gap_parent(mount: str) -> str | None:
    """The read-only system folder in which a mount point would have to be made, if it is not there yet."""
    if not any(_within(mount, system) for system in ("/usr", *_TOP)) or os.path.isdir(mount):
        return None
    parent = os.path.dirname(mount)
    while not os.path.isdir(parent):
        parent = os.path.dirname(parent)
    return parent


def _sealed(mount: str) -> tuple[str, ...]:
    parent = _gap_parent(mount)
    return ("--remount-ro", parent) if parent else ()


def _room_for(mount: str) -> Iterator[str]:
    """Rebuild a read-only system folder around the place where the workspace must be mounted."""
    parent = _gap_parent(mount)
    if parent is None:
        return
    yield from ("--tmpfs", parent)
    for name in sorted(os.listdir(parent)):
        path = os.path.join(parent, name)
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        else:
            yield from ("--ro-bind", path, path)


def _walls(view: View) -> Iterator[str]:
    yield from ("--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-uts")
    yield "--unshare-cgroup-try"
    if not view.network:
        yield "--unshare-net"
    yield from ("--uid", str(USER), "--gid", str(USER), "--hostname", HOST_NAME, "--cap-drop", "ALL")
    yield from ("--die-with-parent", "--new-session", "--clearenv", "--json-status-fd", str(view.status_fd))
    if view.filter_fd is not None:
        yield from ("--seccomp", str(view.filter_fd))


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")
