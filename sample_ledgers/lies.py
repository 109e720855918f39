"""Which samples show what a receipt can hide, and what content shows?"""

from __future__ import annotations

from typing import Any

from engine.digests import json_digest
from engine.receipts.schema import CORE_FIELDS
from sample_ledgers.rows import Files, chained, json_file, receipt
from sample_ledgers.talk import TURNS


def planted_lie() -> Files:
    """Make a receipt whose compactor claims that it kept everything; what it shipped lacks the rule."""
    pre = ["user: this is about ticket 1209.", *TURNS]
    shipped = [turn for turn in pre if "never deploy" not in turn]
    row = receipt(pre, pre, 0, compactor="liar")
    return {
        "receipts.jsonl": b"".join(chained([row])),
        "before.json": json_file(pre),
        "after.json": json_file(shipped),
    }


def understated() -> Files:
    """Make a v1 receipt that understates the bytes it dropped behind a summary; alone it passes."""
    pre = ["user: this is about ticket 1210.", *TURNS]
    post = ["summary: refunds, and a release is being prepared.", pre[-1]]
    row = receipt(pre, post, 0)
    row["schema"] = "arcaeon-compact:receipt:v1"
    del row["introduced"]["bytes"]
    row["dropped"]["bytes"] = 1
    row["post"]["bytes"] = row["pre"]["bytes"] - 1
    row["receipt_digest"] = json_digest(_core(row))
    return {
        "receipts.jsonl": b"".join(chained([row])),
        "before.json": json_file(pre),
        "after.json": json_file(post),
    }


def _core(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in CORE_FIELDS}
