"""Rounds linked by digest."""

from __future__ import annotations

from typing import Any

from engine.receipts.continuity import Continuity, chain_links
from engine.receipts.summary import ReceiptSummary, summarise
from engine.receipts.verify import verify_receipt
from tests.support.receipts import receipt_row


def summary(line: int, row: Any) -> ReceiptSummary:
    """Summarise the checked row of a line."""
    return summarise(verify_receipt(row), row, line=line, offset=0, length=0)


def test_a_receipt_continues_the_one_that_ended_where_it_begins() -> None:
    """Rounds of two interleaved sessions link to their own predecessors."""
    rows = [
        receipt_row(["a", "b"], ["b"], compactor="one"),
        receipt_row(["x", "y"], ["y"], compactor="two"),
        receipt_row(["b"], [], compactor="one"),
        receipt_row(["y", "new"], ["new"], compactor="two"),
    ]
    links = list(chain_links(summary(line, row) for line, row in enumerate(rows, 1)))
    assert [(link.continuity, link.previous) for link in links] == [
        (Continuity.START, None),
        (Continuity.START, None),
        (Continuity.CONTINUES, 1),
        (Continuity.GAP, 2),
    ]


def test_a_named_session_is_the_series() -> None:
    """Receipts of one compactor in two sessions are not compared with each other."""
    first = {**receipt_row(["a"], []), "session": "s1"}
    second = {**receipt_row(["b"], []), "session": "s2"}
    links = list(chain_links(summary(line, row) for line, row in enumerate([first, second], 1)))
    assert [link.continuity for link in links] == [Continuity.START, Continuity.START]


def test_a_malformed_receipt_is_passed_over() -> None:
    """A row without digests neither continues nor breaks a series."""
    rows = [receipt_row(["a"], ["k"]), {"kind": "compaction_receipt"}, receipt_row(["k"], [])]
    links = list(chain_links(summary(line, row) for line, row in enumerate(rows, 1)))
    assert [(link.line, link.previous) for link in links] == [(1, None), (3, 1)]


def test_a_summary_keeps_the_claims_and_the_answer() -> None:
    """The numbers, labels and finding names of a receipt survive in its summary."""
    row = receipt_row(["aa", "b"], ["b", "new"], compactor="c", method="m")
    kept = summary(7, row).as_json()
    assert (kept["line"], kept["dropped_count"], kept["dropped_bytes"], kept["introduced_bytes"]) == (7, 1, 2, 3)
    assert (kept["compactor"], kept["method"], kept["codes"]) == ("c", "m", ("receipt_no_content",))
    broken = summary(8, {"schema": row["schema"], "compactor": "\ud800" * 500}).as_json()
    assert broken["pre_count"] is None
    assert len(broken["compactor"]) == 120
