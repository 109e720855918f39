"""Which ledgers are open, and how does each stand?"""

from __future__ import annotations

import streamlit as st


def show() -> None:
    """Draw the list of ledgers."""
    st.title("Ledgers")
