# SPDX-License-Identifier: Apache-2.0
"""The one door through which a behaviour contract comes in."""

from __future__ import annotations

import json
from collections.abc import Sequence

from redfirst.core.bundle import CONTRACT_FILE, BehaviorContract
from redfirst.core.errors import ContractInvalid

TEXT_FIELDS = ("entrypoint", "trigger", "expected_output")
LIST_FIELDS = ("issue_evidence", "alternative_hypotheses", "non_assertions", "test_nodes")
_MAX_BYTES = 1 << 20


def parse_contract(data: bytes | None) -> BehaviorContract:
    """Read and check a contract; raises ContractInvalid with every fault of it, the first one first."""
    fields = _decode(data)
    faults = [*_shape_faults(fields)]
    if faults:
        raise ContractInvalid("; ".join(faults), f"correct {CONTRACT_FILE}")
    return BehaviorContract(
        entrypoint=_text(fields["entrypoint"]),
        trigger=_text(fields["trigger"]),
        expected_output=_text(fields["expected_output"]),
        issue_evidence=_texts(fields["issue_evidence"]),
        alternative_hypotheses=_texts(fields["alternative_hypotheses"]),
        non_assertions=_texts(fields["non_assertions"]),
        test_nodes=_texts(fields["test_nodes"]),
    )


def contract_bytes(contract: BehaviorContract) -> bytes:
    """The canonical JSON of a contract, fields in the order of the schema."""
    record = {name: getattr(contract, name) for name in (*TEXT_FIELDS, *LIST_FIELDS)}
    return (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode()


def _decode(data: bytes | None) -> dict[str, object]:
    if data is None:
        raise ContractInvalid(f"{CONTRACT_FILE} is missing", "add it to the bundle")
    if len(data) > _MAX_BYTES:
        raise ContractInvalid(f"{CONTRACT_FILE} is larger than 1 MiB", "shorten it")
    if data.startswith(b"\xef\xbb\xbf"):
        raise ContractInvalid(f"{CONTRACT_FILE} begins with a byte order mark", "save it without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ContractInvalid(
            f"{CONTRACT_FILE} is not UTF-8 (byte {error.start})", "save it as UTF-8"
        ) from None
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ContractInvalid(f"{CONTRACT_FILE} is not JSON: {error}", "write one JSON object") from None
    if not isinstance(value, dict):
        raise ContractInvalid(f"{CONTRACT_FILE} is not a JSON object", "write one JSON object")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ContractInvalid(f"field {twice!r} appears twice", f"correct {CONTRACT_FILE}")
    return fields


def _no_constant(name: str) -> object:
    raise ContractInvalid(f"{name} is not JSON", f"correct {CONTRACT_FILE}")


def _shape_faults(fields: dict[str, object]) -> list[str]:
    faults = [f"field {name!r} is missing" for name in (*TEXT_FIELDS, *LIST_FIELDS) if name not in fields]
    faults += [f"field {name!r} is unknown" for name in fields if name not in TEXT_FIELDS + LIST_FIELDS]
    for name in TEXT_FIELDS:
        if name in fields and not _is_text(fields[name]):
            faults.append(f"field {name!r} is not a non-blank string")
    for name in LIST_FIELDS:
        if name in fields:
            faults += _list_faults(name, fields[name])
    return faults


def _list_faults(name: str, value: object) -> list[str]:
    if not isinstance(value, list) or not value:
        return [f"field {name!r} is not a non-empty list"]
    if not all(_is_text(item) for item in value):
        return [f"field {name!r} holds an item that is not a non-blank string"]
    if name == "test_nodes" and len({item.strip() for item in value}) != len(value):
        return [f"field {name!r} declares a node twice"]
    return []


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and _encodable(value)


def _encodable(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _text(value: object) -> str:
    assert isinstance(value, str)
    return value.strip()


def _texts(value: object) -> tuple[str, ...]:
    assert isinstance(value, Sequence)
    return tuple(_text(item) for item in value)
