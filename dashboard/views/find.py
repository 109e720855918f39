"""What became of my content?"""

from __future__ import annotations

import streamlit as st

from dashboard import html, loaders, names, state, visible
from dashboard.jobs import JobView
from dashboard.loaders import Loaded
from dashboard.widgets import opening, states, text
from engine.findings import IsCancelled, OnProgress
from engine.receipts.find import FindReport, find_content
from engine.receipts.kept import HeldHit, find_held

UPLOAD_MEBIBYTES = 16


def show() -> None:
    """Draw the question, then where the content was dropped, kept or introduced."""
    st.title("Find my content")
    text.note(
        "Paste a message or upload a file to see which receipts name it. Nothing leaves this machine or is stored."
    )
    loaded = opening.review()
    if loaded is None:
        return
    pasted = st.text_area("Paste text or one JSON item", key="find:text", height=140)
    uploaded = st.file_uploader("or upload a file", max_upload_size=UPLOAD_MEBIBYTES, key="find:file")
    content: bytes | str = uploaded.getvalue() if uploaded is not None else (pasted or "")
    if not content:
        states.empty("Nothing to look for yet", "The exact content counts: one other character is another digest.")
        return
    found = states.wait(loaders.jobs(), lambda: _start(loaded, content))
    if found is not None:
        _report(found, find_held(content, [link for each in loaded.review.ledgers for link in each.links]))


def _start(loaded: Loaded, content: bytes | str) -> JobView[FindReport]:
    sources = [ledger.input.source for ledger in loaded.review.ledgers]

    def work(on_progress: OnProgress, is_cancelled: IsCancelled) -> FindReport:
        return find_content(content, sources, on_progress=on_progress, is_cancelled=is_cancelled)

    key = ("find", tuple(each.input.sha256 for each in loaded.review.ledgers), content)
    return loaders.jobs().submit(key, "Reading the manifests of every receipt", work)


def _report(found: FindReport, held: tuple[HeldHit, ...]) -> None:
    opened = state.opened()
    rows = [
        (
            names.shown(hit.ledger, opened),
            f"line {hit.line:,}",
            hit.where.value,
            hit.probe.reading.value,
            str(hit.times),
        )
        for hit in found.hits
    ]
    rows += [
        (
            names.shown(hit.ledger, opened),
            f"line {hit.line:,}",
            f"{hit.fate.value}, by the content held",
            hit.probe.reading.value,
            str(hit.times),
        )
        for hit in held
    ]
    read = (
        f"{visible.plural(found.lines, 'row')} and {visible.plural(found.receipts, 'receipt')} "
        f"read in {visible.plural(found.ledgers, 'ledger')}"
    )
    st.header("Where it stands")
    if rows:
        text.draw(
            html.table("Where the content stands", ("LEDGER", "RECEIPT", "WHAT", "READ AS", "COPIES"), rows[:500])
        )
    else:
        states.empty("Not found", f"No receipt names this content, and no content held contains it; {read}.")
    text.note(read)
    for finding in found.not_read:
        text.note(f"line {finding.line}: {finding.code.sentence}")
    for error in found.unreadable:
        states.refused(error)
    st.header("Digests looked for")
    text.draw(
        html.table("Digests", ("READ AS", "DIGEST"), [(p.reading.value, html.code(p.digest)) for p in found.probes])
    )
    text.note(
        "A manifest names what was dropped; that something was kept shows only where the content of both sides is held."
    )
