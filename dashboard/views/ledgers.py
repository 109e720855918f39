"""Which ledgers are open, and how does each stand?"""

from __future__ import annotations

import streamlit as st

from dashboard import html, names, state, visible
from dashboard.loaders import Loaded
from dashboard.widgets import ledger_grid, opening, states, text


def show() -> None:
    """Draw the list of ledgers, and every file that was not looked at."""
    st.title("Ledgers")
    loaded = opening.review()
    if loaded is None:
        return
    if loaded.review.ledgers:
        text.note("Four questions, four answers; they are never added up. Choose a row to open the ledger.")
        ledger_grid.show(loaded)
    else:
        states.empty(
            "No ledger among the opened files", "A ledger is a JSON Lines file of chained rows.", "winnow open PATH"
        )
    _refused(loaded)
    opening.upload()


def _refused(loaded: Loaded) -> None:
    refused = loaded.review.refused
    if not refused:
        return
    st.header("Not looked at")
    opened = state.opened()
    rows = [
        (
            html.foreign(names.shown(file.name, opened), 160),
            html.foreign(finding.code.sentence + (f": {finding.note}" if finding.note else ""), 400),
            finding.code.hint,
        )
        for file, finding in refused[:200]
    ]
    text.draw(html.table("Files that were not looked at", ("FILE", "REASON", "WHAT TO DO"), rows))
    if len(refused) > len(rows):
        text.note(f"{visible.plural(len(refused) - len(rows), 'more file')} not listed")
