"""How is one span shown with everything that stands beside its verdict?

What the span says, the nearest passage in the text, what changed between them, the flags with their meaning, and a
reviewer's mark. None of it changes the verdict.
"""

from __future__ import annotations

import streamlit as st
from markupsafe import Markup

from dashboard import actions, html, spans, state
from dashboard.theme import SPAN_VERDICTS
from dashboard.widgets import states, text
from engine.errors import WinnowError
from engine.spans.audit import Audit, SpanAudit
from engine.spans.judge import Verdict as SpanVerdict
from engine.spans.marks import NAME_LIMIT, REASON_LIMIT, Mark
from engine.spans.session import RoundAudit, SessionAudit


def show(session: SessionAudit, compaction: RoundAudit, audited: Audit, each: SpanAudit, marked: Mark | None) -> None:
    """Draw one span of one round."""
    st.subheader("One span")
    found = SPAN_VERDICTS[each.verdict]
    text.draw(Markup("<div>{} {}</div>").format(html.badge(found), html.muted(found.meaning)))
    if each.in_block and each.body is not SpanVerdict.PRESERVED:
        text.note(f"Only the re-injected block carries it; what the compactor wrote is {each.body.value}.")
    if marked is not None:
        text.draw(html.facts(((f"Marked by {marked.name} as kept in other words", marked.reason), ("At", marked.at))))
    text.block(each.pin.text, key=f"pin:{each.pin.id}")
    text.draw(html.facts(spans.evidence_facts(session, each)))
    _damage(each)
    _flags(each)
    _texts(session, compaction, audited, each)
    _mark(session, compaction, audited, each, marked)


def _damage(each: SpanAudit) -> None:
    if each.judged.missing:
        text.note(f"not in the text: {', '.join(each.judged.missing[:60])}")
    if each.verdict is not SpanVerdict.PRESERVED:
        text.note("Against the nearest passage: struck is gone, underlined is new")
        text.draw(spans.difference(each.evidence))
        if each.evidence.diff_cut:
            text.note("The span is longer than what is compared; its end is left out.")


def _flags(each: SpanAudit) -> None:
    if not each.evidence.flags:
        return
    rows = [(html.code(flag.value), spans.FLAG_WORDS[flag]) for flag in each.evidence.flags]
    text.draw(
        html.table("Flags, which are hints from words alone and change no verdict", ("FLAG", "WHAT WAS SEEN"), rows)
    )


def _texts(session: SessionAudit, compaction: RoundAudit, audited: Audit, each: SpanAudit) -> None:
    before, after = st.columns(2)
    with before:
        text.note("Before: as it was written")
        place = session.places.get(each.pin.id)
        text.block(each.pin.text, key=f"before:{each.pin.id}")
        if place is not None:
            text.note(f"line {place.line:,} of the session, judged from round {place.entered + 1:,} on")
    with after:
        text.note(f"After round {compaction.index:,}: where it stands, or the nearest passage")
        passage = spans.passage(audited.split.body, each.evidence)
        if passage is None:
            text.note("No word of it stands in the text.")
        else:
            text.draw(passage)


def _mark(session: SessionAudit, compaction: RoundAudit, audited: Audit, each: SpanAudit, marked: Mark | None) -> None:
    if each.body is SpanVerdict.PRESERVED:
        return
    workspace = state.opened().workspace
    place = spans.place_of(session, compaction.index, audited, each.pin.id)
    with (
        st.expander("A reviewer's word: kept in other words", icon=":material/edit_note:"),
        st.form(f"mark:{each.pin.id}:{compaction.index}", border=False),
    ):
        text.note(
            "A mark stands beside the verdict with your name and reason; verdict, counts and receipt stay as they are."
        )
        name = st.text_input("Your name", max_chars=NAME_LIMIT)
        reason = st.text_area("Why it is kept in other words", max_chars=REASON_LIMIT)
        if marked is None:
            asked, taken_back = st.form_submit_button("Mark it"), False
        else:
            asked, taken_back = False, st.form_submit_button("Take the mark back")
    try:
        if asked:
            actions.set_mark(workspace, place, each, name, reason)
        elif taken_back:
            actions.take_mark_back(workspace, place, name, reason)
        else:
            return
    except WinnowError as error:
        states.refused(error)
        return
    st.rerun()
