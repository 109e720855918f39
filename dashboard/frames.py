"""How do engine values become tidy frames?

Pure: values in, frames out. Texts are made visible and cut to a cell; nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dashboard import visible
from dashboard.loaders import RECEIPT_STATE
from dashboard.problems import first_break
from dashboard.theme import answer_verdict, chain_verdict
from engine.clock import format_time
from engine.ledger.index.query import IndexRow
from engine.ledger.index.states import CHAIN_STATE, LINKED
from engine.review import LedgerReview, Question

ROW_COLUMNS = ("LINE", "TIME", "KIND", "COMPACTOR", "DROPPED", "BYTES CUT", "EQUATION", "CHAIN", "RECEIPT")


def rows(page: Sequence[IndexRow], first_break: int | None = None) -> pd.DataFrame:
    """Return one page of ledger rows; linked rows after the first break are said to be not vouched for."""
    made = [
        (
            row.line,
            format_time(row.time) if row.time else "",
            visible.one_line(_kind(row), 60),
            visible.one_line(row.labels.get("compactor", ""), 60),
            row.dropped_count,
            row.dropped_bytes,
            row.equation.name.lower().replace("_", " ").replace("no receipt", ""),
            _chain(row, first_break),
            row.labels.get(RECEIPT_STATE, "").replace("no receipt", ""),
        )
        for row in page
    ]
    frame = pd.DataFrame(made, columns=list(ROW_COLUMNS))
    return frame.astype({"DROPPED": "Int64", "BYTES CUT": "Int64"})


def _chain(row: IndexRow, first_break: int | None) -> str:
    found = row.labels.get(CHAIN_STATE, "")
    after = first_break is not None and row.line > first_break and found == LINKED
    return f"{found}, after a break" if after else found


def _kind(row: IndexRow) -> str:
    named = [row.labels.get(name, "") for name in ("kind", "op", "schema")]
    return next((label for label in named if label and not label.startswith("(")), row.form.name.lower())


def ledgers(reviews: Sequence[LedgerReview], names: Sequence[str]) -> pd.DataFrame:
    """Return one line a ledger: rows, answers side by side."""
    made = []
    for each, name in zip(reviews, names, strict=True):
        answers = {a.question: answer_verdict(a.result, a.of).text for a in each.answers}
        made.append(
            (
                visible.one_line(name, 80),
                each.chain.reference.rows,
                chain_verdict(each.chain.result, first_break(each)).text,
                answers[Question.HEAD_PIN],
                answers[Question.SELF_CONSISTENT],
                answers[Question.CONTENT],
                f"{each.linked:,} of {visible.plural(each.sweep.totals.receipts, 'receipt')}",
            )
        )
    columns = ["LEDGER", "ROWS", "CHAIN", "HEAD PIN", "SELF-CONSISTENT", "CONTENT", "CONTENT HELD"]
    return pd.DataFrame(made, columns=columns)
