# SPDX-License-Identifier: Apache-2.0
"""unittest's own program with a loader, runner and result that tell what happens."""

from __future__ import annotations

import importlib
import os
import random
import sys
import types
import unittest
from typing import Any

from .channel import Channel
from .raised import describe
from .sentinel import Sentinel

_Text = unittest.TextTestResult
_original = {
    name: getattr(_Text, name)
    for name in (
        "startTest",
        "stopTest",
        "addSuccess",
        "addError",
        "addFailure",
        "addSkip",
        "addExpectedFailure",
        "addUnexpectedSuccess",
        "addSubTest",
    )
}
_test_names = unittest.TestLoader().getTestCaseNames
_realpath = os.path.realpath


def run(arguments: list[str], settings: dict[str, Any], channel: Channel) -> int:
    """The exit status of ``python -m unittest ARGUMENTS``."""
    channel.send("runner", name="unittest", version=".".join(map(str, sys.version_info[:2])))
    runner = observed_runner(channel)
    watch_result(runner, channel, settings)
    if settings["collect_only"]:
        import_files(settings, channel)
        channel.send_list("available", available(settings))
        return 0
    try:
        unittest.main(
            module=None,
            argv=[sys.argv[0], *list(arguments)],
            testRunner=runner,
            testLoader=Loader(settings, channel),
        )
    except SystemExit as end:
        return int(end.code) if isinstance(end.code, (int, bool)) else int(end.code is not None)
    return 0


def identity(test: Any) -> str:
    """The dotted name of a test, whatever its own ``id`` says."""
    cls = type(test)
    method = test.__dict__.get("_testMethodName")
    if isinstance(method, str):
        return f"{cls.__module__}.{cls.__qualname__}.{method}"
    return str(test)[:1000]


def flat(suite: Any) -> list[Any]:
    if isinstance(suite, unittest.BaseTestSuite):
        return [test for part in suite for test in flat(part)]
    return [suite]


def is_placeholder(test: Any) -> bool:
    return type(test).__name__ == "_FailedTest" and type(test).__module__ == "unittest.loader"


class Loader(unittest.TestLoader):
    """Tells why a name could not be loaded, then goes on as unittest does."""

    def __init__(self, settings: dict[str, Any], channel: Channel) -> None:
        super().__init__()
        self._settings = settings
        self._channel = channel

    def loadTestsFromName(self, name: str, module: Any = None) -> Any:  # noqa: N802
        try:
            tests = super().loadTestsFromName(name, module)
        except BaseException as error:
            kind = "collect_skip" if isinstance(error, unittest.SkipTest) else "collect_error"
            record = describe(error)
            self._channel.send(kind, of=name, raised=record, text=record["message"][:500])
            raise
        if any(is_placeholder(test) for test in flat(tests)):
            self._tell_missing(name)
        return tests

    def _tell_missing(self, name: str) -> None:
        error = _import_error(name)
        if error is None:
            self._channel.send_list("not_found", [name])
        else:
            self._channel.send("collect_error", of=name, raised=describe(error))

    def loadTestsFromNames(self, names: Any, module: Any = None) -> Any:  # noqa: N802
        suite = super().loadTestsFromNames(names, module)
        tests = flat(suite)
        if self._settings["shuffle"] and len(tests) > 1:
            before = list(tests)
            random.Random(self._settings["seed"]).shuffle(tests)
            if tests == before:
                tests.reverse()
            suite = self.suiteClass(tests)
        real = [identity(test) for test in tests if not is_placeholder(test)]
        self._channel.send_list("selected", real)
        self._channel.send_list("available", available(self._settings))
        return suite


def _import_error(name: str) -> BaseException | None:
    """The error that kept a module of ``name`` from loading; None if it is only that some part is absent."""
    parts = name.split(".")
    while parts:
        try:
            importlib.import_module(".".join(parts))
        except ModuleNotFoundError as error:
            if not (error.name and (name == error.name or name.startswith(error.name + "."))):
                return error
            parts.pop()
        except ImportError as error:
            return error
        else:
            return None
    return None


def import_files(settings: dict[str, Any], channel: Channel) -> None:
    """Import the patched files under the first dotted name that leads to them."""
    for path in settings["patched"]:
        whole = _realpath(os.path.join(settings["mount"], path))
        parts = os.path.relpath(whole, _realpath(os.getcwd()))[: -len(".py")].split("/")
        parts = [part for part in parts if part != ".."]
        while parts and not _imports(".".join(parts), path, channel):
            del parts[0]


def _imports(name: str, path: str, channel: Channel) -> bool:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            return False
        channel.send("collect_error", of=path, raised=describe(error))
    except BaseException as error:
        channel.send("collect_error", of=path, raised=describe(error))
        raise
    return True


def available(settings: dict[str, Any]) -> list[str]:
    """Ids of all tests of the loaded modules whose file is among the patched."""
    files = {_realpath(os.path.join(settings["mount"], path)) for path in settings["patched"]}
    found: dict[str, None] = {}
    for module in list(sys.modules.values()):
        if not isinstance(module, types.ModuleType):
            continue
        file = module.__dict__.get("__file__")
        if not isinstance(file, str) or _realpath(file) not in files:
            continue
        for cls in list(module.__dict__.values()):
            if isinstance(cls, type) and issubclass(cls, unittest.TestCase) and _is_own(cls):
                for method in _test_names(cls):
                    found[f"{cls.__module__}.{cls.__qualname__}.{method}"] = None
    return list(found)


def _is_own(cls: type) -> bool:
    return not cls.__module__.startswith("unittest.")


class Result(unittest.TextTestResult):
    """Tells each outcome before unittest's own bookkeeping sees it."""

    channel: Channel
    sentinel: Sentinel

    def startTest(self, test: Any) -> None:  # noqa: N802
        self.sentinel.check()
        if not is_placeholder(test):
            self.channel.send("node", id=identity(test))
        _original["startTest"](self, test)

    def stopTest(self, test: Any) -> None:  # noqa: N802
        self.sentinel.check()
        if not is_placeholder(test):
            self.channel.send("finish", id=identity(test))
        _original["stopTest"](self, test)

    def addSuccess(self, test: Any) -> None:  # noqa: N802
        self._outcome_of(test, "passed", "")
        _original["addSuccess"](self, test)

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802
        self._tell(test, err)
        _original["addError"](self, test, err)

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        self._tell(test, err)
        _original["addFailure"](self, test, err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
        if err is not None:
            self._tell(test, err)
        _original["addSubTest"](self, test, subtest, err)

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
        self._outcome_of(test, "skipped", reason)
        _original["addSkip"](self, test, reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        self._outcome_of(test, "xfailed", "expected failure")
        _original["addExpectedFailure"](self, test, err)

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
        self._outcome_of(test, "xpassed", "unexpected success")
        _original["addUnexpectedSuccess"](self, test)

    def _tell(self, test: Any, err: Any) -> None:
        if is_placeholder(test):
            return
        raised = describe(err[1], err[2])
        if _is_holder(test):
            self.channel.send("holder", of=_held(test), outcome="failed", raised=raised)
        else:
            self.channel.send("raised", id=identity(_method(test)), raised=raised)

    def _outcome_of(self, test: Any, outcome: str, reason: object) -> None:
        if _is_holder(test):
            self.channel.send("holder", of=_held(test), outcome=outcome, reason=str(reason)[:500])
        else:
            name = identity(_method(test))
            self.channel.send("outcome", id=name, outcome=outcome, reason=str(reason)[:500])


def observed_runner(channel: Channel) -> Any:
    """A runner class whose results tell ``channel``."""
    result = type("Result", (Result,), {"channel": channel})
    return type("Runner", (unittest.TextTestRunner,), {"resultclass": result})


def watch_result(runner: Any, channel: Channel, settings: dict[str, Any]) -> None:
    """From now on the results of ``runner`` look at each test's bounds for functions that were replaced."""
    result = runner.resultclass
    result.sentinel = Sentinel(channel, settings["mount"], (), classes=(runner, result))


def _method(test: Any) -> Any:
    """The method's test for a subtest."""
    inner = test.__dict__.get("test_case")
    return inner if isinstance(inner, unittest.TestCase) else test


def _is_holder(test: Any) -> bool:
    return type(test).__name__ == "_ErrorHolder" and type(test).__module__ == "unittest.suite"


def _held(test: Any) -> str:
    """``setUpClass (module.Class)`` and the like."""
    return str(test.__dict__.get("description", ""))[:500]
