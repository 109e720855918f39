"""What needs a look?"""

from __future__ import annotations

import streamlit as st

from dashboard import html, loaders, problems, state, visible
from dashboard.links import Page, query, target
from dashboard.loaders import Loaded
from dashboard.problems import Problem
from dashboard.theme import Tone
from dashboard.widgets import exports, ledger_grid, opening, states, text
from engine.errors import WinnowError

SHOWN = 25


def show() -> None:
    """Draw the overview: problems first, then what is open."""
    st.title("Overview")
    loaded = opening.review()
    if loaded is None:
        return
    _problems(problems.of(loaded.review, state.opened()))
    _rules(loaded)
    _numbers(loaded)
    if loaded.review.ledgers:
        st.header("Ledgers")
        ledger_grid.show(loaded)
    text.note(
        "What blue means here: the rows are linked in order and the claims were recomputed within the named scope. "
        "It does not mean that dropping was wise, or that the input of a compaction was complete."
    )
    st.page_link(target(Page.LIMITS), label="What is proven, and what is not", icon=":material/rule:")
    if loaded.review.inputs:
        exports.everything(loaded.review)
    opening.upload()


def _problems(found: list[Problem]) -> None:
    st.header("Needs a look")
    if not found:
        text.draw(
            html.banner(
                Tone.UNKNOWN,
                "Nothing stands out in ledgers, receipts and files",
                "No check made failed or was bounded.",
            )
        )
        return
    _rows(found, to_spans=False)
    if len(found) > SHOWN:
        text.note(f"{visible.plural(len(found) - SHOWN, 'more problem')} of the same kinds; see Ledgers")


def _rules(loaded: Loaded) -> None:
    """List the sessions in which a critical rule is not whole after a round."""
    if not loaded.review.held.transcripts:
        return
    try:
        audited = states.wait(loaders.jobs(), lambda: loaders.start_all_spans(state.opened(), loaded))
    except WinnowError as error:
        states.refused(error)
        return
    found = problems.of_spans(audited, state.opened()) if audited is not None else []
    if not found:
        return
    st.header("Critical rules that are not whole")
    _rows(found, to_spans=True)
    if len(found) > SHOWN:
        text.note(f"{visible.plural(len(found) - SHOWN, 'more session')}; see Spans")


def _rows(found: list[Problem], *, to_spans: bool) -> None:
    """Draw the first problems, each with the way to it."""
    for number, problem in enumerate(found[:SHOWN]):
        words, way = st.columns([8, 1], vertical_alignment="center")
        with words:
            text.draw(html.problem(problem.verdict, problem.place, problem.words))
        with way:
            st.page_link(
                target(problem.page),
                label=f"Spans {visible.count(number + 1)}" if to_spans else f"Open {visible.count(number + 1)}",
                query_params=query(problem.query),
                width="stretch",
            )


def _numbers(loaded: Loaded) -> None:
    review = loaded.review
    receipts = sum(ledger.sweep.totals.receipts for ledger in review.ledgers)
    held = sum(ledger.linked for ledger in review.ledgers)
    rounds = sum(len(transcript.rounds) for _, transcript in review.held.transcripts)
    text.draw(
        html.facts(
            (
                ("Ledgers", f"{len(review.ledgers):,}"),
                ("Receipts", f"{receipts:,}"),
                ("Receipts with content held", f"{held:,} of {receipts:,}"),
                ("Sessions", f"{len(review.held.transcripts):,}"),
                ("Compaction rounds", f"{rounds:,}"),
                ("Files not looked at", f"{len(review.refused):,}"),
            )
        )
    )
