"""Which page of a long list is shown, and how many pages are there?"""

from __future__ import annotations

import streamlit as st

from dashboard import visible
from dashboard.widgets import text

PAGE_ROWS = 100


def show(total: int, *, key: str = "p", noun: str = "row", per_page: int = PAGE_ROWS) -> int:
    """Draw the pager bound to the URL; return the 0-based offset of the first row of the page."""
    pages = max(1, -(-total // per_page))
    page = st.pagination(pages, key=key, bind="query-params") if pages > 1 else 1
    first = (page - 1) * per_page
    last = min(first + per_page, total)
    text.note(f"{first + 1:,} to {last:,} of {visible.plural(total, noun)}" if total else f"no {noun}")
    return first
