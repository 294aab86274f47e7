# SPDX-License-Identifier: Apache-2.0
"""Every test of a collected pytest module, the ones that were not selected included."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any


def every_test(
    pytest: Any, reports: Sequence[tuple[Any, list[Any]]], identity: Callable[[Any], str]
) -> list[str]:
    """Ids of all items below the modules among ``reports``, (collector, children) pairs; cases included.

    A class that the session has not looked into is collected here, without running any hook of the
    session on it; one that cannot be is left out.
    """
    known = dict(reports)
    found: dict[str, None] = {}
    for collector in known:
        if isinstance(collector, pytest.File):
            _walk(pytest, collector, known, identity, found)
    return list(found)


def _walk(
    pytest: Any,
    collector: Any,
    known: dict[Any, list[Any]],
    identity: Callable[[Any], str],
    found: dict[str, None],
) -> None:
    for child in known[collector] if collector in known else _children(pytest, collector):
        if isinstance(child, pytest.Item):
            found[identity(child)] = None
        elif isinstance(child, pytest.Collector):
            _walk(pytest, child, known, identity, found)


def _children(pytest: Any, collector: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = pytest.CallInfo.from_call(lambda: list(collector.collect()), "collect")
    return call.result if call.excinfo is None else []
