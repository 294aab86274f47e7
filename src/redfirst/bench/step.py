# SPDX-License-Identifier: Apache-2.0
"""One step of one bug in a process of its own, so that it can be ended: a request comes in, a result goes out.

``python -m redfirst.bench.step`` reads one line of JSON. The process ends when its standard input does, so it
never outlives the bench that started it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

from redfirst.bench.record import BugResult, line_of, result_of
from redfirst.core.errors import RedfirstError


class Step(StrEnum):
    """What is done with a bug, in this order."""

    PREPARE = "prepare"
    REPRODUCE = "reproduce"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Request:
    """All that one step is told. ``result``: the line of the step before, for the audit."""

    step: str
    dataset: str
    instance_id: str
    strategy: str
    folder: str
    cache: str
    store: str
    sandbox: str
    limits: Sequence[str] = field(default=())
    result: str = ""

    def line(self) -> bytes:
        """One line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"


def perform(request: Request) -> BugResult:
    """Do it. Raises RedfirstError."""
    from redfirst.bench.audit import audit
    from redfirst.bench.dataset import open_dataset
    from redfirst.bench.reproduce import prepare, reproduce
    from redfirst.bench.session import Means
    from redfirst.core.limits import Limits

    limits = Limits().with_settings(list(request.limits))
    means = Means(Path(request.cache), Path(request.store), request.sandbox, limits, _tell)
    dataset = open_dataset(request.dataset)
    folder = Path(request.folder)
    match Step(request.step):
        case Step.PREPARE:
            prepare(dataset, request.instance_id, means)
            return BugResult(request.instance_id)
        case Step.REPRODUCE:
            return reproduce(dataset, request.instance_id, request.strategy, folder, means)
        case Step.AUDIT:
            before = result_of(json.loads(request.result), "the request")
            return audit(dataset, before, folder, means)


def main() -> int:
    """Read the request, do it, write the result's line; an error is one line on stderr and its exit code."""
    request = Request(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        result = perform(request)
    except RedfirstError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    sys.stdout.write(line_of(result) + "\n")
    return 0


def _end_with_parent() -> None:
    while os.read(0, 1 << 16):
        pass
    os.kill(os.getpid(), signal.SIGINT)


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
