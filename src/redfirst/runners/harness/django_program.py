# SPDX-License-Identifier: Apache-2.0
"""Runs a script that starts Django's test runner, with a loader, runner and result that tell what happens.

Django's ``DiscoverRunner`` takes unittest's runner and default loader when it is defined, so both are replaced
before the script is started. Order and databases are Django's own affair; what it hands to unittest is told.
"""

from __future__ import annotations

import os
import random
import sys
import unittest
import unittest.loader
import unittest.runner
from typing import Any

from .channel import Channel
from .sentinel import Sentinel
from .unittest_program import (
    Loader,
    available,
    flat,
    identity,
    is_placeholder,
    observed_runner,
    watch_result,
)

MODULES = ("django.test.client", "django.test.runner", "django.test.testcases", "django.test.utils")
_realpath, _relpath = os.path.realpath, os.path.relpath


def run(arguments: list[str], settings: dict[str, Any], channel: Channel) -> int:
    """The exit status of ``python SCRIPT ARGUMENTS``; the script's path leads the arguments."""
    observed = _runner(settings, channel)
    watch_result(observed, channel, settings)
    unittest.TextTestRunner = unittest.runner.TextTestRunner = observed  # type: ignore[misc]
    loader = _Loader(settings, channel)
    unittest.defaultTestLoader = unittest.loader.defaultTestLoader = loader
    if settings["collect_only"]:
        sys.argv += _labels(arguments[0], settings)
    main = sys.modules["__main__"]
    with open(arguments[0], "rb") as file:
        code = compile(file.read(), str(main.__file__), "exec")
    try:
        exec(code, main.__dict__)
    except SystemExit as end:
        # an end before any test could run is told with what led to it
        if not observed.started or not isinstance(end.code, (int, type(None))):
            raise
        return int(end.code or 0)
    return 0


class _Loader(Loader):
    """Watches Django's own test classes from before the first test module is loaded."""

    def __init__(self, settings: dict[str, Any], channel: Channel) -> None:
        super().__init__(settings, channel)
        self._sentinel: Sentinel | None = None

    def loadTestsFromName(self, name: str, module: Any = None) -> Any:  # noqa: N802
        if self._sentinel is None:
            self._sentinel = Sentinel(self._channel, self._settings["mount"], (), modules=MODULES)
        return super().loadTestsFromName(name, module)

    def look(self) -> None:
        """Tell what took the place of a function of Django's test classes."""
        if self._sentinel is not None:
            self._sentinel.check()


def _runner(settings: dict[str, Any], channel: Channel) -> Any:
    """A runner class that tells what it is handed; a result class that a project asks for is not used."""
    observed = observed_runner(channel)

    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs.pop("resultclass", None)
        observed.__init__(self, *args, **kwargs)

    def run_suite(self: Any, suite: Any) -> Any:
        type(self).started = True
        django = sys.modules.get("django")
        channel.send("runner", name="django", version=str(getattr(django, "__version__", ""))[:100])
        tests = flat(suite)
        if settings["shuffle"]:
            tests = _shuffled(tests, settings["seed"])
        channel.send_list("selected", [identity(test) for test in tests if not is_placeholder(test)])
        channel.send_list("available", available(settings))
        loader = unittest.defaultTestLoader
        result = observed.run(self, unittest.TestSuite([] if settings["collect_only"] else tests))
        if isinstance(loader, _Loader):
            loader.look()
        return result

    return type("Runner", (observed,), {"__init__": begin, "run": run_suite, "started": False})


def _shuffled(tests: list[Any], seed: int) -> list[Any]:
    """Another order within each of Django's groups, the tests of a class kept together.

    Tests that roll their database back go before those that empty it: that order is part of what they mean.
    """
    source = random.Random(seed)
    groups: dict[int, dict[type, list[Any]]] = {}
    for test in tests:
        groups.setdefault(_group(test), {}).setdefault(type(test), []).append(test)
    found = []
    for number in sorted(groups):
        classes = list(groups[number].values())
        _mix(classes, source)
        for members in classes:
            _mix(members, source)
            found += members
    return found


def _mix(items: list[Any], source: random.Random) -> None:
    before = list(items)
    source.shuffle(items)
    if items == before:
        items.reverse()


def _group(test: Any) -> int:
    """Django's order: what could not be loaded, then ``TestCase``, its other test classes, all others."""
    if is_placeholder(test):
        return 0
    names = {f"{cls.__module__}.{cls.__qualname__}" for cls in type(test).__mro__}
    if "django.test.testcases.TestCase" in names:
        return 1
    return 2 if "django.test.testcases.SimpleTestCase" in names else 3


def _labels(script: str, settings: dict[str, Any]) -> list[str]:
    """The patched files as dotted modules, seen from the script's folder."""
    root = _realpath(os.path.dirname(os.path.abspath(script)))
    files = [_relpath(_realpath(os.path.join(settings["mount"], path)), root) for path in settings["patched"]]
    names = [path[: -len(".py")].removesuffix("/__init__").replace("/", ".") for path in files]
    return [name for name in names if not name.startswith(".")]
