"""What is opened, and has it been checked yet?

Every page that speaks of files begins here: it returns the review, or draws why there is none yet.
"""

from __future__ import annotations

import streamlit as st

from dashboard import actions, loaders, names, state
from dashboard.loaders import Loaded
from dashboard.widgets import states, text
from engine.errors import WinnowError
from engine.review import LedgerReview

UPLOAD_MEBIBYTES = 64


def review() -> Loaded | None:
    """Return the review of everything that is opened, or draw its progress, its error or the empty state."""
    opened = state.opened()
    for path in loaders.missing(opened):
        states.gone(str(path))
    try:
        if not loaders.paths(opened):
            nothing()
            return None
        return states.wait(loaders.jobs(), lambda: loaders.start_review(opened))
    except WinnowError as error:
        states.refused(error)
        return None


def nothing() -> None:
    """Draw the empty state: what would be here and what to do."""
    states.empty(
        "Nothing is open yet",
        "Here you will see which ledgers were altered, which receipts do not tell the truth, and what was dropped.",
        "winnow demo",
    )
    upload()


def upload() -> None:
    """Offer to add files; they are kept in the workspace of this machine under names of our own."""
    with st.expander("Add ledgers, sessions or content files"):
        files = st.file_uploader(
            "Files stay on this machine",
            accept_multiple_files=True,
            max_upload_size=UPLOAD_MEBIBYTES,
            key="upload:files",
        )
        text.note(
            f"At most {UPLOAD_MEBIBYTES} MiB a file here; open larger files and whole folders by path: winnow open PATH"
        )
        if st.button("Add and check", key="upload:add", disabled=not files, type="primary"):
            for file in files:
                actions.keep_upload(loaders.uploads(state.opened()), file.name, file.getvalue())
            st.rerun()


def ledger(loaded: Loaded, wanted: str) -> LedgerReview | None:
    """Return the ledger that the address names, or draw that it is not open."""
    found = loaded.ledger(wanted)
    if found is None:
        st.title("Ledger")
        open_now = ", ".join(names.shown(each.input.name, state.opened()) for each in loaded.review.ledgers[:20])
        states.empty(
            "This ledger is not open here",
            f"A link names the bytes of a ledger: it may have grown or changed since. Open now: {open_now or 'none'}",
            "winnow open PATH",
        )
    elif found.chain.result == "FAILS":
        first = next((f.line for f in found.chain.findings if f.code.severity == "break"), None)
        states.tampered(first, found.chain.breaks_total)
    return found
