# SPDX-License-Identifier: Apache-2.0
"""Makes the process look as the plain command would have made it, then runs one test framework."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from . import channel as reports
from .origins import origins
from .raised import describe
from .witness import Witness

#: Replaced modules; dropping the last reference would clear their functions' globals.
_kept: list[types.ModuleType] = []


def prepare(settings: dict[str, Any], runner: str, arguments: list[str], folder: str) -> Callable[[], None]:
    """Open the report, install the witness, and return the function that runs the tests."""
    package = __name__.rpartition(".")[0]
    fd = int(os.environ.pop("REDFIRST_REPORT_FD"))
    key = bytes.fromhex(settings.pop("key"))
    channel = reports.Channel(reports.move_high(fd), key)
    settings["mount"] = _mount(settings["cd"])
    guarded = [settings["mount"], settings.get("prefix"), folder, sys.prefix, sys.base_prefix]
    Witness(channel, guarded).install()
    kind = {"unittest": "unittest_program", "django": "django_program"}.get(runner, "pytest_session")
    adapter = importlib.import_module(package + "." + kind)

    def run() -> None:
        channel.send("start", python=".".join(map(str, sys.version_info[:3])), mount=settings["mount"])
        try:
            _disguise(runner, arguments)
            status = adapter.run(arguments, settings, channel)
        except BaseException as error:
            channel.send_list("origins", origins())
            _tell_end(channel, describe(error), error)
            raise
        channel.send_list("origins", origins())
        channel.send("end", status=status)
        sys.exit(status)

    return run


def _tell_end(channel: reports.Channel, record: dict[str, Any], error: BaseException) -> None:
    code = error.code if isinstance(error, SystemExit) else 1
    status = 0 if code is None else code if isinstance(code, int) else 1
    channel.send("end", status=status & 0xFF, raised=record)


def _mount(cd: str) -> str:
    """The checkout's root: the folder we were started in, less the command's ``cd``."""
    here = os.getcwd()
    parts = [part for part in cd.split("/") if part not in ("", ".")]
    tail = "/" + "/".join(parts)
    return here[: -len(tail)] if parts and here.endswith(tail) else here


def _disguise(runner: str, arguments: list[str]) -> None:
    """``sys.argv``, ``sys.path`` and ``__main__`` as the plain command has them."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    if runner == "django":
        program, main.__file__ = arguments[0], os.path.abspath(arguments[0])
        sys.path.insert(0, os.path.dirname(main.__file__))
    elif runner == "pytest":
        script = os.path.join(os.path.dirname(sys.executable), "pytest")
        sys.path.insert(0, os.path.dirname(script))
        program = main.__file__ = script
    else:
        sys.path.insert(0, os.getcwd())
        spec = _main_spec(runner.partition("-")[0])
        if spec is not None:
            main.__spec__, main.__file__ = spec, spec.origin
        program = os.path.basename(sys.executable) + " -m unittest"
        if runner != "unittest":
            program = spec.origin if spec is not None and spec.origin else "pytest"
    sys.argv[:] = [program, *(arguments[1:] if runner == "django" else arguments)]
    _kept.append(sys.modules["__main__"])
    sys.modules["__main__"] = main


def _main_spec(package: str) -> Any | None:
    try:
        return importlib.util.find_spec(package + ".__main__")
    except ImportError:
        return None
