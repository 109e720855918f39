"""How is a digest shown so that it can be read, compared and copied whole?"""

from __future__ import annotations

import streamlit as st

from dashboard import visible
from dashboard.widgets import text


def show(name: str, digest: str) -> None:
    """Show a full digest with its name and a copy button."""
    text.note(name)
    st.code(visible.visible(digest) or "none", language=None, wrap_lines=True)
