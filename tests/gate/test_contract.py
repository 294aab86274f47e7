# SPDX-License-Identifier: Apache-2.0
"""A contract comes in whole and right, or not at all; the message names the field."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redfirst.core.errors import ContractInvalid
from redfirst.gate.contract import LIST_FIELDS, TEXT_FIELDS, contract_bytes, parse_contract

GOOD: dict[str, object] = {
    **dict.fromkeys(TEXT_FIELDS, "text"),
    **{name: ["one", "two"] for name in LIST_FIELDS},
}


def encode(record: object) -> bytes:
    return json.dumps(record).encode()


def test_a_good_contract_is_read():
    contract = parse_contract(encode(GOOD))
    assert contract.entrypoint == "text"
    assert contract.test_nodes == ("one", "two")


@pytest.mark.parametrize("name", [*TEXT_FIELDS, *LIST_FIELDS])
def test_a_missing_field_is_named(name):
    record = {key: value for key, value in GOOD.items() if key != name}
    with pytest.raises(ContractInvalid, match=f"'{name}' is missing"):
        parse_contract(encode(record))


@pytest.mark.parametrize("name", TEXT_FIELDS)
@pytest.mark.parametrize("value", ["", " \n\t", None, 3, ["text"], {"a": 1}, True])
def test_a_text_field_wants_a_non_blank_string(name, value):
    with pytest.raises(ContractInvalid, match=name):
        parse_contract(encode({**GOOD, name: value}))


@pytest.mark.parametrize("name", LIST_FIELDS)
@pytest.mark.parametrize("value", ["text", [], [""], ["ok", "  "], ["ok", None], [["ok"]], None, {}])
def test_a_list_field_wants_non_blank_strings(name, value):
    with pytest.raises(ContractInvalid, match=name):
        parse_contract(encode({**GOOD, name: value}))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "missing"),
        (b"", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"\xef\xbb\xbf" + encode(GOOD), "byte order mark"),
        (b"\xff\xfe", "not UTF-8"),
        (encode(GOOD)[:-1] + b', "trigger": "again"}', "'trigger' appears twice"),
        (encode({**GOOD, "notes": "x"}), "'notes' is unknown"),
        (encode({**GOOD, "test_nodes": ["a", "a "]}), "twice"),
        (encode(GOOD) + b"x", "not JSON"),
        (b'{"a": NaN}', "NaN"),
        (b"[" * 100_000, "not JSON"),
        (b'{"entrypoint": "\\ud800"}', "entrypoint"),
    ],
)
def test_other_faults(data, words):
    with pytest.raises(ContractInvalid, match=words):
        parse_contract(data)


_VALUES = st.text(max_size=4) | st.lists(st.text(max_size=4), max_size=2)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys([*TEXT_FIELDS, *LIST_FIELDS, "x"], _VALUES)))
def test_anything_is_read_or_refused(record):
    try:
        contract = parse_contract(encode(record))
    except ContractInvalid:
        return
    assert parse_contract(contract_bytes(contract)) == contract
