"""A second verifier of signed statements, made from their description alone; it shares no code with the engine."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def verifies(statement: dict[str, Any], keys: list[dict[str, Any]], purpose: str, now: datetime) -> bool:
    """Say whether one published key signed the statement for this purpose and both are within their time."""
    body = {name: value for name, value in statement.items() if name != "signature"}
    data = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    kind = f"application/vnd.winnow.{purpose}+json".encode()
    signed = b" ".join([b"DSSEv1", str(len(kind)).encode(), kind, str(len(data)).encode(), data])
    for key in keys:
        raw = bytes.fromhex(key["public"])
        if hashlib.sha256(raw).hexdigest() != statement["key_id"] or purpose not in key["purposes"]:
            continue
        ends = [end for end in (key["not_after"],) if end]
        issued, until = datetime.fromisoformat(statement["issued_at"]), statement["valid_until"]
        in_window = issued >= datetime.fromisoformat(key["not_before"]) and all(
            issued < datetime.fromisoformat(end) for end in ends
        )
        in_time = issued <= now + timedelta(seconds=60) and (until is None or now < datetime.fromisoformat(until))
        try:
            Ed25519PublicKey.from_public_bytes(raw).verify(bytes.fromhex(statement["signature"]), signed)
        except InvalidSignature:
            return False
        return statement["purpose"] == purpose and key["revoked_at"] is None and in_window and in_time
    return False
