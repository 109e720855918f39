"""Which bytes does the ledger's chain cover for one row?

The ledger's own recipe, which is not `json-c14n` and not RFC 8785: Python's `json.dumps` with sorted keys, default
separators, non-ASCII raw and NaN allowed, encoded with lone surrogates passed through. The chain covers the parsed
value: other spellings of the same value have the same body, so an intact chain does not prove unchanged bytes.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

CHAIN_LENGTH = 32
"""Hex digits of a chain value (128 bits), fixed by the format."""

_SORTED = json.JSONEncoder(ensure_ascii=False, sort_keys=True)
_AS_WRITTEN = json.JSONEncoder(ensure_ascii=False)


def chain_body(row: dict[str, Any]) -> bytes:
    """Serialise a row without its top-level `chain` as the chain covers it.

    Raises `RecursionError`, `ValueError` or `TypeError` for a row that cannot be serialised.
    """
    body = {key: value for key, value in row.items() if key != "chain"}
    return _SORTED.encode(body).encode("utf-8", "surrogatepass")


def chain_value(previous: str, body: bytes | bytearray) -> str:
    """Return the chain value of a body after the previous row's claimed value (or `genesis`)."""
    digest = hashlib.sha256(previous.encode("utf-8", "surrogatepass"))
    digest.update(body)
    return digest.hexdigest()[:CHAIN_LENGTH]


def line_as_written(row: dict[str, Any]) -> bytes:
    """Return the bytes the format's writer gives a row: insertion order, default separators, without a line end.

    Raises as `chain_body`; a lone surrogate raises `UnicodeEncodeError` (the writer refuses it).
    """
    return _AS_WRITTEN.encode(row).encode("utf-8")
