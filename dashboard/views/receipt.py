"""Does this receipt tell the truth about what was dropped?"""

from __future__ import annotations

import streamlit as st

from dashboard import html, loaders, names, receipts, state, visible
from dashboard.links import Page, address, go, query, target
from dashboard.loaders import Loaded
from dashboard.state import Parameter, ReceiptQuery
from dashboard.theme import Tone, Verdict, answer_verdict
from dashboard.widgets import digest, findings, items, opening, states, text, verdict
from dashboard.widgets.items import Shown
from engine.digests import raw_digest
from engine.errors import CannotLookError
from engine.ledger.index.layout import LedgerIndex
from engine.ledger.index.query import IndexRow, row_at_line, row_bytes
from engine.ledger.index.states import CHAIN_STATE
from engine.receipts.ambiguity import verify_receipt_line
from engine.receipts.candidates import SideName
from engine.receipts.equation import byte_equation, count_equation
from engine.receipts.link import Link
from engine.receipts.recompute import ContentComparison, HeldItem
from engine.receipts.verify import ReceiptReport
from engine.receipts.words import sentence_of
from engine.report.plain import content_text
from engine.review import LedgerReview, Question

RAW_BYTES = 1024 * 1024
"""Bytes of a row shown on the page; the whole row is a download away."""


def show() -> None:
    """Draw one row of a ledger: trust, equation, drops, content, checks, raw."""
    asked = state.receipt_query()
    loaded = opening.review()
    if loaded is None:
        st.title("Receipt")
        return
    ledger = opening.ledger(loaded, asked.ledger)
    if ledger is None:
        return
    index = states.wait(loaders.jobs(), lambda: loaders.start_index(state.opened(), loaded, ledger))
    if index is None:
        return
    row = row_at_line(index, asked.line)
    if row is None:
        st.title("Receipt")
        states.empty(
            f"Line {asked.line:,} of this ledger holds no row",
            f"The ledger has {visible.plural(index.lines, 'line')}; blank lines are no rows.",
        )
        st.page_link(target(Page.LEDGER), label="Back to the ledger", query_params=query(_of(ledger)))
        return
    _page(loaded, ledger, index, row, asked)


def _page(loaded: Loaded, ledger: LedgerReview, index: LedgerIndex, row: IndexRow, asked: ReceiptQuery) -> None:
    try:
        data = row_bytes(ledger.input.source, row)
    except CannotLookError as error:
        states.refused(error)
        return
    link = _link(loaded, ledger, row)
    alone = verify_receipt_line(data, line=row.line, nesting=ledger.chain.limits.nesting)
    report = alone if link is None else link.report
    _head(ledger, index, row)
    if _is_receipt(row):
        _compare_link(asked, report)
        _verdict(loaded, ledger, row, alone, link)
        _numbers(report)
        _tabs(ledger, row, report, link, data)
    else:
        states.empty("This row is no compaction receipt", "It is shown as it stands; only the chain speaks of it.")
        _raw(ledger, row, report, data)


def _of(ledger: LedgerReview) -> dict[Parameter, str | int]:
    return {Parameter.LEDGER: names.link(ledger.input)}


def _back() -> dict[Parameter, str | int]:
    return {Parameter.BACK: state.text(Parameter.BACK)}


def _is_receipt(row: IndexRow) -> bool:
    return row.labels.get(loaders.RECEIPT_STATE, loaders.NO_RECEIPT) != loaders.NO_RECEIPT


def _link(loaded: Loaded, ledger: LedgerReview, row: IndexRow) -> Link | None:
    kept = next((link for link in ledger.links if link.line == row.line), None)
    if kept is not None or ledger.linked <= len(ledger.links) or not _is_receipt(row):
        return kept
    return states.wait(loaders.jobs(), lambda: loaders.start_link(loaded, ledger, row.line))


def _head(ledger: LedgerReview, index: LedgerIndex, row: IndexRow) -> None:
    name = names.shown(ledger.input.name, state.opened())
    kind = "Receipt" if _is_receipt(row) else "Row"
    when = f" · {row.time:%Y-%m-%d %H:%M:%S} UTC" if row.time else ""
    meta = f"{name} · {visible.size(row.length)} at byte {row.offset:,}{when}"
    text.title(kind, f"Line {row.line:,}", meta)
    previous, following = receipts.neighbours(index, row.line)
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Previous", key="previous", shortcut="K", disabled=previous is None):
            go(Page.RECEIPT, {**_of(ledger), Parameter.LINE: previous or 0, **_back()})
        if st.button("Next", key="next", shortcut="J", disabled=following is None):
            go(Page.RECEIPT, {**_of(ledger), Parameter.LINE: following or 0, **_back()})
        back = query({**_of(ledger), **state.carried_filters()})
        st.page_link(target(Page.LEDGER), label="All rows", query_params=back)


def _compare_link(asked: ReceiptQuery, report: ReceiptReport) -> None:
    found = receipts.own_digest(report)
    if asked.digest and asked.digest != found:
        states.other_receipt(asked.digest, found)


def _verdict(loaded: Loaded, ledger: LedgerReview, row: IndexRow, alone: ReceiptReport, link: Link | None) -> None:
    report = alone if link is None else link.report
    pin, signature = ledger.answer(Question.HEAD_PIN), ledger.answer(Question.SIGNATURE)
    verdict.trust(
        [
            html.Trust("Self-consistent", receipts.own_verdict(alone), sentence_of(alone)),
            receipts.chain_trust(row.labels.get(CHAIN_STATE, ""), ledger.answer(Question.CHAIN).words),
            html.Trust("Head pin", answer_verdict(pin.result, pin.of), pin.words),
            html.Trust("Signature", answer_verdict(signature.result, signature.of), signature.words),
            receipts.content_trust(link),
        ]
    )
    text.note(f"Rounds: {receipts.round_words(ledger.rounds.get(row.line))}")
    _spans_link(loaded, link)
    verdict.scope(*receipts.scope_of(report))
    text.command(receipts.command(ledger.input.name, row.line, link, loaded.review.held.transcripts))


def _spans_link(loaded: Loaded, link: Link | None) -> None:
    """Lead to the pinned spans of the round whose content this receipt is about, when a session holds it."""
    for side in (link.post, link.pre) if link is not None else ():
        if side is not None and side.side is not SideName.CONTENT:
            file, _ = loaded.review.held.transcripts[side.order]
            here = query({Parameter.TRANSCRIPT: names.link(file), Parameter.ROUND: side.round_index})
            st.page_link(target(Page.SPANS), label="Pinned spans of this round", query_params=here)
            return


def _numbers(report: ReceiptReport) -> None:
    if report.claim is None:
        return
    st.header("Claimed and recomputed")
    text.draw(receipts.equation(byte_equation(report.claim)))
    text.draw(receipts.equation(count_equation(report.claim)))
    rows = receipts.claimed_and_recomputed(report.claim, report.comparison)
    text.draw(html.table("Claimed and recomputed", ("", "CLAIMED", "RECOMPUTED", ""), rows))


def _tabs(ledger: LedgerReview, row: IndexRow, report: ReceiptReport, link: Link | None, data: bytes) -> None:
    drops, content, checks, raw = st.tabs(["Drops", "Content before and after", "Checks", "Raw"])
    with drops:
        _drops(report)
    with content:
        _content(report.comparison, link)
    with checks:
        _checks(report)
    with raw:
        _raw(ledger, row, report, data)


def _drops(report: ReceiptReport) -> None:
    found = report.comparison
    if found is not None and found.full:
        items.pages(
            len(found.dropped),
            lambda first, limit: [_dropped(item, found) for item in found.dropped_items(first, limit)],
            key="drops",
            nothing="Nothing was dropped: every item before is still there afterwards.",
        )
        return
    text.note("The content is not held here, so only the digests of the manifest can be shown.")
    if report.claim is None or not report.claim.manifest.digests:
        text.note("The manifest names no item.")
        return
    total = len(report.claim.manifest.digests)
    pages = -(-total // findings.PER_PAGE)
    page = st.pagination(pages, key="manifest:page") if pages > 1 else 1
    rows = receipts.manifest_rows(report.claim, (page - 1) * findings.PER_PAGE, findings.PER_PAGE)
    text.draw(html.table("Manifest of dropped items", ("ITEM", "DIGEST"), rows))
    text.note(f"{visible.plural(total, 'item')} named as dropped; to see whether yours is among them use Find.")


def _dropped(item: HeldItem, found: ContentComparison) -> Shown:
    noted = receipts.drop_note(item.digest, found)
    return _shown(item, f"item {item.position + 1:,} before", noted or Verdict("DROPPED", Tone.BAD))


def _shown(item: HeldItem, heading: str, found: Verdict | None = None) -> Shown:
    return Shown(heading, item.size, item.digest, content_text(item.item), found)


def _content(found: ContentComparison | None, link: Link | None) -> None:
    if found is None or link is None:
        text.note("No content that is open here has the digests this receipt claims.")
        text.note("Add the content before and after, or the session it comes from, and open this page again.")
        return
    text.draw(
        html.facts(
            (
                ("Before", receipts.where_found(link.pre, link.pre_by)),
                ("After", receipts.where_found(link.post, link.post_by)),
                ("Further places with the same digests", f"{link.alternatives:,}"),
            )
        )
    )
    if found.rewritten:
        st.subheader("Rewritten")
        text.note(f"{visible.plural(len(found.rewritten), 'item')} kept their id and changed their content")
        for old, new in found.rewritten_items(0, items.PER_PAGE):
            text.draw(html.word_diff(content_text(old.item), content_text(new.item)))
    left, right = st.columns(2)
    with left:
        st.subheader("Before")
        _side(found.pre_items, set(found.dropped) if found.full else None, "DROPPED", key="before")
    with right:
        st.subheader("After")
        _side(found.post_items, set(found.introduced) if found.full else None, "INTRODUCED", key="after")


def _side(content: object, marked: set[int] | None, word: str, *, key: str) -> None:
    held = list(content) if isinstance(content, list | tuple) else []

    def page(first: int, limit: int) -> list[Shown]:
        return [
            Shown(
                f"item {position + 1:,}",
                len(content_text(held[position]).encode("utf-8", "surrogatepass")),
                "",
                content_text(held[position]),
                _mark(position, marked, word),
            )
            for position in range(first, min(first + limit, len(held)))
        ]

    items.pages(len(held), page, key=key, nothing="No items are held on this side.")


def _mark(position: int, marked: set[int] | None, word: str) -> Verdict | None:
    if marked is None:
        return None
    if position not in marked:
        return Verdict("KEPT", Tone.GOOD)
    return Verdict(word, Tone.BAD if word == "DROPPED" else Tone.BOUNDED)


def _checks(report: ReceiptReport) -> None:
    if report.findings:
        findings.show(report.findings, key="receipt:findings")
    else:
        text.note("Every check was made and found nothing to say.")
    text.note("In the words of the format's reference verifier")
    text.draw(html.facts(receipts.reference_words(report)))
    if report.stricter:
        text.note(f"stricter here than the reference: {', '.join(report.stricter)}")


def _raw(ledger: LedgerReview, row: IndexRow, report: ReceiptReport, data: bytes) -> None:
    if row.length > RAW_BYTES:
        states.too_large(RAW_BYTES, row.length, "byte", f"sed -n {row.line}p LEDGER")
    text.block(data[:RAW_BYTES].decode("utf-8", "replace"), key="raw")
    digest.show("Digest of the bytes of this row", raw_digest(data))
    own = receipts.own_digest(report)
    if own:
        digest.show("Digest of the receipt, as claimed", own)
    text.note("Link to this row; it says so when another receipt stands here")
    text.command(address(Page.RECEIPT, {**_of(ledger), Parameter.LINE: row.line, Parameter.DIGEST: own}))
    st.download_button(
        "Download this row", data, f"row-{visible.label(str(row.line))}.json", key="raw:download", on_click="ignore"
    )
