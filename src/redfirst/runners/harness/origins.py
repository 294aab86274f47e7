# SPDX-License-Identifier: Apache-2.0
"""From which files the modules of a process were loaded."""

from __future__ import annotations

import os
import sys
import sysconfig
import types

LIMIT = 2000

_dirname = os.path.dirname
_stdlib = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})


def origins() -> list[str]:
    """``name\\tfile`` of each top-level module outside the standard library, bounded.

    A submodule is told too where its file does not lie below its top-level package, unless it is another package's
    module under a second name: some packages offer what they depend on as if it were a part of them.
    """
    found: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        if not isinstance(module, types.ModuleType) or not isinstance(name, str):
            continue
        file = module.__dict__.get("__file__")
        if isinstance(file, str) and not _is_stdlib(file) and not _is_second_name(name, module):
            found[name] = file
    told = []
    for name, file in found.items():
        top = found.get(name.split(".")[0])
        if "." not in name or top is None or not file.startswith(_dirname(top) + "/"):
            told.append(name[:300] + "\t" + file[:1500])
    return told[:LIMIT]


def _is_second_name(name: str, module: types.ModuleType) -> bool:
    """Whether the very same module object stands below another top-level package, by the name it was loaded as."""
    own = getattr(module.__dict__.get("__spec__"), "name", None)
    if not isinstance(own, str) or "." not in name or own.split(".")[0] == name.split(".")[0]:
        return False
    return sys.modules.get(own) is module


def _is_stdlib(file: str) -> bool:
    if "site-packages" in file or "dist-packages" in file:
        return False
    return file.startswith(tuple(folder + "/" for folder in _stdlib))
