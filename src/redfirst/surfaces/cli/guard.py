# SPDX-License-Identifier: Apache-2.0
"""The border of every command: what may go wrong becomes one line and a stable exit code."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import ParamSpec

import typer

from redfirst.core.errors import RedfirstError
from redfirst.surfaces.cli.output import print_error

P = ParamSpec("P")
INTERRUPTED = 130
UNDECIDED = 3


def guarded(command: Callable[P, int]) -> Callable[P, None]:
    """Run a command that returns its exit code; errors are told in one line, without a traceback.

    ``REDFIRST_TRACEBACK=1`` shows the traceback of an error that is ours.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
        except RedfirstError as error:
            print_error(str(error))
            code = error.exit_code
        except KeyboardInterrupt:
            print_error("interrupted: what was finished is kept")
            code = INTERRUPTED
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            code = UNDECIDED
        except Exception as error:
            if os.environ.get("REDFIRST_TRACEBACK"):
                raise
            print_error(f"internal error: {type(error).__name__}: {error}: REDFIRST_TRACEBACK=1 shows where")
            code = UNDECIDED
        raise typer.Exit(code)

    return run
