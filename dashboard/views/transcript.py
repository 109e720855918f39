"""What stood in the context before and after each compaction?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import html, names, state, visible
from dashboard.links import Page, go
from dashboard.loaders import Loaded
from dashboard.state import Parameter
from dashboard.theme import Tone
from dashboard.widgets import findings, opening, states, text
from engine.load import Input
from engine.transcripts.item import ContextItem
from engine.transcripts.rounds import CompactionRound, RoundDifference, Side, Transcript, round_difference

PER_PAGE = 25
VIEWS = ("Dropped", "Introduced", "Kept", "Rewritten", "Before", "After")


def show() -> None:
    """Draw the sessions, the rounds of one, and what one round did."""
    st.title("Transcript")
    loaded = opening.review()
    if loaded is None:
        return
    sessions = loaded.review.held.transcripts
    if not sessions:
        states.empty("No session among the opened files", "Open the session file of an agent.", "winnow open PATH")
        return
    asked = state.transcript_query()
    file, transcript = next(
        ((f, t) for f, t in sessions if asked.transcript and f.sha256.startswith(asked.transcript)), sessions[0]
    )
    if asked.transcript and not file.sha256.startswith(asked.transcript):
        states.unknown_page_input("session")
    _choose(loaded, file)
    _session(file, transcript)
    if not transcript.rounds:
        states.empty(
            "No compaction is recorded in this session",
            "Nothing is invented: what was dropped is not known. Give a before and an after file to compare two.",
            "winnow check LEDGER --pre BEFORE --post AFTER",
        )
        return
    chosen = _rounds(file, transcript, asked.round)
    _round(file, transcript, chosen)


def _choose(loaded: Loaded, file: Input) -> None:
    sessions = loaded.review.held.transcripts
    if len(sessions) < 2:  # noqa: PLR2004 - a choice needs two
        return
    shown = [names.shown(f.name, state.opened()) for f, _ in sessions]
    at = next(n for n, (f, _) in enumerate(sessions) if f is file)
    picked = st.selectbox(
        "Session", range(len(sessions)), index=at, format_func=lambda n: visible.one_line(shown[n], 90)
    )
    if picked != at:
        go(Page.TRANSCRIPT, {Parameter.TRANSCRIPT: names.link(sessions[picked][0])})


def _session(file: Input, transcript: Transcript) -> None:
    text.title("Session", names.shown(file.name, state.opened()), f"SHA-256 {file.sha256}")
    text.draw(
        html.facts(
            (
                ("Format", transcript.format),
                ("Tool version", transcript.tool_version or "not said"),
                ("Session", html.code(transcript.session or "not said")),
                ("Items", f"{len(transcript.items):,}"),
                ("Rounds", f"{len(transcript.rounds):,}"),
                ("Failed attempts", f"{len(transcript.failed_attempts):,}"),
            )
        )
    )
    notices = (*transcript.failed_attempts, *transcript.notices)
    if notices:
        with st.expander("Notices of the reader"):
            findings.show(notices, key="notices")
    text.command(f"winnow rounds {file.name}")


def _rounds(file: Input, transcript: Transcript, asked: int) -> CompactionRound:
    st.header("Rounds")
    rows = [
        (
            each.index,
            each.kind.value.replace("_", " "),
            len(each.pre.keys),
            each.pre.state.value,
            len(each.post.keys),
            each.post.state.value,
            each.claimed.tokens_before,
            each.claimed.tokens_after,
        )
        for each in transcript.rounds
    ]
    columns = [
        "ROUND",
        "KIND",
        "BEFORE",
        "STATE BEFORE",
        "AFTER",
        "STATE AFTER",
        "TOKENS BEFORE (claimed)",
        "AFTER (claimed)",
    ]
    frame = pd.DataFrame(rows, columns=columns).astype({columns[6]: "Int64", columns[7]: "Int64"})
    chosen = st.dataframe(
        frame,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=state.query_key("rounds", file.sha256),
        height=min(38 + 35 * len(rows), 400),
        alt="Rounds of the session; choose one to see what it did",
    )
    places = chosen["selection"]["rows"]
    if places:
        return transcript.rounds[places[0]]
    wanted = next((each for each in transcript.rounds if each.index == asked), None)
    return wanted or transcript.rounds[0]


def _round(file: Input, transcript: Transcript, each: CompactionRound) -> None:
    found = round_difference(transcript, each)
    st.header(f"Round {visible.count(each.index)}")
    text.draw(
        html.table(
            "Claimed and recomputed",
            ("", "BEFORE", "AFTER"),
            (
                ("state", _state(each.pre), _state(each.post)),
                ("items, bytes (recomputed)", _sums(transcript, each.pre), _sums(transcript, each.post)),
                (
                    "tokens (claimed by the tool)",
                    _tokens(each.claimed.tokens_before),
                    _tokens(each.claimed.tokens_after),
                ),
            ),
        )
    )
    text.draw(
        html.facts(
            (
                ("Dropped", f"{len(found.dropped):,} of {len(each.pre.keys):,}"),
                ("Kept", f"{len(found.kept):,} of {len(each.pre.keys):,}"),
                ("Introduced", f"{len(found.introduced):,} of {len(each.post.keys):,}"),
                ("Rewritten", f"{len(found.rewritten):,}"),
                ("Trigger (claimed)", each.claimed.trigger or "not said"),
                ("Model (claimed)", each.claimed.model or "not said"),
            )
        )
    )
    view = st.segmented_control("Show", VIEWS, default=VIEWS[0], key=Parameter.VIEW.value, bind="query-params")
    _view(transcript, each, found, view or VIEWS[0], state.query_key("items", file.sha256, each.index, view))


def _view(transcript: Transcript, each: CompactionRound, found: RoundDifference, view: str, key: str) -> None:
    dropped = {item.key for item in found.dropped}
    introduced = {item.key for item in found.introduced}
    match view:
        case "Rewritten":
            for before, after in found.rewritten[:PER_PAGE]:
                text.draw(html.word_diff(before.text[:4000], after.text[:4000]))
            text.note(f"{visible.plural(len(found.rewritten), 'item')} with the same id and other content")
        case "Dropped":
            _items(found.dropped, "dropped", Tone.BAD, key)
        case "Introduced":
            _items(found.introduced, "introduced", Tone.BOUNDED, key)
        case "Kept":
            _items(found.kept, "kept", Tone.GOOD, key)
        case "Before":
            _items(transcript.side_items(each.pre), "dropped", Tone.BAD, key, dropped)
        case _:
            _items(transcript.side_items(each.post), "introduced", Tone.BOUNDED, key, introduced)


def _items(items: tuple[ContextItem, ...], word: str, tone: Tone, key: str, only: set[str] | None = None) -> None:
    if not items:
        text.note("none")
        return
    pages = max(1, -(-len(items) // PER_PAGE))
    page = st.pagination(pages, key=key) if pages > 1 else 1
    first = (page - 1) * PER_PAGE
    for number, item in enumerate(items[first : first + PER_PAGE], first):
        hit = only is None or item.key in only
        flags = ", ".join(sorted(flag.value for flag in item.flags))
        kind = item.kind.value.replace("_", " ")
        more = f"{item.role.value} {kind}, line {item.place.line:,}, {visible.size(item.size)}"
        shown = item.text or f"(no readable text: {item.kind.value})"
        text.draw(
            html.item(number, shown, word if hit else "kept", tone if hit else Tone.GOOD, f"{more} {flags}".strip())
        )
    text.note(f"{visible.plural(len(items), 'item')}")


def _state(side: Side) -> str:
    reasons = "; ".join(reason.sentence for reason in side.reasons)
    return side.state.value + (f": {reasons}" if reasons else "")


def _sums(transcript: Transcript, side: Side) -> str:
    items = transcript.side_items(side)
    return f"{visible.plural(len(items), 'item')}, {visible.size(sum(item.size for item in items))}"


def _tokens(number: int | None) -> str:
    return "not said" if number is None else f"{number:,}"
