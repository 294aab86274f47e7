# SPDX-License-Identifier: Apache-2.0
"""Starts the tests under observation, as ``python start.py RUNNER -- ARGUMENTS``.

Standard input holds one line of JSON with the key and the settings; the report goes to the descriptor
named by ``REDFIRST_REPORT_FD``. Both are gone before anything of the project is loaded.
"""

from __future__ import annotations

import sys
from types import ModuleType

_PACKAGE = "_redfirst_harness"


def _load(folder: str) -> ModuleType:
    """The launcher beside this file, in a package of its own that is later hidden from the import system."""
    import importlib
    import importlib.util

    spec = importlib.util.spec_from_file_location(
        _PACKAGE, folder + "/__init__.py", submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)
    return importlib.import_module(_PACKAGE + ".launch")


def main() -> None:
    """Set the observers up, then hand over to the runner."""
    import json
    import os
    import signal

    # a parent that ignores interrupts (a shell's background job) must not change what a test sees
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = os.path.dirname(os.path.abspath(__file__))
    settings = json.loads(sys.stdin.buffer.readline())
    sys.stdin.buffer.read()
    if sys.path and os.path.abspath(sys.path[0]) == folder:
        del sys.path[0]
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    run = _load(folder).prepare(settings, sys.argv[1], sys.argv[3:], folder)
    sys.dont_write_bytecode = bytecode
    for name in [name for name in sys.modules if name.split(".")[0] == _PACKAGE]:
        del sys.modules[name]
    run()


if __name__ == "__main__":
    main()
