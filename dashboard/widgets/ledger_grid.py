"""How are ledgers listed?

One line a ledger with its answers side by side, never added up. Choosing a line opens the ledger.
"""

from __future__ import annotations

import streamlit as st

from dashboard import frames, names, state
from dashboard.links import Page, go
from dashboard.loaders import Loaded
from dashboard.state import Parameter


def show(loaded: Loaded) -> None:
    """Draw the ledgers as a grid; choosing a row opens it."""
    reviews = loaded.review.ledgers
    opened = state.opened()
    shown = [names.shown(each.input.name, opened) for each in reviews]
    key = state.query_key("ledgers", *(each.input.sha256 for each in reviews))
    chosen = st.dataframe(
        frames.ledgers(reviews, shown),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=key,
        alt="Ledgers with rows, chain, head pin, self-consistency and content",
    )
    places = chosen["selection"]["rows"]
    if places and places[0] < len(reviews):
        go(Page.LEDGER, {Parameter.LEDGER: names.link(reviews[places[0]].input)})
