# SPDX-License-Identifier: Apache-2.0
"""Verdicts as JSON, out and in, with a digest that shows whether a saved one was edited."""

from __future__ import annotations

import json
from dataclasses import asdict, fields

from redfirst.core.digests import digest
from redfirst.core.errors import UsageError
from redfirst.core.verdict import SCHEMA_VERSION, Receipt, Verdict


def verdict_record(verdict: Verdict) -> dict[str, object]:
    """The JSON object of a verdict; pairs become objects, ``digest`` covers all the rest."""
    receipt = asdict(verdict.receipt)
    for name in ("isolation", "limits", "modules"):
        receipt[name] = dict(receipt[name])
    for run in receipt["runs"]:
        run["nodes"] = dict(run["nodes"])
    record: dict[str, object] = {
        "valid": verdict.valid,
        "outcome": verdict.outcome,
        "kind": verdict.kind,
        "why": verdict.why,
        "nodes": [asdict(node) for node in verdict.nodes],
        "faults": list(verdict.faults),
        "output": verdict.output,
        "receipt": receipt,
    }
    return {**record, "digest": record_digest(record)}


def record_digest(record: dict[str, object]) -> str:
    """Digest over the canonical JSON of a verdict record without its own digest."""
    body = {name: value for name, value in record.items() if name != "digest"}
    return digest(json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode())


def read_record(data: bytes, where: str) -> tuple[dict[str, object], Receipt]:
    """A saved verdict and its receipt. Raises UsageError: not one, other schema, or edited since."""
    try:
        record = json.loads(data)
        receipt = record["receipt"]
        schema = receipt["schema"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(
            f"{where} is not a saved verdict", "save one with `redfirst gate … --json`"
        ) from None
    if schema != SCHEMA_VERSION:
        raise UsageError(f"{where} has receipt schema {schema}, not {SCHEMA_VERSION}", "judge again")
    known = {field.name for field in fields(Receipt)}
    if set(receipt) != known:
        raise UsageError(f"{where} has a receipt with other fields than schema {schema}", "judge again")
    return record, Receipt(**receipt)
