# SPDX-License-Identifier: Apache-2.0
"""A strategy on many bugs: resumable, several at a time, one line of results for each."""

from __future__ import annotations

import fnmatch
import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from redfirst.bench.dataset import Dataset
from redfirst.bench.processes import Crew, StepFailed, Stopped
from redfirst.bench.record import BugResult, line_of
from redfirst.bench.results import BenchFolder
from redfirst.bench.step import Request, Step
from redfirst.core.errors import UsageError

#: Making an environment has limits of its own for each command; this ends a preparation that hangs.
PREPARE_S = 7200.0
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """``seconds``: the most that reproducing one bug may take, and that auditing it may. ``only``: patterns of ids."""

    strategy: str
    out: Path
    cache: Path
    store: Path
    sandbox: str = "bubblewrap"
    limits: tuple[str, ...] = ()
    jobs: int = 0
    seconds: float = 900.0
    only: tuple[str, ...] = ()
    retry_errors: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """One bug is finished: the how many-th of how many of this call."""

    number: int
    total: int
    result: BugResult


def default_jobs() -> int:
    """Half of the processors, at least one."""
    return max(1, (os.cpu_count() or 1) // 2)


def chosen(dataset: Dataset, only: Sequence[str]) -> tuple[str, ...]:
    """Ids that one of the patterns matches, whole or in part; all without patterns. Raises UsageError for none."""
    ids = dataset.ids()
    if not only:
        return ids
    found = tuple(name for name in ids if any(fnmatch.fnmatchcase(name, _pattern(text)) for text in only))
    if not found:
        raise UsageError(f"no bug matches {', '.join(only)}", f"there are {len(ids)}, e.g. {ids[0]}")
    return found


def run_bench(dataset: Dataset, settings: BenchSettings, tell: Callable[[Progress], None]) -> list[BugResult]:
    """Run what is not there yet; the results of all bugs asked for, in the data set's order.

    Raises UsageError before anything is run. KeyboardInterrupt leaves every finished line in place.
    """
    ids = chosen(dataset, settings.only)
    for name in ids:
        dataset.instance(name)
    folder = BenchFolder(settings.out)
    with folder.held():
        folder.settle(_facts(dataset, settings))
        done = folder.results()
        again = {name for name, item in done.items() if item.error is not None and settings.retry_errors}
        wanted = [name for name in ids if name not in done or name in again]
        _run_all(_Bench(dataset.spec, settings, folder, Crew()), wanted, tell)
        done = folder.results()
    return [done[name] for name in ids if name in done]


@dataclass(frozen=True, slots=True)
class _Bench:
    """What every bug of one call shares."""

    spec: str
    settings: BenchSettings
    folder: BenchFolder
    crew: Crew


def _run_all(bench: _Bench, wanted: Sequence[str], tell: Callable[[Progress], None]) -> None:
    jobs = bench.settings.jobs or default_jobs()
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="bug")
    pending: set[Future[BugResult]] = {pool.submit(_run_one, bench, name) for name in wanted}
    number = 0
    try:
        while pending:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                number += 1
                result = future.result()
                bench.folder.add(result)
                tell(Progress(number, len(wanted), result))
    finally:
        # after an interrupt: the bugs at work are ended and leave no line, so the next call runs them
        bench.crew.stop()
        pool.shutdown(wait=True, cancel_futures=True)


def _run_one(bench: _Bench, name: str) -> BugResult:
    """All steps of one bug; a step that gives no result makes an error's line. Raises Stopped."""
    folder = bench.folder.bug(name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    log, run = folder / "log.txt", str(folder.relative_to(bench.folder.path))
    result = BugResult(name)
    try:
        bench.crew.perform(_request(bench, name, Step.PREPARE), seconds=PREPARE_S, log=log)
        limit = bench.settings.seconds
        result = bench.crew.perform(_request(bench, name, Step.REPRODUCE), seconds=limit, log=log)
        if result.qualified:
            request = replace(_request(bench, name, Step.AUDIT), result=line_of(result))
            result = bench.crew.perform(request, seconds=limit, log=log)
    except StepFailed as failure:
        return BugResult(name, error=str(failure), run=run, seconds=result.seconds)
    return replace(result, run=run)


def _request(bench: _Bench, name: str, step: Step) -> Request:
    settings = bench.settings
    return Request(
        step=step.value,
        dataset=bench.spec,
        instance_id=name,
        strategy=settings.strategy,
        folder=str(bench.folder.bug(name).resolve()),
        cache=str(settings.cache),
        store=str(settings.store),
        sandbox=settings.sandbox,
        limits=settings.limits,
    )


def _facts(dataset: Dataset, settings: BenchSettings) -> dict[str, object]:
    """What results in one folder must have in common."""
    return {
        "schema": SCHEMA,
        "dataset": dataset.spec,
        "strategy": settings.strategy,
        "sandbox": settings.sandbox,
        "limits": list(settings.limits),
    }


def _pattern(text: str) -> str:
    return text if any(sign in text for sign in "*?[") else f"*{text}*"


__all__ = ["BenchSettings", "Progress", "Stopped", "chosen", "default_jobs", "run_bench"]
