"""Was this content dropped, kept, or never seen?"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import html, loaders, names, settings, state, visible
from dashboard.links import Page, go
from dashboard.loaders import Found, Loaded
from dashboard.state import Parameter
from dashboard.theme import Tone
from dashboard.widgets import findings, opening, states, text
from dashboard.widgets.places import Place, table
from engine.receipts.find import Where
from engine.receipts.kept import Fate
from engine.review import LedgerReview

WHERE_WORDS = {
    Where.DROPPED: "dropped, named in the manifest",
    Where.ALL_BEFORE: "the whole content before",
    Where.ALL_AFTER: "the whole content after",
}
FATE_WORDS = {
    Fate.KEPT: "kept, in content held here",
    Fate.DROPPED: "dropped, in content held here",
    Fate.INTRODUCED: "introduced, in content held here",
}
CONTENT = "find:content"


def show() -> None:
    """Draw the box for content, the digests it gives, and where they are found."""
    st.title("Find my content")
    text.note("Paste or upload a text you still hold. Nothing leaves this machine, and the content is not stored.")
    content = _ask()
    loaded = opening.review()
    if loaded is None or content is None:
        return
    if not content:
        states.empty(
            "Nothing to look for", "Paste a text or choose a file first; an empty content is in every receipt."
        )
        return
    found = states.wait(loaders.jobs(), lambda: loaders.start_find(loaded, content))
    if found is not None:
        _answer(loaded, found)


def _ask() -> bytes | None:
    """Return the content that was sent, or None before anything was."""
    with st.form("find:form"):
        pasted = st.text_area("Content, exactly as it stood in the context", height=160, key="find:pasted")
        file = st.file_uploader("or a file that holds it", max_upload_size=settings.MAX_UPLOAD_MIB, key="find:file")
        sent = st.form_submit_button("Find", type="primary")
    if sent:
        pasted_bytes = (pasted or "").encode("utf-8", "surrogatepass")
        st.session_state[CONTENT] = file.getvalue() if file is not None else pasted_bytes
    kept = st.session_state.get(CONTENT)
    return kept if isinstance(kept, bytes) else None


def _answer(loaded: Loaded, found: Found) -> None:
    _headline(found)
    places = _places(loaded, found)
    if places:
        chosen = table(places, key=state.query_key("find", *((p.ledger, p.line, p.words) for p in places)))
        if chosen is not None:
            go(Page.RECEIPT, {Parameter.LEDGER: chosen.link, Parameter.LINE: chosen.line})
    st.header("Digests looked for")
    rows = [(probe.reading.value, f"{probe.size:,}", html.code(probe.digest)) for probe in found.named.probes]
    text.draw(html.table("Digests looked for", ("READ AS", "BYTES", "DIGEST"), rows))
    _reach(found)


def _headline(found: Found) -> None:
    named = found.named
    read = (
        f"{visible.plural(named.ledgers, 'ledger')} read to the end: {visible.plural(named.lines, 'line')}, "
        f"{visible.plural(named.receipts, 'receipt')}."
    )
    dropped = sum(1 for hit in named.hits if hit.where is Where.DROPPED)
    kept = sum(1 for hit in found.held if hit.fate is Fate.KEPT)
    if not named.hits and not found.held:
        text.draw(
            html.banner(
                Tone.UNKNOWN,
                "Not found",
                read,
                "This proves nothing: the content may have been cut up in another way, or never have been there.",
            )
        )
        return
    said = [
        f"dropped by {visible.plural(dropped, 'receipt')}" if dropped else "",
        f"kept in {visible.plural(kept, 'receipt')} whose content is held" if kept else "",
    ]
    title = "Found: " + (", ".join(filter(None, said)) or "as a whole side, or introduced")
    text.draw(
        html.banner(
            Tone.BAD if dropped else Tone.GOOD,
            title,
            read,
            "A hit proves that a receipt claims the drop of exactly these bytes, not that the receipt is true.",
        )
    )


def _places(loaded: Loaded, found: Found) -> Sequence[Place]:
    ledgers = {each.input.name: each for each in loaded.review.ledgers}
    listed = [
        _place(ledgers[hit.ledger], hit.line, WHERE_WORDS[hit.where], hit.times, hit.probe.reading.value)
        for hit in found.named.hits
    ]
    listed += [
        _place(ledgers[hit.ledger], hit.line, FATE_WORDS[hit.fate], hit.times, hit.probe.reading.value)
        for hit in found.held
    ]
    return listed


def _place(ledger: LedgerReview, line: int, words: str, times: int, reading: str) -> Place:
    shown = names.shown(ledger.input.name, state.opened())
    return Place(shown, names.link(ledger.input), line, words, times, reading)


def _reach(found: Found) -> None:
    named = found.named
    if named.unreadable:
        st.header("Ledgers that could not be read")
        for error in named.unreadable:
            states.refused(error)
    if named.not_read:
        st.header("Lines that could not be looked at")
        findings.show(named.not_read, key="find:not-read")
    text.note("To look for a digest or a chain value instead, use the search box on the page of a ledger.")
