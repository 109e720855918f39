"""How does what is shown leave the screen?

Always the whole filtered set with its manifest, made by the engine when the button is pressed. Pressing it does not
draw the page again: a file that is still being made would be forgotten by that.
"""

from __future__ import annotations

import streamlit as st

from dashboard.loaders import Loaded
from engine.ledger.index.layout import LedgerIndex
from engine.ledger.index.query import Filter, Sort
from engine.report.manifest import Manifest, made_at
from engine.report.page import report_page
from engine.report.rows import exported_columns, exported_rows, ledger_manifest
from engine.report.table import csv_lines, json_document
from engine.review import LedgerReview, Review


def ledger(loaded: Loaded, each: LedgerReview, index: LedgerIndex, flt: Filter, sort: Sort) -> None:
    """Offer the filtered rows as CSV and JSON, and the ledger as a printable report."""
    columns = exported_columns(index)

    def as_csv() -> bytes:
        return "".join(csv_lines(ledger_manifest(each, index, flt), columns, exported_rows(index, flt, sort))).encode()

    def as_json() -> bytes:
        return json_document(ledger_manifest(each, index, flt), columns, exported_rows(index, flt, sort)).encode()

    def as_report() -> bytes:
        return report_page(loaded.review, ledger_manifest(each), [each]).encode()

    # A click must not draw the page again (`ignore`): that would take the promised file away before it is made.
    with st.container(horizontal=True):
        st.download_button("Rows as CSV", as_csv, "winnow-rows.csv", "text/csv", key="export:csv", on_click="ignore")
        st.download_button(
            "Rows as JSON", as_json, "winnow-rows.json", "application/json", key="export:json", on_click="ignore"
        )
        st.download_button("Report", as_report, "winnow-report.html", "text/html", key="export:html", on_click="ignore")


def everything(review: Review) -> None:
    """Offer a report over everything that is open."""

    def as_report() -> bytes:
        broken = [ledger.input.name for ledger in review.ledgers if ledger.chain.result == "FAILS"]
        manifest = Manifest(
            kind="review",
            sources=tuple((i.name, i.sha256, i.size) for i in review.inputs),
            count=len(review.ledgers),
            results={ledger.input.name: ledger.result.value for ledger in review.ledgers},
            heads={ledger.input.name: ledger.chain.head for ledger in review.ledgers},
            stamp=f"BROKEN: {', '.join(broken)}" if broken else "",
            made_at=made_at(),
        )
        return report_page(review, manifest).encode()

    st.download_button(
        "Report on everything", as_report, "winnow-report.html", "text/html", key="export:all", on_click="ignore"
    )
