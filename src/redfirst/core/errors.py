# SPDX-License-Identifier: Apache-2.0
"""The tree of exceptions; what happened to a run is a verdict and never one of these.

RedfirstError (exit 3)
├── UsageError           (2)  the caller asked for something that cannot be
├── PatchError           (3)  a diff that cannot be used
│   ├── PatchMalformed        not a unified diff
│   ├── PatchConflict         does not apply exactly
│   └── PatchForbidden        touches what it may not
├── CommandRejected      (3)  a test command outside the allowed form
├── ContractInvalid      (3)  a behaviour contract against its schema
├── SandboxError         (3)  our own side failed: no tool, no room, unreadable Base
└── EnvironmentFailed    (3)  the environment of the checkout could not be found or built
"""

from __future__ import annotations


class RedfirstError(Exception):
    """An error a person can act on: ``what`` went wrong (and where), and what to do ``next``."""

    slug = "error"
    exit_code = 3

    def __init__(self, what: str, todo: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.todo = todo

    def __str__(self) -> str:
        return f"{self.what}: {self.todo}" if self.todo else self.what


class UsageError(RedfirstError):
    """The command line or the settings ask for something that cannot be."""

    slug = "usage"
    exit_code = 2


class PatchError(RedfirstError):
    """A diff that cannot be used; the subclasses say why."""

    slug = "patch"


class PatchMalformed(PatchError):
    """Empty, not a unified diff, a corrupt hunk, or binary without data."""

    slug = "patch-malformed"


class PatchConflict(PatchError):
    """The diff does not apply exactly to its Base."""

    slug = "patch-conflict"


class PatchForbidden(PatchError):
    """The diff touches something that its kind of patch may not."""

    slug = "patch-forbidden"


class CommandRejected(RedfirstError):
    """A test command that is not one allowed invocation of one known runner."""

    slug = "command-rejected"


class ContractInvalid(RedfirstError):
    """A behaviour contract that breaks its schema; ``what`` names the field."""

    slug = "contract-invalid"


class SandboxError(RedfirstError):
    """The sandbox itself failed: tool missing, no room, Base unreadable."""

    slug = "sandbox"


class EnvironmentFailed(RedfirstError):
    """The environment in which the tests run could not be found or built."""

    slug = "environment"
