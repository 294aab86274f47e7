# SPDX-License-Identifier: Apache-2.0
"""Traits follow from types, errno, names and frames alone, wherever in the chain they are."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from tests.runners.python_driver import FolderProject

from redfirst.core.evidence import Trait
from redfirst.runners.python_channel import Event, read_stream
from redfirst.runners.python_evidence import failure_of, is_skip, part_of_case
from redfirst.runners.python_places import calls_fork, raises_at

ROOT = Path("/checkout")
TEXT = b"""import os
def test_x():
    raise ValueError(
        "long"
    )
def test_y():
    os.fork()
    call()
"""
PROJECT = FolderProject(ROOT, None, {"tests/test_a.py": TEXT, "src/lib.py": TEXT})
TEST = ["/checkout/tests/test_a.py", 8, "test_y"]
TEST_RAISE = ["/checkout/tests/test_a.py", 4, "test_x"]
TEST_FORK = ["/checkout/tests/test_a.py", 7, "test_y"]
SOURCE = ["/checkout/src/lib.py", 8, "call"]
STDLIB = ["/usr/lib/python3.11/subprocess.py", 1, "_execute_child"]
SITE = ["/env/lib/python3.11/site-packages/other.py", 1, "call"]


class Owner(FolderProject):
    """A project whose own module is ``lib``."""

    def owns_module(self, name: str) -> bool:
        return name == "lib"


OWNER = Owner(ROOT, None, PROJECT.files)


def record(kind, *bases, frames=(TEST,), message="", chain=(), **more):
    """An exception as the harness tells it; names without a module are built in."""
    mro = [name if "." in name else f"builtins.{name}" for name in (kind, *bases)]
    plain = {"type": mro[0], "mro": mro, "message": message, "frames": list(frames), "chain": list(chain)}
    return {**plain, **more}


def traits(data):
    return failure_of(Event("raised", data), OWNER).traits


def os_error(number, name="OSError", **more):
    bases = () if name == "OSError" else ("OSError",)
    return record(name, *bases, errno=number, **more)


FAILED = ("_pytest.outcomes.OutcomeException", "BaseException")
TABLE = [
    (record("AssertionError"), {Trait.ASSERTION}),
    (record("lib.Mine", "AssertionError"), {Trait.ASSERTION}),
    (record("Failed", *FAILED), {Trait.ASSERTION}),
    (record("lib.Failed", "Exception"), set()),
    (record("doctest.DocTestFailure", "Exception"), {Trait.ASSERTION}),
    (record("ValueError", frames=[TEST_RAISE]), {Trait.RAISED_BY_TEXT}),
    (record("AssertionError", frames=[TEST_RAISE]), {Trait.ASSERTION}),
    (record("ValueError", frames=[TEST_RAISE, SITE]), set()),
    (record("UnboundLocalError", "NameError"), {Trait.NAME}),
    (record("SystemExit"), {Trait.SYSTEM_EXIT}),
    (record("KeyboardInterrupt"), {Trait.INTERRUPT}),
    (record("_pytest.outcomes.Exit", "Exception"), {Trait.INTERRUPT}),
    (record("SyntaxError", file="<string>"), {Trait.EVALUATED_SYNTAX}),
    (record("SyntaxError", file="<string>", frames=[TEST, SOURCE]), set()),
    (record("SyntaxError", file="<string>", frames=[TEST, STDLIB]), {Trait.EVALUATED_SYNTAX}),
    (record("SyntaxError", file="<string>", frames=[TEST, SITE]), set()),
    (record("SyntaxError", file="/checkout/src/lib.py", frames=[TEST, ["<frozen x>", 1, "f"]]), set()),
    (os_error(errno.ENETUNREACH), {Trait.NETWORK_DENIED}),
    (os_error(errno.EHOSTUNREACH), {Trait.NETWORK_DENIED}),
    (record("socket.gaierror", "OSError", errno=-3), {Trait.NETWORK_DENIED}),
    (os_error(errno.ECONNREFUSED, "ConnectionRefusedError"), set()),
    (record("ValueError", chain=[os_error(errno.ENETDOWN, link="context")]), {Trait.NETWORK_DENIED}),
    (os_error(errno.ENOSPC), {Trait.DISK}),
    (os_error(errno.EDQUOT), {Trait.DISK}),
    (os_error(errno.EFBIG), {Trait.FILE_SIZE}),
    (os_error(errno.EXDEV), {Trait.CROSS_DEVICE}),
    (os_error(errno.EAGAIN, "BlockingIOError"), set()),
    (os_error(errno.EAGAIN, "BlockingIOError", frames=[TEST, STDLIB]), {Trait.PROCESSES}),
    (os_error(errno.EAGAIN, "BlockingIOError", frames=[TEST_FORK]), {Trait.PROCESSES}),
    (record("RuntimeError", message="can't start new thread"), {Trait.PROCESSES}),
    (record("RuntimeError", message="so: can't start new thread"), set()),
    (record("lib.Odd", "MemoryError"), {Trait.MEMORY}),
    (record("ValueError", chain=[record("MemoryError", link="cause")]), {Trait.MEMORY}),
    (record("ModuleNotFoundError", "ImportError", name="numpy.nowhere"), {Trait.MODULE_MISSING}),
    (record("ModuleNotFoundError", "ImportError", name="lib.nowhere"), {Trait.PROJECT_NAME_MISSING}),
    (record("ImportError", name="numpy"), {Trait.MODULE_MISSING}),
    (record("ImportError"), set()),
    (record("AttributeError", owner="lib.deep"), {Trait.PROJECT_NAME_MISSING}),
    (record("AttributeError", owner="builtins"), set()),
    (record("AttributeError", owner="x", owner_file="/checkout/src/lib.py"), {Trait.PROJECT_NAME_MISSING}),
    (record("AttributeError", owner="x", owner_file="/checkout/tests/test_a.py"), set()),
    (record("AttributeError", message="module 'lib' has no attribute 'x'"), {Trait.PROJECT_NAME_MISSING}),
    (record("TypeError", message="f() got an unexpected keyword argument 'x'"), {Trait.PROJECT_NAME_MISSING}),
    (record("TypeError", message="f() got an unexpected keyword argument 'x'", frames=[TEST, SOURCE]), set()),
    (record("_pytest.fixtures.FixtureLookupError", "LookupError", fixture="mine"), {Trait.UNKNOWN_FIXTURE}),
    (
        record("_pytest.fixtures.FixtureLookupError", "LookupError", fixture="mocker"),
        {Trait.UNKNOWN_FIXTURE, Trait.PLUGIN_MISSING},
    ),
    (
        record("ExceptionGroup", "BaseExceptionGroup", chain=[record("AssertionError", link="member")]),
        {Trait.ASSERTION},
    ),
    (
        record(
            "ExceptionGroup",
            "BaseExceptionGroup",
            chain=[record("AssertionError", link="member"), os_error(errno.ENOSPC, link="member")],
        ),
        {Trait.DISK},
    ),
]


@pytest.mark.parametrize(("data", "expected"), TABLE, ids=lambda value: str(value)[:60])
def test_traits(data, expected):
    assert traits(data) == expected


def test_odd_records_are_read_without_trouble():
    odd = {"type": 1, "mro": "x", "frames": [[1, 2], ["a"], "b", [None, None, None]], "chain": {"a": 1}}
    failure = failure_of(Event("raised", odd), OWNER)
    assert (failure.type, failure.frames, failure.traits) == ("", (), frozenset())
    assert not is_skip(Event("raised", odd))
    assert part_of_case(Event("raised", odd)) is None


def test_where_a_statement_covers_a_line():
    assert [line for line in range(1, 9) if raises_at(TEXT, line)] == [3, 4, 5]
    assert [line for line in range(1, 9) if calls_fork(TEXT, line)] == [7]
    assert not raises_at(b"def x(:", 1)


@pytest.mark.parametrize("report", [b"x\n", b"0 00 {}\n", b"0 " + b"0" * 32 + b' {"e":"end"}\n', b"\n"])
def test_a_line_without_the_right_mac_is_forged(report):
    assert read_stream(report, b"key").forged


def test_a_partial_last_line_is_a_cut():
    stream = read_stream(b"0 ab", b"key")
    assert (stream.cut, stream.forged, stream.events) == (True, False, ())
