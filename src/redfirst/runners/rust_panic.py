# SPDX-License-Identifier: Apache-2.0
"""What a failed Rust test says of its panic: place, message, and the system error inside it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from redfirst.core.evidence import Trait

_NEW = re.compile(
    r"^thread '(?P<thread>.*)'(?: \(\d+\))? panicked at (?P<file>.+?):(?P<line>\d+):\d+:$", re.MULTILINE
)
_OLD = re.compile(
    r"^thread '(?P<thread>.*)' panicked at '(?P<message>.*?)', (?P<file>[^\n]+?):(?P<line>\d+):\d+$",
    re.MULTILINE | re.DOTALL,
)
_MESSAGE_END = re.compile(r"\n(?:stack backtrace:|note: |\nthread ')")
_CLAIM = re.compile(r"assertion (?:`.*` )?failed|assertion failed", re.DOTALL)
_SYSTEM_ERROR = re.compile(r'Os \{ code: (\d+), kind: \w+, message: ".*" \}', re.DOTALL)
_LOOKUP_FAILED = re.compile(r"Custom \{ kind: \w+, error: \"failed to lookup address information: ")
_NO_THREAD = "failed to spawn thread: "
_TRAITS = {
    12: Trait.MEMORY,
    27: Trait.FILE_SIZE,
    28: Trait.DISK,
    122: Trait.DISK,
    100: Trait.NETWORK_DENIED,
    101: Trait.NETWORK_DENIED,
    18: Trait.CROSS_DEVICE,
}
_EAGAIN = 11


@dataclass(frozen=True, slots=True)
class Panic:
    """The panic that ended a test: ``file`` as the compiler wrote it, 1-based ``line``."""

    thread: str
    file: str
    line: int
    message: str

    @property
    def traits(self) -> frozenset[Trait]:
        """Traits of the ``io::Error`` whose debug form the panic carries; an assertion's text counts for nothing."""
        if _CLAIM.match(self.message):
            return frozenset()
        if _LOOKUP_FAILED.search(self.message):
            return frozenset({Trait.NETWORK_DENIED})
        match = _SYSTEM_ERROR.search(self.message)
        if match is None:
            return frozenset()
        code = int(match[1])
        if code == _EAGAIN and self.message.startswith(_NO_THREAD):
            return frozenset({Trait.PROCESSES})
        return frozenset({_TRAITS[code]}) if code in _TRAITS else frozenset()


def panic_of(test: str, stdout: str) -> Panic | None:
    """The last panic of the test's own thread in its captured output, else the last of any thread."""
    panics = [_panic(match, stdout) for pattern in (_OLD, _NEW) for match in pattern.finditer(stdout)]
    own = [panic for panic in panics if panic.thread in (test, "main")]
    found = own or panics
    return found[-1] if found else None


def _panic(match: re.Match[str], stdout: str) -> Panic:
    parts = match.groupdict()
    message = parts.get("message")
    if message is None:
        rest = stdout[match.end() :].removeprefix("\n")
        end = _MESSAGE_END.search(rest)
        message = rest[: end.start()] if end else rest
    return Panic(parts["thread"], parts["file"], int(parts["line"]), message.strip())
