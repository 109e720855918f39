"""How does the result of one round leave as a signed receipt, and how is a receipt checked?

Signing is the workspace's own key at work for the length of a click. A pasted receipt is foreign text and is judged by
the keyring of this workspace alone.
"""

from __future__ import annotations

import streamlit as st

from dashboard import actions, html, state
from dashboard.theme import RESULTS, Tone
from dashboard.widgets import findings, states, text
from engine.clock import utc_now
from engine.control.custody import RecordedKeys
from engine.errors import WinnowError
from engine.spans.audit import Audit
from engine.spans.block import Entry, format_block
from engine.spans.classify import is_trusted
from engine.spans.receipt import Occasion, ReceiptCheck, check_receipt
from engine.spans.session import RoundAudit, SessionAudit

_MADE = "span-receipt"


def round_receipt(session: SessionAudit, compaction: RoundAudit, audited: Audit) -> None:
    """Draw the block that would be put back, the signed receipt, and the check of a pasted one."""
    st.header("Put back, sign, check")
    block, sign, check = st.tabs(["Block to put back", "Signed receipt", "Check a receipt"])
    with block:
        _block(audited)
    with sign:
        _sign(session, compaction, audited)
    with check:
        _check(audited)


def _block(audited: Audit) -> None:
    damaged = audited.damaged()
    entries = [
        Entry(each.pin.id, each.pin.cls, each.pin.critical, each.body, each.pin.text)
        for each in damaged
        if is_trusted(each.pin.role)
    ]
    withheld = len(damaged) - len(entries)
    if withheld:
        text.note(f"{withheld:,} damaged spans are withheld: a tool or page wrote them, and a block would honour them.")
    if not entries:
        text.note("Nothing has to be put back.")
        return
    text.note("Appended after one blank line, every damaged pin word for word; appending it again changes nothing.")
    text.block(format_block(entries), key="block")
    text.command("winnow spans reinject --post AFTER.txt --receipt RECEIPT.json --snapshot SNAPSHOT.json")


def _sign(session: SessionAudit, compaction: RoundAudit, audited: Audit) -> None:
    workspace = state.opened().workspace
    held = RecordedKeys(workspace)
    try:
        if not held.custody.exists():
            _make_key()
            return
        locked = held.custody.is_locked()
    except WinnowError as error:
        states.refused(error)
        return
    key = state.query_key(_MADE, session.digest, compaction.index, audited.post_sha256, audited.snapshot.digest())
    with st.form("sign", border=False, clear_on_submit=True):
        texts = st.checkbox("With the dropped texts", value=True)
        secret = st.text_input("Passphrase of the key", type="password") if locked else ""
        asked = st.form_submit_button("Sign")
    if asked:
        occasion = Occasion(
            compaction.index,
            session.compactor,
            compaction.method,
            compaction.model,
            compaction.pre_bytes,
            compaction.words_before,
        )
        try:
            st.session_state[key] = actions.sign_receipt(workspace, audited, occasion, secret, texts=texts)
        except WinnowError as error:
            states.refused(error)
            return
    made = st.session_state.get(key)
    if made:
        text.note(
            "The receipt names pins, verdicts and the digest of the text; it does not prove that a rule is obeyed."
        )
        st.download_button("Download the receipt", made, "receipt.json", "application/json", on_click="ignore")
        text.block(made.decode("utf-8"), key="receipt")


def _make_key() -> None:
    states.empty("This workspace has no key to sign with", "Make one; its private half stays in the workspace.")
    with st.form("make-key", border=False, clear_on_submit=True):
        secret = st.text_input("Passphrase, at least 8 characters; empty for none", type="password")
        asked = st.form_submit_button("Make a key")
    if not asked:
        return
    try:
        actions.make_key(state.opened().workspace, secret)
    except WinnowError as error:
        states.refused(error)
        return
    st.rerun()


def _check(audited: Audit) -> None:
    """Check a pasted receipt against this round: its pins and its text are here, so verdicts are judged again."""
    pasted_text = st.text_area("Paste a receipt", key="receipt:here")
    if not pasted_text:
        text.note("It is held against the pins and the text of this round.")
        return
    try:
        keys = RecordedKeys(state.opened().workspace).keyring()
        data = pasted_text.strip().encode("utf-8", "surrogatepass")
        _answer(check_receipt(data, keys, now=utc_now(), snapshot=audited.snapshot, post_text=audited.text))
    except WinnowError as error:
        states.refused(error)


def pasted() -> None:
    """Draw the check of any receipt: its signature, time and key; the verdicts need their round."""
    with st.expander("Check a signed receipt", icon=":material/verified_user:"):
        given = st.text_area("Paste a receipt", key="receipt:any")
        if not given:
            text.note("Signature, key and time are checked here; open its round to judge the verdicts again.")
            return
        try:
            keys = RecordedKeys(state.opened().workspace).keyring()
            _answer(check_receipt(given.strip().encode("utf-8", "surrogatepass"), keys, now=utc_now()))
        except WinnowError as error:
            states.refused(error)


def _answer(checked: ReceiptCheck) -> None:
    verdict = RESULTS[checked.result]
    words = {
        Tone.GOOD: "signed, within its time, and the verdicts were judged again",
        Tone.BOUNDED: "signed and within its time; the verdicts were not judged again",
        Tone.BAD: "refused: do not rely on this receipt",
        Tone.UNKNOWN: "nothing can be said about this receipt",
    }[verdict.tone]
    text.draw(html.banner(verdict.tone, f"{verdict.word}: {words}"))
    if checked.findings:
        findings.show(checked.findings, key="receipt:findings")
