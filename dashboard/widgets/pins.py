"""Which spans of a session get a verdict, which look like a rule and get none, and how are pins set by hand?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard import actions, loaders, spans, state, visible
from dashboard.state import Parameter
from dashboard.widgets import states, text
from engine.errors import WinnowError
from engine.spans.session import SessionAudit
from engine.spans.snapshot import Pin

PER_PAGE = 100


def show(session: SessionAudit) -> None:
    """Draw the pins of a session, what is not covered, what was left out, and the form to pin by hand."""
    taken = session.snapshot
    judged = sorted(taken.judged(), key=lambda pin: not pin.critical)
    uncovered = [pin for pin in taken.pins if pin.id in set(taken.uncovered)]
    st.header("Pins")
    text.note(
        f"{visible.plural(len(judged), 'span')} get a verdict, {len(taken.pins) - len(judged):,} lines are recorded "
        f"without one, {len(taken.refused):,} hold no word"
    )
    if session.left_out_rules or session.left_out_others:
        text.note(
            f"over the limit of a snapshot: {session.left_out_rules:,} rules and {session.left_out_others:,} lines"
        )
    if judged:
        _list(session, judged, "judged", _leave_out)
    else:
        states.empty(
            "No span of this session gets a verdict",
            "Lines that begin like a rule, or bear [invariant] or [fact], are pinned; most sessions hold none.",
        )
    st.subheader("Looks like a rule and is not covered")
    if uncovered:
        text.note("These lines hold must, never or the like, and get no verdict until they are pinned.")
        _list(session, uncovered, "uncovered", _pin)
    else:
        text.note("No line without a verdict looks like a rule.")
    _by_hand()
    _left_out()


def _list(session: SessionAudit, pins: Sequence[Pin], key: str, act: Callable[[Pin], None]) -> None:
    pages = -(-len(pins) // PER_PAGE)
    page = st.pagination(pages, key=f"{key}:page") if pages > 1 else 1
    here = pins[(page - 1) * PER_PAGE : page * PER_PAGE]
    chosen = st.dataframe(
        spans.pins_frame(session, here),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=state.query_key(key, session.digest, *(pin.id for pin in here)),
        height=min(38 + 35 * len(here), 400),
        alt="Spans with class and writer; choose one to pin it or leave it out",
    )
    places = chosen["selection"]["rows"]
    picked = here[places[0]] if places and places[0] < len(here) else None
    if key == "judged":
        pressed = st.button("Leave the chosen span out", key=f"act:{key}", disabled=picked is None)
    else:
        pressed = st.button("Pin the chosen span", key=f"act:{key}", disabled=picked is None)
    if pressed and picked is not None:
        _do(lambda: act(picked))


def _by_hand() -> None:
    with st.form("pin-by-hand", border=True, clear_on_submit=True):
        written = st.text_area("Pin spans by hand, one a line", key="pin:text", max_chars=20_000)
        asked = st.form_submit_button("Pin them")
    lines = [line for line in (written or "").splitlines() if line.strip()]
    if asked and lines:
        opened = state.opened()
        _do(lambda: actions.pin_texts(opened.workspace, loaders.pin_store(opened), lines))


def _left_out() -> None:
    opened = state.opened()
    try:
        unpinned = loaders.pin_store(opened).load().unpinned
    except WinnowError as error:
        states.refused(error)
        return
    if not unpinned:
        return
    st.subheader("Left out by hand")
    picked = st.selectbox("Left out", unpinned, key="unpinned")
    if st.button("Let it count again", key="act:unpinned") and picked:
        _do(lambda: actions.put_back(opened.workspace, loaders.pin_store(opened), picked))


def _leave_out(pin: Pin) -> None:
    opened = state.opened()
    actions.leave_out(opened.workspace, loaders.pin_store(opened), pin.id)


def _pin(pin: Pin) -> None:
    opened = state.opened()
    actions.pin_texts(opened.workspace, loaders.pin_store(opened), [pin.text])


def _do(act: Callable[[], object]) -> None:
    try:
        act()
    except WinnowError as error:
        states.refused(error)
        return
    st.query_params.pop(Parameter.PIN.value, None)
    st.rerun()
