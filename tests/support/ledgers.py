"""Small ledgers in the bytes of the format's own writer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from engine.ledger.report import GENESIS
from engine.lines.canonical import chain_body, chain_value

NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def frozen() -> datetime:
    """Return the one time at which tests write."""
    return NOON


def chained(rows: Iterable[dict[str, Any]], previous: str = GENESIS) -> list[bytes]:
    """Chain rows; one line each, with its line end."""
    lines = []
    for row in rows:
        previous = chain_value(previous, chain_body(row))
        lines.append((json.dumps({**row, "chain": previous}, ensure_ascii=False) + "\n").encode())
    return lines


def numbered(count: int, **more: Any) -> list[dict[str, Any]]:
    """Return rows that differ by a number."""
    return [{"ts": "2026-01-01T00:00:00Z", "i": i, **more} for i in range(count)]


def chain_of(line: bytes) -> str:
    """Return the chain value stored in a line."""
    value = json.loads(line)["chain"]
    assert isinstance(value, str)
    return value
