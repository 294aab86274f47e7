# SPDX-License-Identifier: Apache-2.0
"""A filter of system calls that reach what no namespace divides: the caller's keys, and rarely needed kernel code.

The list only denies, so that no tool breaks for a call we did not think of. Where the machine's numbers are
not known there is no filter. A test that needs one of these calls sees it refused as on a hardened host.
"""

from __future__ import annotations

import errno
import platform
import struct

_LOAD_NUMBER, _LOAD_ARCHITECTURE = 0, 4
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_FOREIGN = 0x40000000  # calls of the x32 variant, which would go round the numbers below

#: machine → (audit number of the architecture, numbers of the calls)
_MACHINES = {
    "x86_64": (
        0xC000003E,
        {
            "add_key": 248, "request_key": 249, "keyctl": 250, "bpf": 321, "perf_event_open": 298,
            "userfaultfd": 323, "open_by_handle_at": 304, "kexec_load": 246, "kexec_file_load": 320,
            "init_module": 175, "finit_module": 313, "delete_module": 176,
            "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "add_key": 217, "request_key": 218, "keyctl": 219, "bpf": 280, "perf_event_open": 241,
            "userfaultfd": 282, "open_by_handle_at": 265, "kexec_load": 104, "kexec_file_load": 294,
            "init_module": 105, "finit_module": 273, "delete_module": 106,
            "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
        },
    ),
}  # fmt: skip


def program(machine: str = platform.machine()) -> bytes | None:
    """The filter in the kernel's form; None for a machine whose numbers are not known.

    Calls that a library may probe for are "not there" (ENOSYS), which it knows how to do without; the
    others are "not permitted" (EPERM). A call of another architecture is not there either.
    """
    known = _MACHINES.get(machine)
    if known is None:
        return None
    architecture, calls = known
    absent = _ERROR | errno.ENOSYS
    steps = [
        _step(_LOAD, _LOAD_ARCHITECTURE),
        _step(_EQUAL, architecture, true=1),
        _step(_RETURN, absent),
        _step(_LOAD, _LOAD_NUMBER),
        _step(_AT_LEAST, _FOREIGN, false=1),
        _step(_RETURN, absent),
    ]
    for name, number in calls.items():
        verdict = absent if name.startswith("io_uring") else _ERROR | errno.EPERM
        steps += [_step(_EQUAL, number, false=1), _step(_RETURN, verdict)]
    return b"".join((*steps, _step(_RETURN, _ALLOW)))


def _step(code: int, value: int, *, true: int = 0, false: int = 0) -> bytes:
    """One instruction: ``true``/``false``: how many to skip next when a comparison holds or not."""
    return struct.pack("HBBI", code, true, false, value)
