# SPDX-License-Identifier: Apache-2.0
"""Reading what the kernel tells of processes and groups, and what an end is called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from redfirst.core.limits import Limits
from redfirst.sandbox.cgroups import _below, _mounts, _own_paths
from redfirst.sandbox.meter import parse_shared, parse_state
from redfirst.sandbox.protocol import End
from redfirst.sandbox.supervise import end_of
from redfirst.sandbox.syscall_filter import program

LINE = b"42 (a) b (c)) S 1 42 42 0 -1 0 0 0 0 0 150 50 100 0 20 0 7 0 99 1000000 25 1 1"


def test_a_state_line_with_brackets_in_the_name() -> None:
    state = parse_state(LINE)
    assert state is not None
    assert state.number == 42
    assert state.tasks == 7
    assert state.cpu_s == pytest.approx(300 / os.sysconf("SC_CLK_TCK"))
    assert state.resident == 25 * os.sysconf("SC_PAGE_SIZE")
    assert parse_state(b"") is None


def test_the_share_of_a_process() -> None:
    assert parse_shared(b"Rss: 9 kB\nPss:      7 kB\nPss_Dirty: 1 kB\n") == 7168
    assert parse_shared(b"") is None


def test_groups_of_both_versions_are_found(tmp_path: Path) -> None:
    assert _own_paths("4:cpu,cpuacct:/a:b\n0::/user.slice\n") == {
        "cpu": "/a:b", "cpuacct": "/a:b", "": "/user.slice",
    }  # fmt: skip
    text = (
        "30 20 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "31 20 0:27 /box /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
        "32 20 0:28 / /proc rw - proc proc rw\n"
    )
    assert [(version, str(point), root) for version, _, point, root in _mounts(text)] == [
        (1, "/sys/fs/cgroup/memory", "/"),
        (2, "/sys/fs/cgroup", "/box"),
    ]
    (tmp_path / "in").mkdir()
    assert _below(tmp_path, "/box", "/box/in") == tmp_path / "in"
    assert _below(tmp_path, "/box", "/other") is None


@pytest.mark.parametrize(
    ("cause", "code", "reached", "cpu_s", "expected"),
    [
        (None, 0, set(), 0.1, (End.EXITED, 0, None)),
        (None, 1, {End.MEMORY}, 0.1, (End.EXITED, 1, None)),
        (None, -11, set(), 0.1, (End.SIGNALLED, None, 11)),
        (None, -9, set(), 0.1, (End.SIGNALLED, None, 9)),
        (None, -9, {End.MEMORY}, 0.1, (End.MEMORY, None, 9)),
        (None, -9, set(), 5.1, (End.CPU, None, 9)),
        (None, -24, set(), None, (End.CPU, None, 24)),
        (None, -25, set(), 0.1, (End.FILE, None, 25)),
        (End.WALL, 0, set(), 0.1, (End.WALL, None, None)),
        (None, None, set(), None, (End.BROKEN, None, None)),
    ],
)
def test_a_death_has_the_end_of_the_limit_that_brought_it_about(
    cause: End | None, code: int | None, reached: set[End], cpu_s: float | None, expected: tuple[object, ...]
) -> None:
    assert end_of(cause, code, reached, cpu_s, Limits(cpu_s=5)) == expected


def test_a_filter_exists_where_the_numbers_are_known() -> None:
    for machine in ("x86_64", "aarch64"):
        rules = program(machine)
        assert rules is not None
        assert len(rules) % 8 == 0
    assert program("vax") is None
