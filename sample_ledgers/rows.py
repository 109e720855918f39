"""How are the rows of a sample chained?

Writes rows as the format's own writer does, with a fixed time, so that every build gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.ledger.report import GENESIS
from engine.lines.canonical import chain_body, chain_value, line_as_written
from engine.receipts.seal import CompactionReceipt

BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
Files = dict[str, bytes]


def stamp(number: int) -> str:
    """Return the time of the n-th row: seven minutes apart."""
    return (BEGIN + timedelta(minutes=7 * number)).strftime("%Y-%m-%dT%H:%M:%SZ")


def chained(rows: Iterable[dict[str, Any]], previous: str = GENESIS, first: int = 0) -> list[bytes]:
    """Return the lines of a ledger, each with its line end."""
    lines = []
    for number, row in enumerate(rows, first):
        record = {**row, "ts": row.get("ts", stamp(number))}
        previous = chain_value(previous, chain_body(record))
        lines.append(line_as_written({**record, "chain": previous}) + b"\n")
    return lines


def head_of(line: bytes) -> str:
    """Return the chain value of a line."""
    return str(json.loads(line)["chain"])


def receipt(pre: Sequence[Any], post: Sequence[Any], number: int, **labels: str) -> dict[str, Any]:
    """Return an unchained receipt row with a fixed opening time."""
    opened = BEGIN + timedelta(minutes=7 * number - 1)
    made = CompactionReceipt.open(pre, clock=lambda: opened).record_kept(post)
    return made.row(compactor=labels.get("compactor", "summarizer-v2"), method=labels.get("method", "llm-summary"))


def json_file(value: Any) -> bytes:
    """Return a JSON document, readable and stable."""
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()
