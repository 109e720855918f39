"""What stood in the context before and after each compaction, and what was dropped?"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import html, loaders, names, sessions, state, visible
from dashboard.links import Page, go, query, target
from dashboard.loaders import Loaded
from dashboard.sessions import RoundNumbers
from dashboard.state import Parameter
from dashboard.theme import RESULTS, Tone, Verdict
from dashboard.widgets import findings, items, opening, pager, states, text
from dashboard.widgets.items import Shown
from engine.load import Input
from engine.receipts.words import sentence_of
from engine.transcripts.item import ContextItem
from engine.transcripts.rounds import CompactionRound, RoundDifference, Transcript, round_difference


def show() -> None:
    """Draw the sessions, one session's rounds, or one round, as the address asks."""
    asked = state.transcript_query()
    loaded = opening.review()
    if loaded is None:
        st.title("Transcript")
        return
    held = loaded.review.held.transcripts
    if not asked.transcript:
        _list(held)
        return
    found = loaders.transcript(loaded, asked.transcript)
    if found is None:
        st.title("Transcript")
        states.unknown_page_input("session")
        return
    file, transcript = found
    compaction = next((each for each in transcript.rounds if each.index == asked.round), None)
    if asked.round and compaction is not None:
        _round(loaded, file, transcript, compaction)
    else:
        _session(file, transcript, asked.round)


def _of(file: Input) -> dict[Parameter, str | int]:
    return {Parameter.TRANSCRIPT: names.link(file)}


def _list(held: Sequence[tuple[Input, Transcript]]) -> None:
    st.title("Transcripts")
    if not held:
        states.empty(
            "No session among the opened files",
            "Sessions of Claude Code, Codex, pi, chat lists, before/after pairs and more are read.",
            "winnow open SESSION.jsonl",
        )
        opening.upload()
        return
    text.note("Choose a session to see its compactions and what each of them dropped.")
    shown = [names.shown(file.name, state.opened()) for file, _ in held]
    chosen = st.dataframe(
        sessions.sessions_frame(shown, [each for _, each in held]),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=state.query_key("sessions", *(file.sha256 for file, _ in held)),
        alt="Sessions with their format, rounds and notices; choose one to open it",
    )
    places = chosen["selection"]["rows"]
    if places and places[0] < len(held):
        go(Page.TRANSCRIPT, _of(held[places[0]][0]))


def _session(file: Input, transcript: Transcript, missing: int) -> None:
    name = names.shown(file.name, state.opened())
    text.title("Transcript", name, f"{visible.size(file.size)} · SHA-256 {file.sha256}")
    st.page_link(target(Page.TRANSCRIPT), label="All sessions")
    if missing:
        states.empty(
            f"This session has no round {missing:,}",
            f"It records {visible.plural(len(transcript.rounds), 'round')}; the link may be about another file.",
        )
    text.draw(
        html.facts(
            (
                ("Format", transcript.format),
                ("Session", transcript.session or "not recorded"),
                ("Tool version", transcript.tool_version or "not recorded"),
                ("Rounds", f"{len(transcript.rounds):,}"),
                ("Items read", f"{len(transcript.items):,}"),
                ("Items in context at the end", f"{len(transcript.context):,}"),
            )
        )
    )
    st.header("Rounds")
    if transcript.rounds:
        _rounds(file, transcript)
    else:
        states.empty(
            "No compaction is recorded in this file",
            "Nothing is known of what was dropped; no round is invented for a format that records none.",
        )
    _notices(transcript)
    text.command(f"winnow rounds {file.name}")


def _rounds(file: Input, transcript: Transcript) -> None:
    counted = states.wait(loaders.jobs(), lambda: loaders.start_rounds(file, transcript))
    if counted is None:
        return
    first = pager.show(len(counted), noun="round")
    page: Sequence[RoundNumbers] = counted[first : first + pager.PAGE_ROWS]
    chosen = st.dataframe(
        sessions.rounds_frame(page),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=state.query_key("rounds", file.sha256, first),
        height=min(38 + 35 * len(page), 740),
        alt="Rounds with both sides, what was dropped, kept and introduced; choose one to open it",
    )
    places = chosen["selection"]["rows"]
    if places and places[0] < len(page):
        go(Page.TRANSCRIPT, {**_of(file), Parameter.ROUND: page[places[0]].index})
    text.note("Choose a round to see the items. Counts over a side that is not exact count only what is visible there.")


def _notices(transcript: Transcript) -> None:
    if transcript.failed_attempts:
        st.header("Compactions that failed")
        findings.show(transcript.failed_attempts, key="failed")
    if transcript.notices:
        st.header("Notices of the reader")
        findings.show(transcript.notices, key="notices")


def _round(loaded: Loaded, file: Input, transcript: Transcript, compaction: CompactionRound) -> None:
    _head(file, transcript, compaction)
    left, right = st.columns(2)
    with left:
        text.draw(sessions.side_card("Before", transcript, compaction.pre))
    with right:
        text.draw(sessions.side_card("After", transcript, compaction.post))
    found = round_difference(transcript, compaction)
    st.header("Claimed by the tool, and recomputed")
    text.draw(html.facts(sessions.claims(compaction)))
    text.draw(
        html.facts(
            (
                ("Kept, recomputed", f"{len(found.kept):,}"),
                ("Dropped, recomputed", f"{len(found.dropped):,}"),
                ("Introduced, recomputed", f"{len(found.introduced):,}"),
                ("Rewritten, recomputed", f"{len(found.rewritten):,}"),
            )
        )
    )
    _receipts(loaded, transcript, compaction)
    _items(found)


def _head(file: Input, transcript: Transcript, compaction: CompactionRound) -> None:
    name = names.shown(file.name, state.opened())
    indexes = [each.index for each in transcript.rounds]
    place = indexes.index(compaction.index)
    text.title("Transcript", f"Round {compaction.index:,} of {len(indexes):,}", name)
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Previous", key="previous", shortcut="K", disabled=place == 0):
            go(Page.TRANSCRIPT, {**_of(file), Parameter.ROUND: indexes[place - 1]})
        if st.button("Next", key="next", shortcut="J", disabled=place + 1 == len(indexes)):
            go(Page.TRANSCRIPT, {**_of(file), Parameter.ROUND: indexes[place + 1]})
        st.page_link(target(Page.TRANSCRIPT), label="All rounds", query_params=query(_of(file)))
        here = query({**_of(file), Parameter.ROUND: compaction.index})
        st.page_link(target(Page.SPANS), label="Pinned spans of this round", query_params=here)


def _receipts(loaded: Loaded, transcript: Transcript, compaction: CompactionRound) -> None:
    linked = loaders.receipts_of_round(loaded, transcript, compaction.index)
    st.header("Receipts of this round")
    if not linked:
        text.note("No receipt among the opened ledgers claims the content of this round.")
        return
    for ledger, link in linked[: items.PER_PAGE]:
        words, way = st.columns([8, 1], vertical_alignment="center")
        with words:
            place = f"{names.shown(ledger.input.name, state.opened())}, line {link.line:,}"
            text.draw(html.problem(RESULTS[link.result], place, sentence_of(link.report)))
        with way:
            st.page_link(
                target(Page.RECEIPT),
                label=f"Line {visible.count(link.line)}",
                query_params=query({Parameter.LEDGER: names.link(ledger.input), Parameter.LINE: link.line}),
            )


def _items(found: RoundDifference) -> None:
    st.header("Items")
    dropped, kept, introduced, rewritten = st.tabs(["Dropped", "Kept", "Introduced", "Rewritten"])
    with dropped:
        _pages(found.dropped, "dropped", Verdict("DROPPED", Tone.BAD), "Nothing visible was dropped in this round.")
    with kept:
        _pages(found.kept, "kept", Verdict("KEPT", Tone.GOOD), "Nothing was kept word for word in this round.")
    with introduced:
        _pages(found.introduced, "introduced", Verdict("INTRODUCED", Tone.BOUNDED), "Nothing new stands afterwards.")
    with rewritten:
        if not found.rewritten:
            text.note("No item kept its id and changed its content.")
        for old, new in found.rewritten[: items.PER_PAGE]:
            text.line(sessions.heading(new))
            text.draw(html.word_diff(sessions.body(old), sessions.body(new)))
        if len(found.rewritten) > items.PER_PAGE:
            states.too_large(items.PER_PAGE, len(found.rewritten), "rewritten item", "winnow rounds SESSION --json")


def _pages(listed: Sequence[ContextItem], key: str, verdict: Verdict, nothing: str) -> None:
    def page(first: int, limit: int) -> list[Shown]:
        return [
            Shown(sessions.heading(item), item.size, item.digest, sessions.body(item), verdict)
            for item in listed[first : first + limit]
        ]

    items.pages(len(listed), page, key=key, nothing=nothing)
