"""What does one search box look for?

It says what it took the words for before it shows anything: a line number, a chain value, a digest, a time, a name, or
plain text. Text is searched in the file itself, within a budget that is said.
"""

from __future__ import annotations

from typing import assert_never

import streamlit as st

from dashboard import frames, loaders, names, state, visible
from dashboard.links import Page, go
from dashboard.state import Parameter
from dashboard.widgets import states, text
from engine.errors import CannotLookError
from engine.findings import IsCancelled, OnProgress, Watch
from engine.ledger.index.layout import LedgerIndex
from engine.ledger.index.query import Filter, IndexRow, Pick
from engine.ledger.index.search import Query, Recognised, TextHits, find_key, find_text, recognise
from engine.review import LedgerReview


def box(ledger: LedgerReview, index: LedgerIndex) -> Filter:
    """Draw the box, say what was recognised, show hits; return the filter that the words mean for the table."""
    words = st.text_input(
        "Find a line, digest, chain value, time, name or text",
        key=Parameter.SEARCH.value,
        bind="query-params",
        placeholder="41, 9ab1…, 2026-03-02, compactor:summarizer-v2, or any text",
    )
    query = recognise(words or "", index.lines)
    match query.kind:
        case Recognised.NOTHING:
            return Filter()
        case Recognised.LINE:
            line = int(query.value)
            _say(query, 1)
            return Filter(first_line=line, last_line=line)
        case Recognised.TIME:
            _say(query, None)
            return Filter(since=query.since, until=query.until)
        case Recognised.NAME:
            return _named(index, query)
        case Recognised.CHAIN_OR_DIGEST | Recognised.DIGEST:
            _keys(ledger, index, query)
            return Filter()
        case Recognised.TEXT:
            _texts(ledger, index, query)
            return Filter()
        case _:
            assert_never(query.kind)


def _say(query: Query, hits: int | None) -> None:
    found = "" if hits is None else f", {visible.plural(hits, 'row')}"
    text.note(f'recognised: "{visible.one_line(query.value, 80)}" = {query.kind.value}{found}')


def _named(index: LedgerIndex, query: Query) -> Filter:
    if query.column not in index.coded_columns():
        text.note(f"recognised: a name, but there is no column {query.column!r} here")
        return Filter()
    code = index.code(query.column, query.value)
    _say(query, None if code is not None else 0)
    return Filter(picks=(Pick(query.column, frozenset({code} if code is not None else ())),))


def _keys(ledger: LedgerReview, index: LedgerIndex, query: Query) -> None:
    try:
        hits = find_key(index, ledger.input.source, query)
    except CannotLookError as error:
        states.refused(error)
        return
    _say(query, len(hits))
    _list(ledger, [hit.row for hit in hits], query)


def _texts(ledger: LedgerReview, index: LedgerIndex, query: Query) -> None:
    def work(on_progress: OnProgress, is_cancelled: IsCancelled) -> TextHits:
        return find_text(index, ledger.input.source, query.value, watch=Watch(on_progress, is_cancelled))

    key = ("text", index.sha256, query.value)
    found = states.wait(loaders.jobs(), lambda: loaders.jobs().submit(key, "Searching the text of the rows", work))
    if found is None:
        return
    _say(query, len(found.rows))
    if found.next_offset is not None:
        text.note(f"searched the first {visible.size(found.searched)} of {visible.size(index.size)}; more may follow")
    _list(ledger, list(found.rows), query)


def _list(ledger: LedgerReview, rows: list[IndexRow], query: Query) -> None:
    if not rows:
        return
    chosen = st.dataframe(
        frames.rows(rows),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=state.query_key("hits", ledger.input.sha256, query.kind, query.value),
        alt="Rows found; choose one to open it",
    )
    places = chosen["selection"]["rows"]
    if places and places[0] < len(rows):
        go(Page.RECEIPT, {Parameter.LEDGER: names.link(ledger.input), Parameter.LINE: rows[places[0]].line})
