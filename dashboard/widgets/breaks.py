"""Where does the chain break, and what stands around each place?

All findings are listed, and one at a time is opened with the rows before and after it, side by side. Neighbouring
rows are shown as they stand; they are not vouched for.
"""

from __future__ import annotations

import streamlit as st

from dashboard.widgets import findings, text
from engine.errors import CannotLookError, UsageError
from engine.findings import Finding
from engine.ledger.index.layout import LedgerIndex
from engine.ledger.index.query import row_bytes, rows_around
from engine.review import LedgerReview

OPENED = 200
ROW_BYTES = 256 * 1024
"""Bytes of a neighbouring row that are read for showing."""


def show(ledger: LedgerReview, index: LedgerIndex | None) -> None:
    """List the findings of the chain and open one with its neighbours."""
    chain = ledger.chain
    for pin in ledger.pins:
        text.note(f"pin {pin.answer.value}: {pin.sentence}")
    if not chain.findings:
        return
    st.header("Breaks and notices")
    findings.show(chain.findings, key="findings", total=chain.breaks_total)
    placed = [finding for finding in chain.findings if finding.line is not None][:OPENED]
    if placed and index is not None:
        _around(ledger, index, placed)


def _around(ledger: LedgerReview, index: LedgerIndex, placed: list[Finding]) -> None:
    number = st.selectbox(
        "Look at the rows around",
        range(len(placed)),
        format_func=lambda at: f"line {placed[at].line:,}: {placed[at].code.name}",
        key="around",
    )
    finding = placed[number or 0]
    around = rows_around(index, finding.line or 1)
    for column, row in zip(st.columns(len(around) or 1), around, strict=False):
        with column:
            here = " (this finding)" if row.line == finding.line else ""
            text.note(f"line {row.line:,}{here}")
            try:
                data = row_bytes(ledger.input.source, row, limit=ROW_BYTES)
            except (CannotLookError, UsageError) as error:
                text.note(str(error))
                continue
            text.block(data.decode("utf-8", "replace"), key=f"around:{row.line}")
