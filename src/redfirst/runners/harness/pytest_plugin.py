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

from .collected import every_test

#: Options that would spread a run over processes, repeat it or change its exit status, made harmless.
NEUTRAL = {
    "numprocesses": None,
    "dist": "no",
    "tx": [],
    "looponfail": False,
    "cov_source": [],
    "randomly_reorganize": False,
    "reruns": 0,
}

_is_coroutine, _is_asyncgen = inspect.iscoroutinefunction, inspect.isasyncgenfunction
_realpath, _relpath = os.path.realpath, os.path.relpath
_modules = sys.modules


class Observer:
    """State of one session and the events that it tells."""

    def __init__(self, settings, channel, describe):
        self._settings = settings
        self._channel = channel
        self._describe = describe
        self._mount = _realpath(settings["mount"])
        self._running = None
        self._told = []
        self._collectors = []

    def version(self, text):
        """Tell which pytest runs."""
        self._channel.send("runner", name="pytest", version=str(text)[:100])

    def plugin(self, pytest):
        """The plugin object: its hooks are closures over this observer."""
        return _make_plugin(self, pytest)

    # What happens, in the order of a session.

    def options(self, namespace):
        """Make options of other plugins harmless."""
        for name, value in NEUTRAL.items():
            if name in vars(namespace):
                setattr(namespace, name, value)

    def failed_outside(self, stage, outcome):
        """An exception that leaves a hook of start-up or of the main loop."""
        if outcome.excinfo is not None:
            self.error(stage, outcome.excinfo[1])

    def error(self, stage, error):
        """Tell an exception of the session itself, once."""
        if not self._is_told(error):
            self._channel.send("session_error", stage=stage, raised=self._describe(_unwrapped(error)))

    def collected(self, collector, outcome):
        """One collector's result; keeps it to list every test of a patched file later."""
        if outcome.excinfo is not None:
            self._channel.send(
                "collect_error", of=self.place(collector), raised=self._describe(outcome.excinfo[1])
            )
            return
        report = outcome.get_result()
        if report.outcome == "passed":
            self._collectors.append((collector, list(report.result)))
            return
        call = report.__dict__.get("call")
        error = call.excinfo.value if call is not None and call.excinfo is not None else None
        kind = "collect_skip" if report.outcome == "skipped" else "collect_error"
        raised = self._describe(_unwrapped(error)) if error is not None else None
        self._channel.send(kind, of=self.place(collector), raised=raised, text=str(report.longrepr)[:500])

    def arranged(self, items):
        """The selected items in their final order; another one where that was asked for."""
        if self._settings["shuffle"] and len(items) > 1:
            before = list(items)
            random.Random(self._settings["seed"]).shuffle(items)
            if items == before:
                items.reverse()

    def ready(self, pytest, items):
        """Collection is done: tell the selection and every test of the patched files."""
        self._channel.send_list("selected", [self.identity(item) for item in items])
        wanted = frozenset(self._settings["patched"])
        pairs = [(node, found) for node, found in self._collectors if self.file(node) in wanted]
        self._channel.send_list("available", every_test(pytest, pairs, self.identity))
        self._collectors = []

    def began(self, item):
        """A node starts."""
        self._running, self._told = item, []
        function = getattr(item, "obj", None)
        self._channel.send(
            "node",
            id=self.identity(item),
            coroutine=bool(_is_coroutine(function) or _is_asyncgen(function)),
        )

    def ended(self, item):
        """A node's protocol is over."""
        self._channel.send("finish", id=self.identity(item))
        self._running, self._told = None, []

    def raised(self, item, phase, error):
        """An exception of one phase of a node, told once."""
        if not self._is_told(error):
            self._channel.send("raised", id=self.identity(item), phase=phase, raised=self._describe(error))

    def around_phase(self, item, phase, outcome):
        """What one phase hook ended with; unittest cases keep their exceptions on the item."""
        if outcome.excinfo is not None:
            self.raised(item, phase, outcome.excinfo[1])
        for kept in item.__dict__.get("_excinfo") or ():
            self.raised(item, phase, kept.value)

    def reported(self, item, call, outcome):
        """The report that pytest makes of one phase (or of a subtest in it)."""
        if call.excinfo is not None:
            self.raised(item, call.when, call.excinfo.value)
        if outcome.excinfo is None:
            self._phase("phase", self.identity(item), outcome.get_result())

    def logged(self, report):
        """The report that pytest counts."""
        if self._running is not None:
            self._phase("logged", self.identity(self._running), report)

    def _phase(self, kind, identity, report):
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

    def registered(self, plugin):
        """A plugin that is registered while a node runs."""
        if self._running is None:
            return
        module = plugin if inspect.ismodule(plugin) else _modules.get(type(plugin).__module__)
        file = module.__dict__.get("__file__") if inspect.ismodule(module) else None
        self._channel.send("registered", name=type(plugin).__qualname__[:200], file=str(file)[:1000])

    def finished(self, session, status):
        """The session's own end."""
        missing = [str(pair[0])[:1000] for pair in getattr(session, "_notfound", None) or ()]
        self._channel.send_list("not_found", missing)
        self._channel.send("session_end", status=int(status))

    # Names.

    def file(self, node):
        """The checkout-relative file of a node, or its absolute path where it lies elsewhere."""
        whole = _realpath(str(getattr(node, "path", None) or getattr(node, "fspath", "")))
        return whole[len(self._mount) + 1 :] if whole.startswith(self._mount + "/") else whole

    def identity(self, item):
        """The node id with the path seen from the checkout, whatever pytest's root folder is."""
        path, separator, rest = item.nodeid.partition("::")
        return (self.file(item) or path) + separator + rest

    def place(self, collector):
        """A collector's id for people."""
        return str(collector.nodeid)[:1000]

    def _is_told(self, error):
        if any(known is error for known in self._told):
            return True
        self._told.append(error)
        return False


def _unwrapped(error):
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


def _make_plugin(observer, pytest):
    """A plugin class whose hooks hand over to ``observer``, always as the outermost wrapper."""
    around = pytest.hookimpl(hookwrapper=True, tryfirst=True)
    first = pytest.hookimpl(tryfirst=True)

    class Plugin:
        @around
        def pytest_load_initial_conftests(self, early_config):
            observer.options(early_config.known_args_namespace)
            outcome = yield
            observer.failed_outside("conftest", outcome)

        @around
        def pytest_cmdline_parse(self):
            outcome = yield
            observer.failed_outside("configuration", outcome)

        @around
        def pytest_cmdline_main(self, config):
            observer.options(config.option)
            outcome = yield
            observer.failed_outside("session", outcome)

        @around
        def pytest_make_collect_report(self, collector):
            outcome = yield
            observer.collected(collector, outcome)

        @around
        def pytest_collection_modifyitems(self, items):
            yield
            observer.arranged(items)

        @first
        def pytest_deselected(self, items):
            observer._channel.send_list("deselected", [observer.identity(item) for item in items])

        @around
        def pytest_collection_finish(self, session):
            yield
            observer.ready(pytest, session.items)

        @around
        def pytest_runtest_protocol(self, item):
            observer.began(item)
            outcome = yield
            if outcome.excinfo is None:
                observer.ended(item)

        @around
        def pytest_runtest_setup(self, item):
            outcome = yield
            observer.around_phase(item, "setup", outcome)

        @around
        def pytest_runtest_call(self, item):
            outcome = yield
            observer.around_phase(item, "call", outcome)

        @around
        def pytest_runtest_teardown(self, item):
            outcome = yield
            observer.around_phase(item, "teardown", outcome)

        @around
        def pytest_runtest_makereport(self, item, call):
            outcome = yield
            observer.reported(item, call, outcome)

        @first
        def pytest_runtest_logreport(self, report):
            observer.logged(report)

        @first
        def pytest_plugin_registered(self, plugin):
            observer.registered(plugin)

        @first
        def pytest_internalerror(self, excinfo):
            observer.error("internal", excinfo.value)

        @first
        def pytest_keyboard_interrupt(self, excinfo):
            observer._channel.send("interrupt", raised=observer._describe(excinfo.value))

        @around
        def pytest_sessionfinish(self, session, exitstatus):
            yield
            observer.finished(session, exitstatus)

    return Plugin()
