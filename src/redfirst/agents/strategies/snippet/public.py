# SPDX-License-Identifier: Apache-2.0
"""Finds how people import a name that the report leaves undefined, and which full names mean the same object."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from redfirst.agents.strategies.snippet.findings import Finding, Kind
from redfirst.agents.strategies.snippet.probe import Observed, Prober, Seen

_SEARCH = """
def _redfirst_public(lines, names):
    import json, sys

    def home(module, name, wanted):
        top = module.partition(".")[0]
        places = [
            place
            for place, holder in list(sys.modules.items())
            if (place == top or place.startswith(top + "."))
            and "._" not in "." + place
            and getattr(holder, "__dict__", {}).get(name) is wanted
        ]
        return min(places, key=lambda place: (place.count("."), len(place), place), default=module)

    found = {}
    for line, module, name in lines:
        wanted = getattr(sys.modules.get(module), name, None)
        if wanted is not None:
            found[line] = "from " + home(module, name, wanted) + " import " + name
    for name in names:
        wanted = globals().get(name)
        module = getattr(wanted, "__module__", "builtins")
        if isinstance(wanted, type) and module not in ("builtins", "__main__"):
            found[name] = "from " + home(module, name, wanted) + " import " + name
    return json.dumps(found)
"""

_IS = """
def _redfirst_is(one, other):
    import importlib

    def found(path):
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)

    return found(one) is found(other)
"""


@dataclass(frozen=True, slots=True)
class Introduced:
    """``seen``: what the steps did, with better import lines. ``exceptions``: wanted exception → its import lines."""

    seen: tuple[Seen, ...]
    exceptions: dict[str, tuple[str, ...]] = field(default_factory=dict)


def introduce(
    prober: Prober, codes: Sequence[str], observed: Observed, asserted: Sequence[Finding]
) -> Introduced:
    """Look up supplied imports and wanted exceptions; at most one run. An exception that is missing is unknown."""
    wanted = list(dict.fromkeys(f.exception for f in asserted if f.kind is Kind.RAISES))
    lines = list(dict.fromkeys(line for seen in observed.steps for line in seen.imports))
    asked = [(line, *parts) for line in lines if (parts := _parts(line))]
    if not wanted and not asked:
        return Introduced(observed.steps)
    known = codes[: len(observed.steps)]
    answer = prober.observe([*known, *wanted, _SEARCH, f"_redfirst_public({asked!r}, {wanted!r})"]).steps
    last = answer[-1].value if len(answer) == len(known) + len(wanted) + 2 else None
    better = _better(last.text if last is not None else None)
    exceptions = {
        name: tuple(better.get(name, line) for line in seen.imports)
        for name, seen in zip(wanted, answer[len(known) :], strict=False)
        if seen.value is not None and seen.value.type.startswith("builtins.type")
    }
    steps = tuple(
        replace(seen, imports=tuple(better.get(line, line) for line in seen.imports))
        for seen in observed.steps
    )
    return Introduced(steps, exceptions)


def same_objects(prober: Prober, pairs: Sequence[tuple[str, str]]) -> frozenset[frozenset[str]]:
    """Those pairs of full dotted names that are one object; one run. Raises SandboxError, EnvironmentFailed."""
    steps = [_IS, *(f"_redfirst_is({one!r}, {other!r})" for one, other in pairs)]
    seen = prober.observe(steps).steps[1:]
    found = [
        pair for pair, step in zip(pairs, seen, strict=False) if step.value and step.value.repr == "True"
    ]
    return frozenset(map(frozenset, found))


def _better(text: str | None) -> dict[str, str]:
    """Import line or name → the better import line."""
    try:
        record = json.loads(text or "")
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _parts(line: str) -> tuple[str, str] | None:
    """Module and name of an import of one name."""
    tree = ast.parse(line).body[0]
    if not isinstance(tree, ast.ImportFrom) or len(tree.names) != 1 or tree.names[0].asname:
        return None
    return (tree.module, tree.names[0].name) if tree.module and not tree.level else None
