"""What does the content held against a receipt show?

Items are shown as text with their digest and fate. Where no content is held, only digests can be named: a receipt is
a witness, not a backup.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import html, names, visible
from dashboard.state import Opened
from dashboard.theme import Tone
from dashboard.widgets import states, text
from engine.receipts.candidates import Candidate
from engine.receipts.link import FoundBy, Link
from engine.receipts.recompute import ContentComparison, HeldItem
from engine.receipts.verify import ReceiptReport

PER_PAGE = 20
ITEM_CHARACTERS = 4_000


def source(link: Link | None, opened: Opened) -> None:
    """Say which content was found for the sides of a receipt, and why it is taken for them."""
    if link is None:
        states.partial(0, 1, "receipt")
        return
    rows = [
        ("before", *_side(link.pre, link.pre_by, opened)),
        ("after", *_side(link.post, link.post_by, opened)),
    ]
    text.draw(html.table("Content found", ("SIDE", "WHERE", "VIEW", "FOUND BY"), rows))


def _side(candidate: Candidate | None, found_by: FoundBy, opened: Opened) -> tuple[str, str, str]:
    if candidate is None:
        return "none", "", found_by.value
    place = names.shown(candidate.source, opened)
    where = f"{place}, round {candidate.round_index}" if candidate.round_index else place
    return where, f"{candidate.view}, {candidate.state.value}", found_by.value


def arguments(link: Link | None) -> str:
    """Return the command line arguments that give the same content."""
    if link is None:
        return ""
    files = dict.fromkeys(c.source for c in (link.pre, link.post) if c is not None)
    sessions = [name for name in files if link.pre and link.pre.round_index]
    flag = "--transcript" if sessions else "--content"
    return "".join(f" {flag} {name}" for name in files)


def drops(report: ReceiptReport, claimed: object) -> None:
    """List what was dropped: with text where content is held, else by the digests the manifest names."""
    comparison = report.comparison
    if comparison is None or comparison.pre is None or not comparison.full:
        _manifest(claimed)
        return
    st.header("Dropped")
    _items(comparison.dropped_items, len(comparison.dropped), "dropped", Tone.BAD)
    st.header("Introduced")
    _items(comparison.introduced_items, len(comparison.introduced), "introduced", Tone.BOUNDED)
    rewritten = comparison.rewritten_items(0, PER_PAGE)
    if rewritten:
        st.header("Rewritten (same id, other content)")
        for before, after in rewritten:
            text.draw(html.word_diff(as_text(before.item)[:ITEM_CHARACTERS], as_text(after.item)[:ITEM_CHARACTERS]))


def sides(report: ReceiptReport) -> None:
    """Show the content before and after side by side, each item with its fate."""
    comparison = report.comparison
    if comparison is None:
        states.partial(0, 1, "receipt")
        return
    left, right = st.columns(2)
    with left:
        st.subheader("Before")
        _list(comparison.pre_items, set(comparison.dropped), comparison, "dropped", Tone.BAD)
    with right:
        st.subheader("After")
        _list(comparison.post_items, set(comparison.introduced), comparison, "introduced", Tone.BOUNDED)


def _list(items: Sequence[Any], marked: set[int], comparison: ContentComparison, word: str, tone: Tone) -> None:
    if not items:
        text.note("no content of this side is held" if not comparison.full else "no items")
        return
    pages = max(1, -(-len(items) // PER_PAGE))
    page = st.pagination(pages, key=f"side:{word}") if pages > 1 else 1
    first = (page - 1) * PER_PAGE
    for number, item in enumerate(items[first : first + PER_PAGE], first):
        hit = number in marked and comparison.full
        _item(number, as_text(item), word if hit else "kept" if comparison.full else "", tone if hit else Tone.GOOD)


def _items(give: Any, total: int, word: str, tone: Tone) -> None:
    if not total:
        text.note(f"nothing was {word}")
        return
    pages = max(1, -(-total // PER_PAGE))
    page = st.pagination(pages, key=f"items:{word}") if pages > 1 else 1
    shown: tuple[HeldItem, ...] = give((page - 1) * PER_PAGE, PER_PAGE)
    for item in shown:
        _item(item.position, as_text(item.item), word, tone, item.digest, item.size)
    text.note(f"{visible.plural(total, 'item')} {word}")


def _item(position: int, shown: str, word: str, tone: Tone, digest: str = "", size: int | None = None) -> None:
    more = f"{visible.short_digest(digest)}  {visible.size(size or 0)}" if digest else ""
    text.draw(html.item(position, shown[:ITEM_CHARACTERS], word, tone, more))


def _manifest(claimed: object) -> None:
    items = claimed.get("items") if isinstance(claimed, dict) else None
    listed = [str(each) for each in items] if isinstance(items, list) else []
    text.note(
        "The manifest names the dropped items by digest only. To see their text, open the session or the content."
    )
    pages = max(1, -(-len(listed) // 100))
    page = st.pagination(pages, key="manifest") if pages > 1 else 1
    rows = [(f"{n + 1:,}", html.code(each)) for n, each in enumerate(listed)][(page - 1) * 100 : page * 100]
    text.draw(html.table("Digests of the dropped items", ("ITEM", "DIGEST"), rows))


def as_text(item: Any) -> str:
    """Return a content item as text: its own text, its readable part, or its JSON."""
    if isinstance(item, str):
        return item
    if isinstance(item, bytes):
        return f"{len(item):,} bytes: {item[:200].hex(' ')}"
    return json.dumps(item, ensure_ascii=False, indent=1)
