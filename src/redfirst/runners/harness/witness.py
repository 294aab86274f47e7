# SPDX-License-Identifier: Apache-2.0
"""An audit hook that reports writes to guarded folders; attempts to leave the machine too.

It is installed before anything of the project is loaded and cannot be removed afterwards.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterable
from typing import Any

from .channel import Channel

WRITE_LIMIT = 200
NETWORK_LIMIT = 20

_FDS = "/proc/self/fd/"
_O_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_realpath, _dirname, _basename = os.path.realpath, os.path.dirname, os.path.basename
_join, _isabs = os.path.join, os.path.isabs
_getcwd, _fsdecode, _readlink = os.getcwd, os.fsdecode, os.readlink
_LOCAL_HOSTS = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost", "0.0.0.0", "::", "::1"})
_hostname = socket.gethostname()


class Witness:
    """Turns audit events into reports. ``guarded``: folders of which writes are told."""

    def __init__(self, channel: Channel, guarded: Iterable[str | None]) -> None:
        self._channel = channel
        self._guarded = tuple(_realpath(folder).rstrip("/") + "/" for folder in guarded if folder)
        self._writes: set[str] = set()
        self._network: set[str] = set()
        self._handlers: dict[str, Callable[[str, tuple[Any, ...]], None]] = {
            "open": self._open,
            "os.rename": self._rename,
            "os.remove": self._at_one,
            "os.rmdir": self._at_one,
            "os.chmod": self._at_two,
            "os.truncate": self._truncate,
            "os.link": self._link,
            "os.symlink": self._link,
            "socket.connect": self._connect,
            "socket.sendto": self._connect,
            "socket.getaddrinfo": self._look_up,
            "socket.gethostbyname": self._look_up,
        }

    def install(self) -> None:
        """Start watching; there is no way back."""
        handlers = self._handlers

        def hook(name: str, args: tuple[Any, ...]) -> None:
            handler = handlers.get(name)
            if handler is not None:
                handler(name, args)

        sys.addaudithook(hook)

    def _open(self, _name: str, args: tuple[Any, ...]) -> None:
        path, mode, flags = args
        if isinstance(mode, str):
            writes = any(letter in mode for letter in "wax+")
        else:
            writes = isinstance(flags, int) and bool(flags & _O_WRITE)
        if writes and not isinstance(path, int):
            self._written("open", path, None)

    def _rename(self, _name: str, args: tuple[Any, ...]) -> None:
        source, target, source_dir, target_dir = args
        if _fits_cache(source, target):
            return
        self._written("rename", source, source_dir)
        self._written("rename", target, target_dir)

    def _at_one(self, name: str, args: tuple[Any, ...]) -> None:
        self._written(name[3:], args[0], args[1])

    def _at_two(self, name: str, args: tuple[Any, ...]) -> None:
        self._written(name[3:], args[0], args[2])

    def _truncate(self, _name: str, args: tuple[Any, ...]) -> None:
        self._written("truncate", args[0], None)

    def _link(self, name: str, args: tuple[Any, ...]) -> None:
        self._written(name[3:], args[1], args[-1])

    def _written(self, what: str, path: object, folder: object) -> None:
        whole = _located(path, folder, what)
        if whole is None or not whole.startswith(self._guarded) or _is_cache(whole):
            return
        if whole.endswith(".pyc") and what not in ("open", "rename", "link", "symlink"):
            return
        if whole not in self._writes and len(self._writes) < WRITE_LIMIT:
            self._writes.add(whole)
            self._channel.offer("write", what=what, path=whole[:2000])

    def _connect(self, _name: str, args: tuple[Any, ...]) -> None:
        address = args[1]
        if isinstance(address, tuple) and address and isinstance(address[0], str):
            self._reached("connect", address[0])

    def _look_up(self, _name: str, args: tuple[Any, ...]) -> None:
        host = args[0]
        if isinstance(host, (bytes, bytearray)):
            host = bytes(host).decode("ascii", "replace")
        if isinstance(host, str):
            self._reached("look-up", host)

    def _reached(self, what: str, host: str) -> None:
        if host in _LOCAL_HOSTS or host == _hostname or host.startswith(("127.", "::ffff:127.")):
            return
        if host.endswith(".localhost") or host in self._network or len(self._network) >= NETWORK_LIMIT:
            return
        self._network.add(host)
        self._channel.offer("network", what=what, host=host[:300])


def _located(path: object, folder: object, what: str) -> str | None:
    """The real absolute path that an operation touches; the last part is not followed if it is replaced."""
    try:
        if isinstance(path, int):
            return _readlink(_FDS + str(path))
        if not isinstance(path, (str, bytes)):
            return None
        text = _fsdecode(path)
        if not _isabs(text):
            inside = isinstance(folder, int) and folder >= 0
            text = _join(_readlink(_FDS + str(folder)) if inside else _getcwd(), text)
        if what in ("open", "chmod", "truncate"):
            return _realpath(text)
        return _join(_realpath(_dirname(text)), _basename(text))
    except (OSError, ValueError):
        return None


def _fits_cache(source: object, target: object) -> bool:
    """The import system's own way: a numbered draft beside a bytecode file is moved onto it."""
    if not isinstance(source, (str, bytes)) or not isinstance(target, (str, bytes)):
        return False
    before, after = _fsdecode(source), _fsdecode(target)
    return after.endswith(".pyc") and before.startswith(after + ".") and before[len(after) + 1 :].isdigit()


def _is_cache(path: str) -> bool:
    """Caches that may be written, but for a finished bytecode file: nothing writes into one in place."""
    if path.endswith(".pyc"):
        return False
    return "/__pycache__/" in path or "/.pytest_cache" in path or path.endswith((".pyo", "/__pycache__"))
