"""Did this receipt tell the truth about what was dropped?"""

from __future__ import annotations

import json

import streamlit as st

from dashboard import html, loaders, names, state, visible
from dashboard.links import Page, query, target
from dashboard.state import Parameter, ReceiptQuery
from dashboard.theme import RESULTS, Verdict
from dashboard.widgets import digest, findings, held, opening, states, text, verdict
from engine.errors import CannotLookError
from engine.findings import Result
from engine.ledger.index.layout import LedgerIndex
from engine.ledger.index.query import IndexRow, row_at_line, row_bytes, rows_around
from engine.ledger.index.states import CHAIN_STATE
from engine.receipts.ambiguity import verify_receipt_line
from engine.receipts.equation import byte_equation, count_equation
from engine.receipts.link import Link
from engine.receipts.verify import ReceiptReport
from engine.receipts.words import sentence_of, word_of
from engine.review import LedgerReview

VIEWS = ("Drops", "Content before and after", "Checks", "Raw row")


def show() -> None:
    """Draw one row of a ledger: the receipt's claims, what was recomputed, and what that proves."""
    asked = state.receipt_query()
    loaded = opening.review()
    if loaded is None:
        st.title("Receipt")
        return
    ledger = opening.ledger(loaded, asked.ledger)
    if ledger is None:
        return
    index = states.wait(loaders.jobs(), lambda: loaders.start_index(state.opened(), loaded, ledger))
    if index is None:
        return
    row = row_at_line(index, asked.line)
    if row is None:
        states.unknown_page_input("row")
        return
    try:
        data = row_bytes(ledger.input.source, row)
    except CannotLookError as error:
        states.refused(error)
        return
    _row(ledger, index, row, data, asked)


def _row(ledger: LedgerReview, index: LedgerIndex, row: IndexRow, data: bytes, asked: ReceiptQuery) -> None:
    meta = f"line {row.line:,} of {index.lines:,}, {visible.size(row.length)} at byte {row.offset:,}"
    text.title("Row", f"{names.shown(ledger.input.name, state.opened())} : {row.line}", meta)
    _neighbours(ledger, index, row)
    link = next((each for each in ledger.links if each.line == row.line), None)
    report = link.report if link is not None else verify_receipt_line(data, line=row.line)
    if report.claim is None and row.equation.name == "NO_RECEIPT" and report.result is Result.FAILS:
        _no_receipt(row, data)
        return
    found = str(_field(data, "receipt_digest"))
    if asked.digest and not found.rpartition(":")[2].startswith(asked.digest):
        states.other_receipt(asked.digest, found)
    _receipt(ledger, row, data, report, link)


def _neighbours(ledger: LedgerReview, index: LedgerIndex, row: IndexRow) -> None:
    around = {each.line: each for each in rows_around(index, row.line)}
    before = max((line for line in around if line < row.line), default=0)
    after = min((line for line in around if line > row.line), default=0)
    first, second, third = st.columns([1, 1, 3])
    with first:
        if st.button("Previous row", disabled=not before, shortcut="K", key="go:previous", width="stretch"):
            _move(before)
    with second:
        if st.button("Next row", disabled=not after, shortcut="J", key="go:next", width="stretch"):
            _move(after)
    with third:
        st.page_link(
            target(Page.LEDGER),
            label="Back to the ledger",
            query_params=query({Parameter.LEDGER: names.link(ledger.input)}),
        )


def _move(line: int) -> None:
    st.query_params[Parameter.LINE.value] = str(line)
    st.query_params.pop(Parameter.DIGEST.value, None)
    st.rerun()


def _no_receipt(row: IndexRow, data: bytes) -> None:
    states.empty("This row is no receipt", "It takes part in the chain; there are no drops to recompute.")
    text.draw(html.facts((("Chain", row.labels.get(CHAIN_STATE, "")), ("Form", row.form.name.lower()))))
    _raw(data)


def _receipt(ledger: LedgerReview, row: IndexRow, data: bytes, report: ReceiptReport, link: Link | None) -> None:
    word = RESULTS[report.result]
    verdict.badge(Verdict(word_of(report).value, word.tone, word.meaning), sentence_of(report))
    verdict.trust(_trust(ledger, row, report))
    _equations(report)
    held.source(link, state.opened())
    chosen = st.segmented_control("Show", VIEWS, default=VIEWS[0], key=Parameter.VIEW.value, bind="query-params")
    match chosen:
        case "Content before and after":
            held.sides(report)
        case "Checks":
            findings.show(report.findings, key="checks")
        case "Raw row":
            _raw(data)
        case _:
            held.drops(report, _field(data, "dropped"))
    verdict.scope(*_scope(report))
    text.command(f"winnow check {ledger.input.name} --line {row.line}" + held.arguments(link))
    digest.show("receipt digest", str(_field(data, "receipt_digest")))


def _trust(ledger: LedgerReview, row: IndexRow, report: ReceiptReport) -> list[html.Trust]:
    alone = Result.FAILS if not report.reference_fields.self_consistent or report.claim is None else Result.HOLDS
    chain = row.labels.get(CHAIN_STATE, "")
    linked = {"linked": Result.HOLDS, "broken": Result.FAILS, "declared break": Result.BOUNDED}
    content = report.result if report.comparison is not None else Result.COULD_NOT_LOOK
    pin = next((a for a in ledger.answers if a.question == "head_pin"), None)
    return [
        html.Trust("Self-consistent", RESULTS[alone], "shape, counts, bytes and own digest, from the row alone"),
        html.Trust("Chain", RESULTS[linked.get(chain, Result.COULD_NOT_LOOK)], f"this row is {chain or 'not known'}"),
        html.Trust("Head pin", RESULTS[pin.result if pin else Result.COULD_NOT_LOOK], pin.words if pin else ""),
        html.Trust("Signature", RESULTS[Result.COULD_NOT_LOOK], "the format carries no signatures"),
        html.Trust("Content", RESULTS[content], f"scope {report.scope.replace('_', ' ')}"),
    ]


def _equations(report: ReceiptReport) -> None:
    if report.claim is None:
        text.note("the row is malformed: there is no equation to check")
        return
    st.header("Equation")
    comparison = report.comparison
    rows = [("claimed, bytes", str(byte_equation(report.claim))), ("claimed, items", str(count_equation(report.claim)))]
    if comparison is not None and comparison.full:
        recomputed = (
            f"dropped {len(comparison.dropped):,} items, {comparison.dropped_size:,} bytes; "
            f"introduced {len(comparison.introduced):,} items, {comparison.introduced_size:,} bytes; "
            f"kept {len(comparison.kept_pre):,} items"
        )
        rows.append(("recomputed from content", recomputed))
    text.draw(html.table("Equation of the receipt", ("WHAT", "before - dropped + introduced = after"), rows))


def _scope(report: ReceiptReport) -> tuple[str, str]:
    if report.result is Result.HOLDS:
        return (
            "the items given are the items claimed, and what is missing after is exactly what the manifest names",
            "that the content before was all there was, nor that dropping these items was wise",
        )
    return (
        "which digests were claimed when the receipt was sealed",
        "that the claims are true, that the input was complete, or that dropping was wise",
    )


def _raw(data: bytes) -> None:
    text.block(data.decode("utf-8", "replace"), key="raw")


def _field(data: bytes, name: str) -> object:
    try:
        value = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return ""
    return value.get(name, "") if isinstance(value, dict) else ""
