# SPDX-License-Identifier: Apache-2.0
"""Run inside a sandbox by a project's interpreter: loads its whole suite, runs none of it, reports counts.

Written for every Python since 3.6; the argument is ``pytest``, ``unittest``, or ``django`` and its script.
"""

import json
import os
import sys

REPORT = int(os.environ["REDFIRST_REPORT_FD"])
SHOWN_ERRORS = 5


class PytestCounter:
    """A pytest plugin that counts what was collected and what could not be."""

    def __init__(self):  # type: ignore[no-untyped-def]
        self.tests = 0
        self.errors = []

    def pytest_collectreport(self, report):  # type: ignore[no-untyped-def]
        """A file or class that could not be collected."""
        if report.failed:
            lines = report.longreprtext.strip().splitlines()
            self.errors.append(f"{report.nodeid}: {lines[-1].strip() if lines else ''}")

    def pytest_collection_finish(self, session):  # type: ignore[no-untyped-def]
        """All that would run."""
        self.tests = len(session.items)


def with_pytest():  # type: ignore[no-untyped-def]
    """(tests, errors) as pytest started in the project's folder sees them."""
    import pytest

    counter = PytestCounter()  # type: ignore[no-untyped-call]
    options = ["--collect-only", "-q", "-p", "no:cacheprovider"]
    status = int(pytest.main(options, plugins=[counter]))
    if status not in (0, 1, 2, 5) and not counter.errors:
        counter.errors.append(f"pytest ends with status {status}")
    return counter.tests, counter.errors


def with_unittest():  # type: ignore[no-untyped-def]
    """(tests, errors) as discovery from the project's folder sees them."""
    import unittest

    return counted(unittest.TestLoader().discover("."))  # type: ignore[no-untyped-call]


def counted(suite):  # type: ignore[no-untyped-def]
    """(tests, errors) of a loaded suite."""
    import unittest

    tests, errors = 0, []
    waiting = [suite]
    while waiting:
        item = waiting.pop()
        if isinstance(item, unittest.TestSuite):
            waiting.extend(item)
        elif type(item).__name__ == "_FailedTest":
            errors.append(item.id())
        else:
            tests += 1
    return tests, errors


def with_django(script):  # type: ignore[no-untyped-def]
    """(tests, errors) as the script loads them; it is stopped before any database is made."""
    import runpy

    from django.test.runner import DiscoverRunner  # type: ignore[import-untyped, import-not-found, unused-ignore]

    found = []
    build = DiscoverRunner.build_suite

    def build_suite(self, *arguments, **options):  # type: ignore[no-untyped-def]
        found.append(counted(build(self, *arguments, **options)))  # type: ignore[no-untyped-call]
        raise SystemExit(0)

    DiscoverRunner.build_suite = build_suite
    folder, name = os.path.split(os.path.abspath(script))
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.argv = [name, *(["test"] if name == "manage.py" else []), "--noinput", "--parallel=1"]
    try:
        runpy.run_path(name, run_name="__main__")
    except SystemExit as end:
        if not found:
            return 0, [f"{name} ends with {end.code} before it looks for tests"]
    return found[0] if found else (0, [f"{name} did not look for tests"])


def main(kind, *rest):  # type: ignore[no-untyped-def]
    """Count in the way of one runner, and report."""
    if kind == "django":
        count, faults = with_django(*rest)  # type: ignore[no-untyped-call]
    else:
        sys.path.insert(0, os.getcwd())
        count, faults = with_pytest() if kind == "pytest" else with_unittest()  # type: ignore[no-untyped-call]
    text = json.dumps({"tests": count, "errors": len(faults), "first": faults[:SHOWN_ERRORS]})
    os.write(REPORT, text.encode("utf-8", "replace"))


main(*sys.argv[1:])  # type: ignore[no-untyped-call]
