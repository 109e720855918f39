"""Which rules were pinned, and what became of each in every round?"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import html, loaders, names, spans, state, visible
from dashboard.links import Page, go, query, target
from dashboard.loaders import Loaded
from dashboard.state import Parameter, SpansQuery
from dashboard.theme import HALT, SPAN_VERDICTS, Tone
from dashboard.widgets import opening, pager, pins, span_receipt, span_view, states, text
from engine.errors import WinnowError
from engine.load import Input
from engine.spans.audit import Audit, SpanAudit
from engine.spans.judge import Verdict as SpanVerdict
from engine.spans.marks import Mark
from engine.spans.session import RoundAudit, SessionAudit

VERDICT_WORDS = ["", *(verdict.value for verdict in SpanVerdict)]
CLASS_WORDS = ["", "critical", "INVARIANT", "FACT"]


def show() -> None:
    """Draw all sessions, one session's rounds, or one round's spans, as the address asks."""
    asked = state.spans_query()
    loaded = opening.review()
    if loaded is None:
        st.title("Spans")
        return
    if not asked.transcript:
        _list(loaded)
        return
    found = loaders.transcript(loaded, asked.transcript)
    if found is None:
        st.title("Spans")
        states.unknown_page_input("session")
        return
    file, transcript = found
    try:
        session = states.wait(loaders.jobs(), lambda: loaders.start_spans(state.opened(), file, transcript))
    except WinnowError as error:
        st.title("Spans")
        states.refused(error)
        return
    if session is None:
        return
    compaction = next((each for each in session.rounds if each.index == asked.round), None)
    if compaction is None:
        _session(file, session, asked.round)
    else:
        _round(file, session, compaction, asked)


def _of(file: Input, number: int = 0) -> dict[Parameter, str | int]:
    return {Parameter.TRANSCRIPT: names.link(file), Parameter.ROUND: number}


def _list(loaded: Loaded) -> None:
    st.title("Spans")
    if not loaded.review.held.transcripts:
        states.empty(
            "No session among the opened files",
            "Pinned rules are followed through the compaction rounds of a session.",
            "winnow open SESSION.jsonl",
        )
        opening.upload()
        span_receipt.pasted()
        return
    try:
        audited = states.wait(loaders.jobs(), lambda: loaders.start_all_spans(state.opened(), loaded))
    except WinnowError as error:
        states.refused(error)
        return
    if audited is None:
        return
    text.note(
        "Pins are proposed from what the operator wrote; LAST counts the verdicts of the last round that could be "
        "read. Choose a session."
    )
    shown = [names.shown(file.name, state.opened()) for file, _ in audited]
    chosen = st.dataframe(
        spans.sessions_frame(shown, [session for _, session in audited]),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=state.query_key("span-sessions", *(file.sha256 for file, _ in audited)),
        alt="Sessions with their pins and the verdicts of the last round; choose one to open it",
    )
    places = chosen["selection"]["rows"]
    if places and places[0] < len(audited):
        file, session = audited[places[0]]
        go(Page.SPANS, _of(file, _worst(session)))
    span_receipt.pasted()


def _worst(session: SessionAudit) -> int:
    """Return the first round in which a critical span is LOST, else is damaged, else any span is, else none."""
    critical = {each.index: spans.critical_damage(each.audit) for each in session.rounds}
    lost = [n for n, damage in critical.items() if any(span.verdict is SpanVerdict.LOST for span in damage)]
    damaged = [n for n, damage in critical.items() if damage]
    some = [each.index for each in session.rounds if each.audit and each.audit.damaged()]
    return next(iter([*lost, *damaged, *some]), 0)


def _session(file: Input, session: SessionAudit, missing: int) -> None:
    text.title("Spans", names.shown(file.name, state.opened()), f"{session.compactor} · SHA-256 {file.sha256}")
    _ways(file)
    if missing:
        states.empty(
            f"This session has no round {missing:,}",
            f"It records {visible.plural(len(session.rounds), 'round')}; the link may be about another file.",
        )
    st.header("Rounds")
    if not session.rounds:
        states.empty(
            "No compaction is recorded in this file",
            "There is no text after a compaction to judge; the pins below wait for one.",
        )
    else:
        _rounds(file, session)
    pins.show(session)
    text.command(f"winnow spans audit {file.name}")


def _ways(file: Input) -> None:
    with st.container(horizontal=True):
        st.page_link(target(Page.SPANS), label="All sessions")
        st.page_link(target(Page.TRANSCRIPT), label="Transcript", query_params=query(_of(file)))
        st.page_link(
            target(Page.RETENTION), label="Retention", query_params=query({Parameter.TRANSCRIPT: names.link(file)})
        )


def _rounds(file: Input, session: SessionAudit) -> None:
    chosen = st.dataframe(
        spans.rounds_frame(session),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=state.query_key("span-rounds", file.sha256),
        alt="Rounds with the verdicts of their pinned spans; choose one to open it",
    )
    places = chosen["selection"]["rows"]
    if places and places[0] < len(session.rounds):
        go(Page.SPANS, _of(file, session.rounds[places[0]].index))
    text.note("✔ PRESERVED, ◐ DEGRADED, ✖ LOST, ○ UNVERIFIABLE: counts over all that the model saw after the round.")


def _round(file: Input, session: SessionAudit, compaction: RoundAudit, asked: SpansQuery) -> None:
    indexes = [each.index for each in session.rounds]
    place = indexes.index(compaction.index)
    name = names.shown(file.name, state.opened())
    text.title("Spans", f"Round {compaction.index:,} of {len(indexes):,}", f"{name} · {session.compactor}")
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Previous", key="previous", shortcut="K", disabled=place == 0):
            go(Page.SPANS, {**_of(file, indexes[place - 1]), Parameter.PIN: asked.pin})
        if st.button("Next", key="next", shortcut="J", disabled=place + 1 == len(indexes)):
            go(Page.SPANS, {**_of(file, indexes[place + 1]), Parameter.PIN: asked.pin})
        st.page_link(target(Page.SPANS), label="All rounds", query_params=query(_of(file)))
        st.page_link(target(Page.TRANSCRIPT), label="What was dropped", query_params=query(_of(file, compaction.index)))
    if compaction.audit is None:
        text.draw(html.banner(Tone.UNKNOWN, "UNVERIFIABLE: no verdict for any span", compaction.why_not))
        text.note("Nothing is counted as lost here, and nothing as kept.")
        return
    _head(compaction, compaction.audit)
    if not compaction.audit.spans:
        states.empty(
            "No pin is judged in this round",
            "Nothing that the operator wrote before it begins like a rule or bears a marker. Pin spans by hand.",
        )
        st.page_link(target(Page.SPANS), label="Pins of this session", query_params=query(_of(file)))
        return
    try:
        marked = spans.marks_here(session, compaction.index, compaction.audit, loaders.marks(state.opened()))
    except WinnowError as error:
        states.refused(error)
        marked = {}
    _spans(file, session, compaction, compaction.audit, marked, asked)
    span_receipt.round_receipt(session, compaction, compaction.audit)


def _head(compaction: RoundAudit, audited: Audit) -> None:
    damage = spans.critical_damage(audited)
    if damage:
        text.draw(
            html.banner(
                Tone.BAD,
                f"■ {HALT.word}: {visible.plural(len(damage), 'critical span')} not whole in what the model sees",
                *(each.pin.text[:200] for each in damage[:5]),
                html.muted("A run that may not put them back must stop; the block below puts them back word for word."),
            )
        )
    if compaction.bounded:
        text.draw(html.banner(Tone.BOUNDED, "Judged on what the file holds", compaction.bounded))
    if audited.split.torn:
        text.draw(html.banner(Tone.BOUNDED, "What begins like a re-injected block is none; it was read as text"))
    counts = audited.counts()
    facts: list[tuple[str, str]] = [
        (SPAN_VERDICTS[verdict].text, f"{counts[verdict]} of {len(audited.spans)}") for verdict in SpanVerdict
    ]
    if compaction.summary is not None:
        kept = compaction.summary.counts()[SpanVerdict.PRESERVED]
        facts.append(("✔ in the summary alone", f"{kept} of {len(audited.spans)}"))
    facts.append(("Words before and after", f"{compaction.words_before:,} → {compaction.words_after:,}"))
    facts.append(("Method and model", f"{compaction.method}, {compaction.model}"))
    text.draw(html.facts(facts))


def _spans(
    file: Input,
    session: SessionAudit,
    compaction: RoundAudit,
    audited: Audit,
    marked: Mapping[str, Mark],
    asked: SpansQuery,
) -> None:
    st.header("Pinned spans")
    listed = _filtered(audited)
    first = pager.show(len(listed), noun="span")
    page = listed[first : first + pager.PAGE_ROWS]
    if page:
        chosen = st.dataframe(
            spans.spans_frame(page, marked),
            hide_index=True,
            on_select="rerun",
            selection_mode="single-row",
            key=state.query_key("spans", audited.post_sha256, compaction.index, *(each.pin.id for each in page)),
            height=min(38 + 35 * len(page), 740),
            alt="Pinned spans with their verdicts, critical first; choose one to see the evidence",
        )
        places = chosen["selection"]["rows"]
        if places and places[0] < len(page) and page[places[0]].pin.id != asked.pin:
            go(Page.SPANS, {**_of(file, compaction.index), Parameter.PIN: page[places[0]].pin.id})
    opened = next((each for each in audited.spans if each.pin.id == asked.pin), None)
    if opened is None and asked.pin:
        states.empty(
            "This pin is not judged in this round", "It was written later, left out, or belongs to another session."
        )
    opened = opened or (page[0] if page else None)
    if opened is not None:
        span_view.show(session, compaction, audited, opened, marked.get(opened.pin.id))


def _filtered(audited: Audit) -> tuple[SpanAudit, ...]:
    one, two, three = st.columns([1, 1, 2])
    with one:
        verdict = st.selectbox(
            "Verdict",
            VERDICT_WORDS,
            format_func=lambda word: word or "all",
            key=Parameter.VERDICT.value,
            bind="query-params",
        )
    with two:
        cls = st.selectbox(
            "Class", CLASS_WORDS, format_func=lambda word: word or "all", key=Parameter.CLASS.value, bind="query-params"
        )
    with three:
        words = st.text_input("Text in the span", key=Parameter.SEARCH.value, bind="query-params")
    return spans.Shown(verdict or "", cls or "", words or "").of(audited)
