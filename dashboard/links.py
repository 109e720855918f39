"""Which pages are there, and how does one page lead to another?

Every way from page to page is an address with its whole question in the query, so that it can be copied and sent. A
page object here is known by its address alone; `app` gives each address its view.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NoReturn
from urllib.parse import urlencode

import streamlit as st

from dashboard.state import Parameter


class Page(StrEnum):
    """The address of each page; the overview is the root."""

    OVERVIEW = ""
    LEDGERS = "ledgers"
    LEDGER = "ledger"
    RECEIPT = "receipt"
    FIND = "find"
    TRANSCRIPT = "transcript"
    SPANS = "spans"
    RETENTION = "retention"
    ACTIVITY = "activity"
    LIMITS = "limits"


Query = Mapping[Parameter, str | int]


def target(page: Page) -> st.Page:
    """Return a page object for links; it carries the address, not the view."""
    return st.Page(_nothing, url_path=page.value, default=page is Page.OVERVIEW)


def query(values: Query) -> dict[str, str]:
    """Return query parameters as text, without the empty ones."""
    return {name.value: str(value) for name, value in values.items() if value not in {"", 0}}


def address(page: Page, values: Query) -> str:
    """Return the address of a page relative to the server, as a link shows it."""
    rest = urlencode(query(values))
    return f"/{page.value}" + (f"?{rest}" if rest else "")


def go(page: Page, values: Query) -> NoReturn:
    """Leave for another page."""
    st.switch_page(target(page), query_params=query(values))


def _nothing() -> None:
    """Stand in for a view that another module holds."""
