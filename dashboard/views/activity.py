"""Who did what in this workspace, and is that record itself intact?"""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from dashboard import html, state, visible
from dashboard.state import Parameter
from dashboard.theme import Tone, chain_verdict
from dashboard.widgets import findings, pager, states, tables, text
from engine.control.ledger import Act, ControlLedger, ControlRow
from engine.errors import WinnowError
from engine.findings import Result

ACTS = ["", *(act.value for act in Act)]


def show() -> None:
    """Draw the workspace's own record: its chain, then its acts, the newest first."""
    st.title("Activity")
    control = ControlLedger(state.opened().workspace)
    if not control.path.exists():
        states.empty(
            "Nothing was changed in this workspace",
            "Keys, pins, marks, plans and decisions leave a row here; reading and checking leave none.",
        )
        return
    try:
        report = control.verify()
        verdict = chain_verdict(report.result, next((f.line for f in report.findings if f.line), None))
        text.draw(
            html.banner(
                verdict.tone, verdict.word, f"{visible.plural(report.reference.rows, 'row')} in {control.path.name}"
            )
        )
        if report.findings:
            findings.show(report.findings, key="control:findings", total=report.breaks_total)
        rows = control.rows() if report.result is not Result.FAILS else ()
    except WinnowError as error:
        states.refused(error)
        return
    if not rows:
        text.draw(
            html.banner(Tone.UNKNOWN, "The acts are not listed", "A record that does not verify is not relied on.")
        )
        text.note("Open it on the Ledgers page to see its rows as they stand.")
        return
    _list(rows)
    text.note(
        "Does not prove: that a person is who the name says, or that no rows were cut off the end; for that take a pin."
    )
    text.command(f"winnow verify {control.path}")


def _list(rows: tuple[ControlRow, ...]) -> None:
    act = st.selectbox(
        "Act",
        ACTS,
        format_func=lambda word: word or "all",
        key=Parameter.KIND.value,
        bind="query-params",
    )
    wanted = [row for row in reversed(rows) if not act or row.act.value == act]
    first = pager.show(len(wanted), noun="act")
    page = wanted[first : first + pager.PAGE_ROWS]
    frame = pd.DataFrame(
        [
            (
                row.ts,
                visible.one_line(row.actor, 60),
                row.act.value.replace("_", " "),
                visible.one_line(row.result, 60),
                visible.one_line(row.reason, 160),
                visible.one_line(json.dumps(dict(row.object), ensure_ascii=False), 200),
                row.line,
            )
            for row in page
        ],
        columns=["TIME", "WHO", "ACT", "RESULT", "REASON", "ABOUT", "LINE"],
    )
    st.dataframe(
        frame,
        hide_index=True,
        key=state.query_key("acts", act, first, len(rows)),
        height=min(38 + 35 * max(len(page), 1), 740),
        alt="Acts of this workspace, the newest first",
    )
    tables.show([{**row.as_json(), "object": json.dumps(dict(row.object))} for row in wanted], "activity", key="acts")
