"""Is this ledger intact, and what do its rows say?"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard import frames, html, loaders, names, problems, receipts, state, visible
from dashboard.links import Page, go
from dashboard.loaders import RECEIPT_STATE, Loaded
from dashboard.state import Parameter
from dashboard.theme import answer_verdict, chain_verdict
from dashboard.widgets import breaks, exports, opening, pager, searching, states, text, verdict
from engine.findings import Result
from engine.ledger.index.layout import LedgerIndex
from engine.ledger.index.query import Pick, Sort, facets, page
from engine.ledger.index.states import CHAIN_STATE
from engine.review import LedgerReview, Question

FACET_VALUES = 100
FACETS_SHOWN = 3
NAME_CHARACTERS = 400
SORTS = ("line", "time", "dropped_count", "dropped_bytes", "length")
FACETS = (
    ("Chain", CHAIN_STATE, Parameter.STATUS),
    ("Receipt", RECEIPT_STATE, Parameter.RECEIPT),
    ("Kind", "kind", Parameter.KIND),
    ("Compactor", "compactor", Parameter.COMPACTOR),
)
PROVES = {
    Result.HOLDS: "the rows read are the rows chained, in this order, each with the meaning it had when it was chained",
    Result.BOUNDED: "the rows within the scope named above are the rows chained, in order; nothing about the others",
    Result.FAILS: "at least one row is not the row that was chained there, or does not stand where it was chained",
    Result.COULD_NOT_LOOK: "nothing: this file could not be looked at",
}
DOES_NOT_PROVE = (
    "that no rows were cut off the end (that takes a pin kept elsewhere), nor that what the rows say is true"
)
QUESTION_NAMES = {
    Question.SELF_CONSISTENT: "Self-consistent",
    Question.CHAIN: "Chain",
    Question.HEAD_PIN: "Head pin",
    Question.SIGNATURE: "Signature",
    Question.CONTENT: "Content",
}


def show() -> None:
    """Draw one ledger: trust, breaks, facets, one page of rows."""
    query = state.ledger_query()
    loaded = opening.review()
    if loaded is None:
        st.title("Ledger")
        return
    ledger = opening.ledger(loaded, query.ledger)
    if ledger is None:
        return
    head(ledger)
    index = states.wait(loaders.jobs(), lambda: loaders.start_index(state.opened(), loaded, ledger))
    breaks.show(ledger, index)
    if index is not None:
        _rows(loaded, ledger, index)


def head(ledger: LedgerReview) -> None:
    """Draw the name, the trust badges side by side, and what they prove."""
    chain = ledger.chain
    written = chain.bytes_as_written
    as_written = (
        "not compared" if written.yes is None else "yes" if written.yes else f"no, first at line {written.first_line}"
    )
    meta = f"{visible.plural(chain.reference.rows, 'row')}, {visible.size(chain.size)}, SHA-256 {chain.sha256}"
    text.title("Ledger", names.shown(ledger.input.name, state.opened()), meta)
    verdict.trust([_trust(ledger, question) for question in Question])
    total = ledger.sweep.totals.receipts
    if 0 < ledger.linked < total:
        states.partial(ledger.linked, total, "receipt")
    text.draw(
        html.facts(
            (
                ("Scope of the chain's answer", chain.scope),
                ("Bytes as written by the format's writer", as_written),
                ("End of the file", chain.tail.value.replace("_", " ")),
                ("Head", html.code(chain.head)),
                ("Rounds", receipts.rounds_words(ledger.rounds)),
            )
        )
    )
    verdict.scope(PROVES[chain.result], DOES_NOT_PROVE)
    text.command(f"winnow verify {ledger.input.name}")


def _trust(ledger: LedgerReview, question: Question) -> html.Trust:
    answer = ledger.answer(question)
    word = answer_verdict(answer.result, answer.of)
    if question is Question.CHAIN:
        word = chain_verdict(answer.result, problems.first_break(ledger))
    return html.Trust(QUESTION_NAMES[question], word, answer.words)


def _rows(loaded: Loaded, ledger: LedgerReview, index: LedgerIndex) -> None:
    st.header("Rows")
    ranges = searching.box(ledger, index)
    flt = replace(ranges, picks=(*ranges.picks, *_picks(index)))
    sort = _sort()
    found = page(index, flt, sort, first=(max(1, state.number(Parameter.PAGE)) - 1) * pager.PAGE_ROWS)
    first = pager.show(found.total, key=Parameter.PAGE.value)
    if found.first != first:
        found = page(index, flt, sort, first=first)
    if not found.rows:
        text.note("no row matches")
        return
    key = state.query_key("rows", index.sha256, flt, sort, first)
    chosen = st.dataframe(
        frames.rows(found.rows, problems.first_break(ledger)),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=key,
        height=min(38 + 35 * len(found.rows), 740),
        alt="One page of ledger rows; choose one to open it",
    )
    places = chosen["selection"]["rows"]
    if places and places[0] < len(found.rows):
        line = found.rows[places[0]].line
        of_row: dict[Parameter, str | int] = {Parameter.LEDGER: names.link(ledger.input), Parameter.LINE: line}
        go(Page.RECEIPT, {**of_row, Parameter.BACK: state.filters()})
    text.note("Choose a row to open it. Filters, page and order stand in the address.")
    exports.ledger(loaded, ledger, index, flt, sort)


def _picks(index: LedgerIndex) -> tuple[Pick, ...]:
    picks: list[Pick] = []
    for column, (name, coded, parameter) in zip(st.columns(len(FACETS)), FACETS, strict=True):
        with column:
            code = _facet(index, name, coded, parameter)
            if code is not None:
                picks.append(Pick(coded, frozenset({code})))
    return tuple(picks)


def _facet(index: LedgerIndex, name: str, coded: str, parameter: Parameter) -> int | None:
    counted = {facet.label: facet.count for facet in facets(index, coded)[:FACET_VALUES]}
    chosen = st.selectbox(
        visible.label(name),
        ["", *counted],
        # What is shown is what stands in the address, so no count may be in it.
        format_func=lambda label: visible.one_line(label, NAME_CHARACTERS) or "all",
        key=parameter.value,
        bind="query-params",
    )
    most = [f"{visible.one_line(label, 24)} {number:,}" for label, number in list(counted.items())[:FACETS_SHOWN]]
    more = f" and {visible.plural(len(counted) - len(most), 'more value')}" if len(counted) > len(most) else ""
    text.note(", ".join(most) + more)
    return index.code(coded, chosen) if chosen else None


def _sort() -> Sort:
    left, right = st.columns([2, 3])
    with left:
        column = st.selectbox("Order by", SORTS, key=Parameter.SORT.value, bind="query-params")
    with right:
        descending = st.toggle("largest or newest first", key=Parameter.DESCENDING.value, bind="query-params")
    return Sort(column or "line", descending)
