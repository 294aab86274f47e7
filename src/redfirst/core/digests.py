# SPDX-License-Identifier: Apache-2.0
"""Content addresses: SHA-256 over length-prefixed parts, so that no two lists collide."""

from __future__ import annotations

import hashlib


def digest(*parts: bytes) -> str:
    """The lower-case hex SHA-256 of ``parts``, each preceded by its length."""
    state = hashlib.sha256()
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.hexdigest()
