# SPDX-License-Identifier: Apache-2.0
"""Notices when code of the checkout takes the place of a function that runs or reports tests.

It compares functions by identity with those that were there before anything of the project was loaded. What
a plugin from the environment replaces is its own affair; what comes from the checkout, or from text run as
code, is told. It makes forging noisy, not impossible: a test shares this process.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterator
from typing import Any

from .channel import Channel

MODULES = (
    "_pytest.main",
    "_pytest.python",
    "_pytest.reports",
    "_pytest.runner",
    "_pytest.skipping",
    "_pytest.unittest",
    "pluggy._callers",
    "pluggy._hooks",
    "pluggy._manager",
    "unittest.case",
    "unittest.result",
    "unittest.runner",
    "unittest.suite",
)
_realpath = os.path.realpath
_modules = sys.modules
_send = Channel.send


class Sentinel:
    """``mount``: the checkout. ``owned``, ``classes``: our own objects and classes, whose methods nobody may cover.

    ``modules``: the names of the modules that are watched, as far as they are loaded.
    """

    def __init__(
        self,
        channel: Channel,
        mount: str,
        owned: tuple[object, ...],
        *,
        classes: tuple[type, ...] = (),
        modules: tuple[str, ...] = MODULES,
    ) -> None:
        self._channel = channel
        self._mount = _realpath(mount) + "/"
        self._owned = (*owned, channel)
        foreign = _foreign_modules(modules, self._mount)
        holders = [*_holders(foreign), *(type(item) for item in self._owned)]
        self._watched = [
            (holder, name, value, _code(value)) for holder in holders for name, value in _members(holder)
        ]
        self._watched += [
            (cls, name, cls.__dict__.get(name), _code(cls.__dict__.get(name)))
            for cls in classes
            for name in _inherited(cls)
        ]
        self._told: set[str] = set()

    def check(self) -> None:
        """Tell every function that was replaced since, once."""
        for holder, name, value, code in self._watched:
            now = holder.__dict__.get(name)
            if now is value and _code(now) is code:
                continue
            if self._is_suspect(now):
                self._tell(f"{getattr(holder, '__name__', holder)}.{name}")
        for item in self._owned:
            for name in getattr(item, "__dict__", ()):
                if name in type(item).__dict__:
                    self._tell(f"{type(item).__name__}.{name}")

    def _is_suspect(self, value: object) -> bool:
        return any(file.startswith("<") or _realpath(file).startswith(self._mount) for file in _files(value))

    def _tell(self, name: str) -> None:
        if name not in self._told:
            self._told.add(name)
            _send(self._channel, "altered", name=name[:300])


def _foreign_modules(names: tuple[str, ...], mount: str) -> Iterator[types.ModuleType]:
    """Watched modules that are not themselves the project under test."""
    for name in names:
        module = _modules.get(name)
        if module is not None and not _realpath(str(module.__dict__.get("__file__"))).startswith(mount):
            yield module


def _holders(modules: Iterator[types.ModuleType]) -> Iterator[Any]:
    for module in modules:
        yield module
        for value in list(module.__dict__.values()):
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield value


def _members(holder: Any) -> list[tuple[str, object]]:
    return [(name, value) for name, value in list(holder.__dict__.items()) if _code(value) is not None]


def _inherited(cls: type) -> list[str]:
    """Names of all functions of a class, those of its bases included: a subclass covers them by a name of its own."""
    return [
        name for base in cls.__mro__[:-1] for name, value in base.__dict__.items() if _code(value) is not None
    ]


def _files(value: object) -> Iterator[str]:
    """Where a callable was written, and what it wraps."""
    for _ in range(10):
        code = _code(value)
        if code is None:
            module = _modules.get(type(value).__module__)
            yield getattr(module, "__dict__", {}).get("__file__") or ""
        else:
            yield code.co_filename
        inner = getattr(value, "__wrapped__", None) or getattr(value, "func", None)
        if inner is None:
            return
        value = inner


def _code(value: object) -> types.CodeType | None:
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    return value.__code__ if isinstance(value, types.FunctionType) else None
