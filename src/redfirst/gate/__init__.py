# SPDX-License-Identifier: Apache-2.0
"""The kernel: bind, run, classify, qualify, freeze."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from redfirst.gate.bundles import FrozenBundle, freeze, load_bundle, save_bundle
    from redfirst.gate.session import GateSession, GateSettings, Qualified

_HOMES = {
    "FrozenBundle": "bundles",
    "GateSession": "session",
    "GateSettings": "session",
    "Qualified": "session",
    "freeze": "bundles",
    "load_bundle": "bundles",
    "save_bundle": "bundles",
}

__all__ = [
    "FrozenBundle",
    "GateSession",
    "GateSettings",
    "Qualified",
    "freeze",
    "load_bundle",
    "save_bundle",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
