"""What needs a look?"""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.widgets import states, text


def show() -> None:
    """Draw the overview: problems first."""
    st.title("Overview")
    opened = state.opened()
    if not opened.paths:
        states.empty(
            "Nothing is open yet",
            "Here you will see which ledgers were altered, which receipts do not tell the truth, and what was dropped.",
            "winnow demo",
        )
        return
    for path in opened.paths:
        text.line(str(path))
