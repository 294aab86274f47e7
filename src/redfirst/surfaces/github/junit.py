# SPDX-License-Identifier: Apache-2.0
"""A check as a JUnit file: one case for each touched test, and one for the answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from redfirst.surfaces.github.untrusted import in_xml

if TYPE_CHECKING:
    from redfirst.gate.check.policy import Row
    from redfirst.gate.check.report import CheckReport

_FAILS = ("fail-to-fail", "pass-to-fail", "flaky")


def write_junit(report: CheckReport, path: Path) -> None:
    """Write the file. Raises OSError."""
    suite = TestSuite("redfirst check")
    for sided in report.nodes:
        seconds = sum(run.seconds for run in (*sided.base, *sided.head))
        suite.add_testcase(_case(sided.row, seconds))
    suite.add_testcase(_answer(report))
    whole = JUnitXml("redfirst")
    whole.add_testsuite(suite)
    whole.write(str(path), pretty=True)


def _case(row: Row, seconds: float) -> TestCase:
    """A touched test fails only where it fails in itself; whether it proves enough is said by the answer."""
    case = TestCase(in_xml(row.node), classname=in_xml(row.file or row.runner), time=round(seconds, 3))
    label, why = row.label.value, in_xml(row.why)
    if label in _FAILS:
        case.result = [Failure(f"{label}: {why}", label)]
    elif label == "not run":
        case.result = [Skipped(why)]
    elif label == "undecidable":
        case.result = [Error(why, label)]
    else:
        case.system_out = f"{label}: {why}"
    return case


def _answer(report: CheckReport) -> TestCase:
    decision = report.decision
    case = TestCase("the change is proven", classname="redfirst.check", time=report.seconds)
    text = in_xml("; ".join(decision.why))
    if decision.answer.value == "does not hold":
        case.result = [Failure(text, decision.answer.value)]
    elif decision.answer.value == "undecided":
        case.result = [Error(text, decision.answer.value)]
    else:
        case.system_out = text
    return case
