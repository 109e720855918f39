"""How are places in ledgers listed so that one of them can be opened?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dashboard import visible
from dashboard.widgets import text

PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a ledger and why it is listed; `shown` is the short name, `link` what an address calls the ledger."""

    ledger: str
    link: str
    line: int
    words: str
    times: int
    reading: str


def table(places: Sequence[Place], *, key: str) -> Place | None:
    """Draw one page of places; return the chosen one."""
    pages = -(-len(places) // PER_PAGE)
    page = st.pagination(pages, key=f"{key}:page") if pages > 1 else 1
    here = places[(page - 1) * PER_PAGE : page * PER_PAGE]
    rows = [(visible.one_line(p.ledger, 80), p.line, p.words, p.times, p.reading) for p in here]
    chosen = st.dataframe(
        pd.DataFrame(rows, columns=["LEDGER", "LINE", "WHERE", "COPIES", "READ AS"]),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"{key}:{page}",
        alt="Places where the content was found; choose one to open the receipt",
    )
    text.note(f"{visible.plural(len(places), 'place')}; choose one to open the receipt")
    selected = chosen["selection"]["rows"]
    return here[selected[0]] if selected and selected[0] < len(here) else None
