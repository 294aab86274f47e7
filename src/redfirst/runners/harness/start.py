# SPDX-License-Identifier: Apache-2.0
"""Starts the tests under observation, as ``python start.py RUNNER -- ARGUMENTS``.

Standard input holds one line of JSON with the key and the settings; the report goes to the descriptor
named by ``REDFIRST_REPORT_FD``. Both are gone before anything of the project is loaded.
"""

from __future__ import annotations

import sys

_PACKAGE = "_redfirst_harness"


def _load(folder):
    """The modules beside this file as a package of their own, which leaves no trace in the import system."""
    import importlib
    import importlib.util

    spec = importlib.util.spec_from_file_location(
        _PACKAGE, folder + "/__init__.py", submodule_search_locations=[folder]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)
    names = ("channel", "raised", "witness", "origins", "launch")
    return {name: importlib.import_module(_PACKAGE + "." + name) for name in names}


def main():
    """Set the observers up, then hand over to the runner."""
    import json
    import os

    folder = os.path.dirname(os.path.abspath(__file__))
    settings = json.loads(sys.stdin.buffer.readline())
    sys.stdin.buffer.read()
    if sys.path and os.path.abspath(sys.path[0]) == folder:
        del sys.path[0]
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    modules = _load(folder)
    run = modules["launch"].prepare(settings, sys.argv[1], sys.argv[3:], folder, modules)
    sys.dont_write_bytecode = bytecode
    for name in [name for name in sys.modules if name.split(".")[0] == _PACKAGE]:
        del sys.modules[name]
    run()


if __name__ == "__main__":
    main()
