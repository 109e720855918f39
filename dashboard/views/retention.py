"""Which rules survive how many compactions, and under which compactor?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from dashboard import charts, heatmap, loaders, names, state, visible
from dashboard.links import Page, go, target
from dashboard.loaders import Loaded
from dashboard.state import Parameter
from dashboard.widgets import opening, states, tables, text
from engine.errors import WinnowError
from engine.load import Input
from engine.retention import tables as engine_tables
from engine.retention.references import Reference, references
from engine.retention.report import Group, Retention, figures
from engine.retention.rows import Row, distinct, facts_of, rows_of
from engine.retention.series import GroupBy, LineOf, Measure
from engine.retention.survival import Loss
from engine.spans.judge import Verdict as SpanVerdict
from engine.spans.session import SessionAudit

HEATMAP_ROWS = 40
URL: Final = "query-params"
BY = [each.value for each in GroupBy]
MEASURES = [each.value for each in Measure]
LOSSES = [each.value for each in Loss]
CLASSES = ["", *(each.value for each in LineOf)]
Audited = Sequence[tuple[Input, SessionAudit]]


def show() -> None:
    """Draw the figures of every session that is open, as the address groups and filters them."""
    st.title("Retention")
    loaded = opening.review()
    if loaded is None:
        return
    audited = _audited(loaded)
    if audited is None:
        return
    if not audited:
        states.empty(
            "No session among the opened files",
            "Open one session or a folder of them; rules are followed from round to round.",
            "winnow open SESSIONS/",
        )
        opening.upload()
        return
    chosen = _counted(_sessions(audited))
    found, published = _figures(chosen)
    if not found.rows:
        states.empty(
            "No pinned span met a compaction round",
            "Either no round is recorded, or nothing that was written before one is pinned. Pin spans by hand.",
        )
        st.page_link(target(Page.SPANS), label="Spans")
        return
    _grey(found)
    _heatmap(chosen, found)
    _groups(found, published)
    _together(found)
    text.note(
        "Does not prove: that a kept rule is obeyed, that the pins are all the rules, that these sessions are typical. "
        "Words are matched; a rule kept in other words counts as LOST."
    )
    text.command("winnow retention " + " ".join(file.name for file, _ in chosen[:5]))


def _audited(loaded: Loaded) -> Audited | None:
    try:
        return states.wait(loaders.jobs(), lambda: loaders.start_all_spans(state.opened(), loaded))
    except WinnowError as error:
        states.refused(error)
        return None


def _sessions(audited: Audited) -> Audited:
    """Return the session of the address, or all of them."""
    wanted = state.text(Parameter.TRANSCRIPT)
    if not wanted:
        return audited
    one = [(file, session) for file, session in audited if file.name == wanted or file.sha256.startswith(wanted)]
    if not one:
        states.unknown_page_input("session")
        return audited
    text.note(f"only {names.shown(one[0][0].name, state.opened())}")
    st.page_link(target(Page.RETENTION), label="All sessions")
    return one


def _counted(chosen: Audited) -> Audited:
    """Return each session once: a copy of a file must not count twice."""
    files = {session.digest: file for file, session in reversed(chosen)}
    kept = distinct([session for _, session in chosen])
    if len(kept) < len(chosen):
        text.note(f"{visible.plural(len(chosen) - len(kept), 'copy', 'copies')} of session files passed over")
    return [(files[session.digest], session) for session in kept]


def _figures(chosen: Audited) -> tuple[Retention, tuple[Reference, ...]]:
    sessions = [session for _, session in chosen]
    rows, facts = rows_of(sessions), facts_of(sessions)
    compactors = ["", *sorted({session.compactor for session in sessions})]
    first, second, third, fourth, fifth = st.columns(5)
    with first:
        by = st.selectbox("Group by", BY, index=1, format_func=_spoken, key=Parameter.GROUP.value, bind=URL)
    with second:
        measure = st.selectbox("Measure", MEASURES, format_func=_spoken, key=Parameter.MEASURE.value, bind=URL)
    with third:
        loss = st.selectbox("First loss", LOSSES, format_func=_spoken, key=Parameter.LOSS.value, bind=URL)
    with fourth:
        cls = st.selectbox("Class", CLASSES, format_func=_spoken, key=Parameter.CLASS.value, bind=URL)
    with fifth:
        compactor = st.selectbox("Compactor", compactors, format_func=_spoken, key=Parameter.COMPACTOR.value, bind=URL)
    asked = st.checkbox("Show published points", key=Parameter.PUBLISHED.value, bind=URL)
    kept = [
        row for row in rows if (not compactor or row.compactor == compactor) and (not cls or LineOf(cls).holds(row))
    ]
    there = [fact for fact in facts if not compactor or fact.compactor == compactor]
    found = figures(kept, there, by=GroupBy(by), measure=Measure(measure), loss=Loss(loss))
    return found, references() if asked else ()


def _spoken(word: str) -> str:
    """Name the empty word; others stay as they are, since an address names what is shown."""
    return word or "all"


def _grey(found: Retention) -> None:
    bounded = sum(row.bounded for row in found.rows)
    if found.unverifiable:
        text.note(
            f"○ {visible.plural(found.unverifiable, 'verdict')} of {len(found.rows):,} cannot be given, since the text "
            "after the round cannot be read; they stand in no share."
        )
    if bounded:
        text.note(
            f"◐ {visible.plural(bounded, 'verdict')} of {len(found.rows):,} rest on the part of a text that the file "
            "holds."
        )


def _heatmap(chosen: Audited, found: Retention) -> None:
    st.header("Every rule in every round")
    order = _order(found.rows)
    pages = -(-len(order) // HEATMAP_ROWS)
    page = st.pagination(pages, key=Parameter.PAGE.value, bind="query-params") if pages > 1 else 1
    here = order[(page - 1) * HEATMAP_ROWS : page * HEATMAP_ROWS]
    wanted = set(here)
    rows = [row for row in found.rows if (row.session, row.pin) in wanted]
    event = st.plotly_chart(
        heatmap.heatmap(rows, here, _session_names(chosen)),
        key=state.query_key("heatmap", *here, found.by.value),
        on_select="rerun",
        selection_mode="points",
        width="content",
        config={"displayModeBar": False},
        alt="Spans by rounds, a letter a cell: P preserved, D degraded, L lost, B in the block only, ○ unverifiable",
    )
    text.note(
        "P preserved · D degraded · L lost · B not kept, in the block only · ○ crossed out: unverifiable · a dot: a "
        "flag. Choose a cell."
    )
    picked = heatmap.picked(event)
    if picked is not None:
        session, number, pin = picked
        link = next((names.link(file) for file, each in chosen if each.session == session), "")
        go(Page.SPANS, {Parameter.TRANSCRIPT: link, Parameter.ROUND: number, Parameter.PIN: pin})
    tables.show(engine_tables.spans(rows), "spans by rounds", key="spans")


def _session_names(chosen: Audited) -> dict[str, str]:
    """Return short names of the sessions, none when there is only one."""
    if len(chosen) < 2:  # noqa: PLR2004 - one needs no name
        return {}
    return {
        session.session: names.shown(file.name, state.opened()).rpartition("/")[2].partition(".")[0]
        for file, session in chosen
    }


def _order(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the pins, critical first, then those lost earliest."""
    first_loss: dict[tuple[str, str], tuple[bool, int, int]] = {}
    for number, row in enumerate(rows):
        key = (row.session, row.pin)
        lost = row.round if row.verdict in {SpanVerdict.LOST, SpanVerdict.DEGRADED} else 10**6
        known = first_loss.get(key, (not row.critical, 10**6, number))
        first_loss[key] = (not row.critical, min(known[1], lost), known[2])
    return sorted(first_loss, key=lambda key: first_loss[key])


def _groups(found: Retention, published: Sequence[Reference]) -> None:
    for number, group in enumerate(found.groups):
        followed = f"{visible.plural(group.sessions, 'session')}, {visible.plural(group.survival.pins, 'pin')} followed"
        text.heading(group.name, f"{followed}, {group.survival.losses:,} not kept at least once")
        left, right = st.columns(2)
        with left:
            _shares(group, published, number)
        with right:
            _present(group, number)
        _flows(group, number)


def _shares(group: Group, published: Sequence[Reference], number: int) -> None:
    st.subheader("Kept, round by round")
    enough = any(point.figure.as_json()["share"] is not None for line in group.lines for point in line.points)
    if enough or published:
        _chart(
            charts.shares(group, published),
            f"shares:{number}",
            "Share of pins kept in each round, a line a class, with intervals; k of n stands beneath and in the table",
        )
    else:
        text.note("Fewer than 10 pins in every class: counts only, no share is drawn.")
    for line in group.lines:
        cliff = f"; below half from round {line.cliff:,}" if line.cliff else ""
        counts = ", ".join(f"{point.figure.k} of {point.figure.n}" for point in line.points)
        text.note(f"{line.of.value}: {counts}{cliff}")
    for reference in published:
        text.note(f"published, {reference.label}: {reference.source}; {reference.note}")
    rows = [
        {"pins": line.of.value, "measure": line.measure.value, **point.as_json()}
        for line in group.lines
        for point in line.points
    ]
    tables.show(rows, "shares by round", key=f"shares-table:{number}")


def _present(group: Group, number: int) -> None:
    st.subheader("Kept by the compactor, present for the agent")
    if any(gap.kept.n for gap in group.gaps):
        _chart(
            charts.kept_and_present(group),
            f"present:{number}",
            "Pins kept by the compactor and pins present for the agent in each round; counts stand in the table",
        )
    else:
        text.note("○ No verdict can be given in any round: there is nothing to draw, and nothing counts as lost.")
    for gap in group.gaps:
        if gap.block_only or gap.words:
            text.note(
                f"round {gap.round:,}: {gap.block_only:,} in the block only, {gap.carried:,} copied out of the last "
                f"one, {gap.recovered:,} came back; the block costs {gap.words:,} words"
            )
    rows = [
        {
            "round": gap.round,
            "kept": gap.kept.k,
            "present": gap.present.k,
            "pins": gap.kept.n,
            "block only": gap.block_only,
            "copied from block": gap.carried,
            "came back": gap.recovered,
            "block words": gap.words,
        }
        for gap in group.gaps
    ]
    tables.show(rows, "kept and present by round", key=f"present-table:{number}")


def _flows(group: Group, number: int) -> None:
    figure = charts.flows(group)
    if figure is None:
        return
    st.subheader("What became of the verdicts")
    _chart(
        figure,
        f"flows:{number}",
        "How many pins went from which verdict to which between two rounds; counts stand in the table beneath",
    )
    back = sum(flow.count for flow in group.flows if flow.recovered)
    from_block = sum(flow.count for flow in group.flows if flow.recovered and flow.from_block)
    text.note(f"{visible.plural(back, 'pin')} came back, {from_block:,} of them out of a re-injected block (blue)")
    tables.show([flow.as_json() for flow in group.flows], "changes of verdict", key=f"flows-table:{number}")


def _together(found: Retention) -> None:
    st.header("Groups beside one another")
    curves = [group for group in found.groups if group.survival.steps]
    if curves:
        left, right = st.columns(2)
        with left:
            st.subheader("Not yet lost")
            _chart(
                charts.survival(curves),
                "survival",
                "Share of pins not yet lost after each round, a step curve a group; numbers at risk stand in the table",
            )
        with right:
            st.subheader("Lost in each round")
            _chart(
                charts.hazard(curves),
                "hazard",
                "Pins lost in each round of those still kept before it, bars by group; counts stand in the table",
            )
        for group in curves:
            half = group.survival.half_life
            worst = group.survival.worst
            cliff = f"; most are lost in round {worst.rounds:,} after writing" if worst and worst.lost else ""
            half_words = f"{half:,} rounds" if half else "not reached"
            text.note(f"{visible.one_line(group.name, 60)}: half-life {half_words}{cliff}")
        tables.show(engine_tables.survival(found), "survival", key="survival-table")
    else:
        text.note("Fewer than 10 pins in every group: no survival curve is drawn.")
    _budgets(found)
    _comparisons(found)


def _budgets(found: Retention) -> None:
    if not found.budgets:
        return
    st.subheader("Kept pins against kept words")
    few = len(found.budgets) - len(charts.drawn_budgets(found.budgets))
    if few < len(found.budgets):
        _chart(
            charts.budgets(found.budgets),
            "budgets",
            "Share of pins kept against share of words kept, a point a round; counts stand in the table beneath",
        )
        text.note("A compactor that keeps more words keeps more rules; compare groups only at one budget. Size: pins.")
    if few:
        text.note(
            f"{visible.plural(few, 'round')} with fewer than 10 pins or no words before: counts only, in the table."
        )
    tables.show(engine_tables.budgets(found), "kept pins and kept words", key="budgets-table")


def _comparisons(found: Retention) -> None:
    if not found.comparisons:
        return
    st.subheader("Comparisons")
    for each in found.comparisons:
        if each.round is None:
            text.note(f"{each.first} and {each.second}: no round that could be read in both")
            continue
        p = "too few pins to decide" if each.p is None else f"{each.test.value}, p {each.p:.3g}"
        budget = "equal budgets" if each.equal_budgets else "different budgets: no ranking"
        text.note(
            f"{each.first} and {each.second}: {each.kept[0]} of {each.pins[0]} against {each.kept[1]} of "
            f"{each.pins[1]} in round {each.round:,}; {p}; {budget}"
        )
    tables.show(engine_tables.comparisons(found.comparisons), "comparisons", key="comparisons-table")


def _chart(figure: object, key: str, alt: str) -> None:
    st.plotly_chart(figure, key=key, config={"displayModeBar": False}, alt=alt)
