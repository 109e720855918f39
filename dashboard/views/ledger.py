"""Is this ledger intact, and what do its rows say?"""

from __future__ import annotations

import streamlit as st


def show() -> None:
    """Draw one ledger."""
    st.title("Ledger")
