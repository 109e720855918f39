"""Which samples show what a chain can and cannot tell?"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sample_ledgers.rows import Files, chained, head_of, json_file, receipt, stamp
from sample_ledgers.talk import rounds


def _receipts(count: int, ticket: int) -> list[dict[str, Any]]:
    return [receipt(pre, post, number) for number, (pre, post) in enumerate(rounds(count, ticket))]


def _pin_text(line: bytes, rows: int) -> bytes:
    return f"arcaeon-ledger head chain={head_of(line)} rows={rows} as_of={stamp(rows)}\n".encode()


def honest() -> Files:
    """Make six honest receipts with the content of the first round."""
    pre, post = rounds(1, 1201)[0]
    lines = chained(_receipts(6, 1201))
    return {
        "receipts.jsonl": b"".join(lines),
        "receipts.pin": _pin_text(lines[-1], 6),
        "before.json": json_file(pre),
        "after.json": json_file(post),
    }


def edited() -> Files:
    """Make a ledger whose fourth row was edited after it was written."""
    lines = chained(_receipts(6, 1202))
    lines[3] = lines[3].replace(b'"compactor": "summarizer-v2"', b'"compactor": "summarizer-v3"')
    return {"receipts.jsonl": b"".join(lines)}


def truncated() -> Files:
    """Make a ledger whose two newest rows are gone; only the pin remembers them."""
    lines = chained(_receipts(6, 1203))
    return {"receipts.jsonl": b"".join(lines[:4]), "receipts.pin": _pin_text(lines[5], 6)}


def forked() -> Files:
    """Make a ledger to which two writers appended after the same row."""
    rows = _receipts(4, 1204)
    lines = chained(rows[:3])
    second = chained(rows[3:], head_of(lines[1]), first=3)
    return {"receipts.jsonl": b"".join(lines + second)}


def declared() -> Files:
    """Make a ledger in which a row was written by hand, and somebody declared it."""
    rows = _receipts(4, 1205)
    lines = chained(rows[:2])
    orphan = json.dumps({"note": "copied from the old log by hand", "ts": stamp(2)}).encode()
    declaration = {
        "op": "chain_break_declared",
        "orphan_line": 3,
        "orphan_sha256": hashlib.sha256(orphan).hexdigest(),
        "why": "one line was copied from the old log by hand",
        "resume_prev": head_of(lines[1]),
    }
    rest = chained([rows[2], declaration, rows[3]], head_of(lines[1]), first=3)
    return {"receipts.jsonl": b"".join([*lines, orphan + b"\n", *rest])}


def respelled() -> Files:
    """Make a ledger that a database gave back with other spacing and key order: same meaning, other bytes."""
    lines = chained(_receipts(3, 1206))
    again = json.dumps(json.loads(lines[1]), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return {"receipts.jsonl": b"".join([lines[0], again.encode() + b"\n", lines[2]])}


def unfinished() -> Files:
    """Make a ledger whose last line is cut: it was being written, or the power went."""
    return {"receipts.jsonl": b"".join(chained(_receipts(4, 1207)))[:-40]}


def duplicate_key() -> Files:
    """Make a ledger in which a receipt says its drop count twice: two honest readers see two receipts."""
    rows = _receipts(3, 1208)
    lines = chained(rows)
    lines[1] = lines[1].replace(b'"dropped": {"count": 3', b'"dropped": {"count": 0, "count": 3', 1)
    return {"receipts.jsonl": b"".join(lines)}
