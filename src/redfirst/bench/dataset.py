# SPDX-License-Identifier: Apache-2.0
"""The seam between the bench and where its bugs come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from redfirst.core.errors import UsageError
from redfirst.sandbox.protocol import Sandbox

if TYPE_CHECKING:
    from redfirst.bench.instance import Hidden, Instance


@dataclass(frozen=True, slots=True)
class Workshop:
    """What making a checkout needs. ``cache``: redfirst's cache folder; ``log`` gets lines of progress."""

    cache: Path
    sandbox: Sandbox
    log: Callable[[str], None]


class Dataset(Protocol):
    """Bugs with their hidden side. Reading ``instance`` and ``checkout`` never opens a hidden file."""

    @property
    def spec(self) -> str:
        """The text that names it, ``scheme:place``, absolute."""

    def ids(self) -> tuple[str, ...]:
        """Every instance's id, sorted. Raises UsageError where there are none."""

    def instance(self, instance_id: str) -> Instance:
        """What a strategy may see. Raises UsageError naming file and field."""

    def checkout(self, instance: Instance, workshop: Workshop) -> Path:
        """Base as a folder, kept in the cache and never written. Raises SandboxError, EnvironmentFailed."""

    def hidden(self, instance_id: str) -> Hidden:
        """What only the audit may see. Raises UsageError naming file and field."""

    def gold(self, instance: Instance, hidden: Hidden, workshop: Workshop) -> Path:
        """Base with the true fix, as a folder of its own in the cache. Raises as ``checkout``."""


def open_dataset(spec: str) -> Dataset:
    """The data set that ``scheme:place`` names. Raises UsageError."""
    scheme, sign, place = spec.partition(":")
    if scheme != "pypi-releases" or not sign or not place:
        raise UsageError(f"no data set {spec!r}", "write pypi-releases:DIR")
    from redfirst.bench.pypi_releases import PypiReleases

    return PypiReleases(Path(place))
