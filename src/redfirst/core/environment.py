# SPDX-License-Identifier: Apache-2.0
"""How the tests of one checkout run: interpreter, folders to mount, variables."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Bind:
    """A host folder or file seen inside the sandbox at ``inside``.

    Read-only, unless ``writable``: that is for building an environment, never for running tests.
    """

    host: str
    inside: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Environment:
    """A found or built environment, independent of any run.

    ``mount``: absolute path at which the workspace must be seen (where an editable install points).
    ``binds``: what must be visible beside the system's own folders, always read-only.
    ``path``: folders for PATH, first wins. ``layer``: host folder with build products (compiled
    modules, generated version files) that lie over Base in every workspace, or None.
    ``editable_roots``: absolute paths recorded by an editable install of the project itself.
    ``fingerprint``: digest over interpreter version and installed distributions.
    """

    kind: str
    python: str | None
    prefix: str | None
    mount: str
    binds: tuple[Bind, ...] = ()
    path: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    layer: str | None = None
    editable_roots: tuple[str, ...] = ()
    fingerprint: str = ""
    notes: tuple[str, ...] = field(default=())
