# SPDX-License-Identifier: Apache-2.0
"""A bench run on disk: its settings, and one line for each bug that is finished."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from redfirst.agents.runs import RunFolder
from redfirst.bench.record import BugResult, line_of, result_of
from redfirst.core.errors import UsageError

RESULTS_FILE = "results.jsonl"
SETTINGS_FILE = "bench.json"
_LOCK_FILE = ".lock"


class BenchFolder:
    """The folder of one bench run. Lines are only ever added; the last one of a bug counts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other benches out. Raises UsageError where one is at work or the folder cannot be made."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / _LOCK_FILE).open("w", encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"cannot make {self.path} ({error.strerror})", "name another folder with --out"
            ) from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"another bench writes in {self.path}", "wait for it, or name another --out"
                ) from None
            yield

    def settle(self, settings: Mapping[str, object]) -> None:
        """Keep what the run depends on. Raises UsageError where the folder's results depend on something else."""
        before = self.settings()
        if before is None:
            if self.results():
                raise UsageError(f"{self.path} has results without {SETTINGS_FILE}", "name another --out")
            RunFolder(self.path).record(SETTINGS_FILE, settings)
            return
        other = [name for name, value in settings.items() if before.get(name) != value]
        if other:
            raise UsageError(
                f"{self.path} was made with another {', '.join(other)}", "name another folder with --out"
            )

    def settings(self) -> dict[str, object] | None:
        """What the run depends on, or None before its start. Raises UsageError."""
        path = self.path / SETTINGS_FILE
        try:
            value = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} cannot be read ({error})", "name another folder with --out") from None
        if not isinstance(value, dict):
            raise UsageError(f"{path} is not a JSON object", "name another folder with --out")
        return value

    def results(self) -> dict[str, BugResult]:
        """The finished bugs by id, in the order of their first line. Raises UsageError for a line that is none.

        A last line without its end was cut by a kill; it does not count.
        """
        path = self.path / RESULTS_FILE
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UsageError(f"cannot read {path} ({error.strerror})", "check the folder") from None
        found: dict[str, BugResult] = {}
        for number, line in enumerate(data.split(b"\n")[:-1], 1):
            if line.strip():
                result = _parsed(line, f"{path}:{number}")
                found[result.instance_id] = result
        return found

    def add(self, result: BugResult) -> None:
        """Append one line in one write, safe on disk when this returns."""
        path = self.path / RESULTS_FILE
        self._drop_cut_line(path)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(handle, line_of(result).encode("utf-8", "surrogatepass") + b"\n")
            os.fsync(handle)
        finally:
            os.close(handle)

    def bug(self, instance_id: str) -> Path:
        """The folder of one bug's own run."""
        return self.path / "bugs" / instance_id

    @staticmethod
    def _drop_cut_line(path: Path) -> None:
        if not path.is_file():
            return
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            os.truncate(path, whole)


def _parsed(line: bytes, where: str) -> BugResult:
    try:
        record = json.loads(line)
    except ValueError:
        raise UsageError(f"{where} is not JSON", "remove the line; its bug is run again") from None
    if not isinstance(record, dict):
        raise UsageError(f"{where} is not a JSON object", "remove the line; its bug is run again")
    return result_of(record, where)
