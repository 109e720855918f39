"""How do the numbers of a chart stand beneath it, and leave as a file?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import visible
from dashboard.widgets import text
from engine.report.manifest import Manifest, made_at
from engine.report.table import csv_lines

SHOWN = 1_000


def show(rows: Sequence[Mapping[str, Any]], kind: str, *, key: str) -> None:
    """Draw the rows in a folded table with a download of all of them; foreign text stands on one visible line."""
    if not rows:
        return
    columns = list(rows[0])

    def as_csv() -> bytes:
        manifest = Manifest(kind, (), len(rows), made_at=made_at())
        written = csv_lines(manifest, columns, ([row[name] for name in columns] for row in rows))
        return "".join(written).encode("utf-8", "backslashreplace")

    with st.expander("Table", icon=":material/table_rows:"):
        cells = [[_cell(row[name]) for name in columns] for row in rows[:SHOWN]]
        headings = [name.replace("_", " ").upper() for name in columns]
        st.dataframe(pd.DataFrame(cells, columns=headings), hide_index=True, key=f"table:{key}")
        if len(rows) > SHOWN:
            text.note(f"the first {SHOWN:,} of {visible.plural(len(rows), 'row')}; the file holds all")
        st.download_button(
            "Rows as CSV", as_csv, "winnow-retention.csv", "text/csv", key=f"csv:{key}", on_click="ignore"
        )


def _cell(value: Any) -> Any:
    return visible.one_line(value, 200) if isinstance(value, str) else value
