# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin that tells what is collected and run, with raw exceptions, for pytest 7 to 9.

Exceptions are taken from the hooks around each phase, before any report is made of them, so that a report
that says otherwise contradicts them.
"""

from __future__ import annotations

import inspect
import os
import random
import sys
from collections.abc import Generator
from typing import Any

from .channel import Channel
from .collected import every_test
from .raised import describe
from .sentinel import Sentinel

#: Options that would spread a run over processes, repeat it, leave calls or tests out or change its end, made harmless.
NEUTRAL: dict[str, Any] = {
    "numprocesses": None,
    "dist": "no",
    "tx": [],
    "looponfail": False,
    "cov_source": [],
    "randomly_reorganize": False,
    "reruns": 0,
    "maxfail": 0,
    "forked": False,
    "setuponly": False,
    "setupplan": False,
    "trace": False,
    "usepdb": False,
}

_is_coroutine, _is_asyncgen = inspect.iscoroutinefunction, inspect.isasyncgenfunction
_realpath, _relpath = os.path.realpath, os.path.relpath
_modules = sys.modules


class Observer:
    """State of one session and the events that it tells."""

    def __init__(self, settings: dict[str, Any], channel: Channel, pytest: Any) -> None:
        self._settings = settings
        self._channel = channel
        self._pytest = pytest
        self._mount = _realpath(settings["mount"])
        self._running: Any | None = None
        self._told: list[BaseException] = []
        self._collectors: list[tuple[Any, list[Any]]] = []
        self._sentinel: Sentinel | None = None

    def plugin(self) -> Hooks:
        """Tell which pytest runs; the plugin object for it."""
        self._channel.send("runner", name="pytest", version=str(self._pytest.__version__)[:100])
        hooks = hooks_of(self, self._pytest)
        self._sentinel = Sentinel(self._channel, self._mount, (self, hooks))
        return hooks

    # What happens, in the order of a session.

    def options(self, namespace: Any) -> None:
        """Make options of other plugins harmless."""
        for name, value in NEUTRAL.items():
            if name in vars(namespace):
                setattr(namespace, name, value)

    def failed_outside(self, stage: str, outcome: Any) -> None:
        """An exception that leaves a hook of start-up or of the main loop."""
        if outcome.excinfo is not None:
            self.error(stage, outcome.excinfo[1])

    def error(self, stage: str, error: BaseException) -> None:
        """Tell an exception of the session itself, once."""
        if not self._is_told(error):
            self._channel.send("session_error", stage=stage, raised=describe(_unwrapped(error)))

    def collected(self, collector: Any, outcome: Any) -> None:
        """One collector's result; keeps it to list every test of a patched file later."""
        if outcome.excinfo is not None:
            self._channel.send("collect_error", of=self.place(collector), raised=describe(outcome.excinfo[1]))
            return
        report = outcome.get_result()
        if report.outcome == "passed":
            self._collectors.append((collector, list(report.result)))
            return
        call = report.__dict__.get("call")
        error = call.excinfo.value if call is not None and call.excinfo is not None else None
        kind = "collect_skip" if report.outcome == "skipped" else "collect_error"
        raised = describe(_unwrapped(error)) if error is not None else None
        self._channel.send(kind, of=self.place(collector), raised=raised, text=str(report.longrepr)[:500])

    def arranged(self, items: list[Any]) -> None:
        """The selected items in their final order; another one where that was asked for."""
        if self._settings["shuffle"] and len(items) > 1:
            before = list(items)
            random.Random(self._settings["seed"]).shuffle(items)
            if items == before:
                items.reverse()

    def ready(self, items: list[Any]) -> None:
        """Collection is done: tell the selection and every test of the patched files."""
        self._channel.send_list("selected", [self.identity(item) for item in items])
        wanted = frozenset(self._settings["patched"])
        pairs = [(node, found) for node, found in self._collectors if self.file(node) in wanted]
        self._channel.send_list("available", every_test(self._pytest, pairs, self.identity))
        self._collectors = []

    def deselected(self, items: list[Any]) -> None:
        """Items that the project's settings or plugins took out."""
        self._channel.send_list("deselected", [self.identity(item) for item in items])

    def interrupted(self, error: BaseException) -> None:
        """The session is stopped."""
        self._channel.send("interrupt", raised=describe(error))

    def began(self, item: Any) -> None:
        """A node starts."""
        self.look()
        self._running, self._told = item, []
        function = getattr(item, "obj", None)
        self._channel.send(
            "node",
            id=self.identity(item),
            coroutine=bool(_is_coroutine(function) or _is_asyncgen(function)),
        )

    def ended(self, item: Any) -> None:
        """A node's protocol is over."""
        self.look()
        self._channel.send("finish", id=self.identity(item))
        self._running, self._told = None, []

    def raised(self, item: Any, phase: str, error: BaseException) -> None:
        """An exception of one phase of a node, told once."""
        if not self._is_told(error):
            self._channel.send("raised", id=self.identity(item), phase=phase, raised=describe(error))

    def around_phase(self, item: Any, phase: str, outcome: Any) -> None:
        """What one phase hook ended with; unittest cases keep their exceptions on the item."""
        if outcome.excinfo is not None:
            self.raised(item, phase, outcome.excinfo[1])
        for kept in item.__dict__.get("_excinfo") or ():
            self.raised(item, phase, kept.value)

    def reported(self, item: Any, call: Any, outcome: Any) -> None:
        """The report that pytest makes of one phase (or of a subtest in it)."""
        if call.excinfo is not None:
            self.raised(item, call.when, call.excinfo.value)
        if outcome.excinfo is None:
            self._phase("phase", self.identity(item), outcome.get_result())

    def logged(self, report: Any) -> None:
        """The report that pytest counts."""
        if self._running is not None:
            self._phase("logged", self.identity(self._running), report)

    def _phase(self, kind: str, identity: str, report: Any) -> None:
        longrepr = report.longrepr
        reason = longrepr[2] if isinstance(longrepr, tuple) and len(longrepr) == 3 else ""
        if isinstance(longrepr, str):
            reason = longrepr
        seconds = report.__dict__.get("duration")
        self._channel.send(
            kind,
            id=identity,
            phase=str(report.when),
            outcome=str(report.outcome),
            xfail=hasattr(report, "wasxfail"),
            reason=str(reason)[:500],
            seconds=round(seconds, 6) if isinstance(seconds, float) else 0.0,
        )

    def registered(self, plugin: Any) -> None:
        """A plugin that is registered while a node runs, or by a test module while that is loaded."""
        loading = bool(self._collectors) and not inspect.ismodule(plugin)
        if self._running is None and not loading:
            return
        module = plugin if inspect.ismodule(plugin) else _modules.get(type(plugin).__module__)
        file = vars(module).get("__file__") if inspect.ismodule(module) else None
        self._channel.send("registered", name=type(plugin).__qualname__[:200], file=str(file)[:1000])

    def finished(self, session: Any, status: Any) -> None:
        """The session's own end."""
        self.look()
        missing = [str(pair[0])[:1000] for pair in getattr(session, "_notfound", None) or ()]
        self._channel.send_list("not_found", missing)
        self._channel.send("session_end", status=int(status))

    def look(self) -> None:
        """Tell what took the place of a function that runs or reports tests."""
        if self._sentinel is not None:
            self._sentinel.check()

    # Names.

    def file(self, node: Any) -> str:
        """The checkout-relative file of a node, or its absolute path where it lies elsewhere."""
        whole = _realpath(str(getattr(node, "path", None) or getattr(node, "fspath", "")))
        return whole[len(self._mount) + 1 :] if whole.startswith(self._mount + "/") else whole

    def identity(self, item: Any) -> str:
        """The node id with the path seen from the checkout, whatever pytest's root folder is."""
        path, separator, rest = str(item.nodeid).partition("::")
        return (self.file(item) or path) + separator + rest

    def place(self, collector: Any) -> str:
        """A collector's id for people."""
        return str(collector.nodeid)[:1000]

    def _is_told(self, error: BaseException) -> bool:
        if any(known is error for known in self._told):
            return True
        self._told.append(error)
        return False


def _unwrapped(error: BaseException) -> BaseException:
    """The exception behind pytest's own wrappers of collection and conftest errors."""
    for _ in range(5):
        if type(error).__name__ not in ("CollectError", "ConftestImportFailure"):
            break
        kept = error.__dict__.get("cause")
        inner = kept if isinstance(kept, BaseException) else error.__cause__
        if inner is None:
            excinfo = error.__dict__.get("excinfo")
            inner = excinfo[1] if isinstance(excinfo, tuple) else getattr(excinfo, "value", None)
        if not isinstance(inner, BaseException):
            break
        error = inner
    return error


class Hooks:
    """The plugin: pytest's hooks handed over to an `Observer`; those that yield wrap all others."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def pytest_load_initial_conftests(self, early_config: Any) -> Generator[None, Any, None]:
        self._observer.options(early_config.known_args_namespace)
        outcome = yield
        self._observer.failed_outside("conftest", outcome)

    def pytest_cmdline_parse(self) -> Generator[None, Any, None]:
        outcome = yield
        self._observer.failed_outside("configuration", outcome)

    def pytest_cmdline_main(self, config: Any) -> Generator[None, Any, None]:
        self._observer.options(config.option)
        outcome = yield
        self._observer.failed_outside("session", outcome)

    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, None]:
        outcome = yield
        self._observer.collected(collector, outcome)

    def pytest_collection_modifyitems(self, items: Any) -> Generator[None, Any, None]:
        yield
        self._observer.arranged(items)

    def pytest_deselected(self, items: Any) -> None:
        self._observer.deselected(items)

    def pytest_collection_finish(self, session: Any) -> Generator[None, Any, None]:
        yield
        self._observer.ready(session.items)

    def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, None]:
        self._observer.began(item)
        outcome = yield
        if outcome.excinfo is None:
            self._observer.ended(item)

    def pytest_runtest_setup(self, item: Any) -> Generator[None, Any, None]:
        outcome = yield
        self._observer.around_phase(item, "setup", outcome)

    def pytest_runtest_call(self, item: Any) -> Generator[None, Any, None]:
        outcome = yield
        self._observer.around_phase(item, "call", outcome)

    def pytest_runtest_teardown(self, item: Any) -> Generator[None, Any, None]:
        outcome = yield
        self._observer.around_phase(item, "teardown", outcome)

    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
        outcome = yield
        self._observer.reported(item, call, outcome)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._observer.logged(report)

    def pytest_plugin_registered(self, plugin: Any) -> None:
        self._observer.registered(plugin)

    def pytest_internalerror(self, excinfo: Any) -> None:
        self._observer.error("internal", excinfo.value)

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self._observer.interrupted(excinfo.value)

    def pytest_sessionfinish(self, session: Any, exitstatus: Any) -> Generator[None, Any, None]:
        yield
        self._observer.finished(session, exitstatus)


def hooks_of(observer: Observer, pytest: Any) -> Hooks:
    """The plugin with every hook marked for this pytest."""
    around = pytest.hookimpl(hookwrapper=True, tryfirst=True)
    first = pytest.hookimpl(tryfirst=True)
    for name, function in vars(Hooks).items():
        if name.startswith("pytest_"):
            (around if inspect.isgeneratorfunction(function) else first)(function)
    return Hooks(observer)
