"""How is a list of content items shown, a page at a time?

Each item with its place, size, digest and text; the text is foreign and cut to a length, with a button for all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from dashboard import html, visible
from dashboard.theme import Verdict
from dashboard.widgets import text

PER_PAGE = 20


@dataclass(frozen=True, slots=True)
class Shown:
    """One item as it is drawn: a heading of our own words, its size and digest, its foreign text."""

    heading: str
    size: int
    digest: str
    body: str
    verdict: Verdict | None = None


def pages(total: int, page_of: Callable[[int, int], Sequence[Shown]], *, key: str, nothing: str) -> None:
    """Draw one page of items; `page_of(first, limit)` makes only what is shown."""
    if total == 0:
        text.note(nothing)
        return
    count = -(-total // PER_PAGE)
    page = st.pagination(count, key=f"{key}:page") if count > 1 else 1
    first = (page - 1) * PER_PAGE
    if count > 1:
        text.note(f"{first + 1:,} to {min(first + PER_PAGE, total):,} of {visible.plural(total, 'item')}")
    for number, item in enumerate(page_of(first, PER_PAGE)):
        one(item, key=f"{key}:{first + number}")


def one(item: Shown, *, key: str) -> None:
    """Draw one item."""
    badge = html.badge(item.verdict) if item.verdict is not None else Markup()
    text.draw(
        Markup('<div class="wn-item"><b>{}</b><span>{}</span>{}{}</div>').format(
            html.foreign(item.heading, 120),
            visible.size(item.size),
            html.code(visible.short_digest(item.digest)),
            badge,
        )
    )
    text.block(item.body, key=key)
