# SPDX-License-Identifier: Apache-2.0
"""`redfirst gate --verify-receipt`: does a saved verdict rest on what is here, and does it hold again?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from redfirst.surfaces.cli.output import print_json, print_lines

if TYPE_CHECKING:
    from redfirst.core.bundle import TestBundle
    from redfirst.gate.session import GateSession


def verify(
    session: GateSession,
    bundle: TestBundle,
    source_patch: bytes | None,
    saved: bytes,
    where: Path,
    rerun: bool,
    as_json: bool,
) -> int:
    """0: all digests agree (and the verdict holds again); 1: they do not; 3: it cannot be judged again."""
    from redfirst.gate.receipts import differences
    from redfirst.gate.wire import read_record, record_digest, verdict_record

    record, receipt = read_record(saved, str(where))
    faults = [] if record.get("digest") == record_digest(record) else ["the saved verdict was edited"]
    code = 0
    if rerun:
        verdict = session.judge(bundle, source_patch)
        faults += differences(receipt, verdict.receipt)
        again = verdict_record(verdict)
        faults += _other_verdict(record, again)
        code = 0 if verdict.valid or not faults else 3
    else:
        faults += differences(receipt, session.facts(bundle, source_patch))
    if as_json:
        print_json({"verified": not faults, "rerun": rerun, "differences": faults})
    else:
        print_lines(
            ["receipt holds" if not faults else "receipt does not hold", *(f"  {fault}" for fault in faults)]
        )
    return code or (1 if faults else 0)


def _other_verdict(old: dict[str, object], new: dict[str, object]) -> list[str]:
    faults = []
    if old.get("kind") != new["kind"]:
        faults.append(f"kind: the receipt says {old.get('kind')}, judged again it is {new['kind']}")
    before, after = _kinds(old.get("nodes")), _kinds(new["nodes"])
    if before != after:
        faults.append(f"nodes: the receipt says {before}, judged again they are {after}")
    return faults


def _kinds(nodes: object) -> dict[str, str]:
    if not isinstance(nodes, list):
        return {}
    return {str(node.get("node")): str(node.get("kind")) for node in nodes if isinstance(node, dict)}
