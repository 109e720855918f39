"""How does every span in every round become one chart that opens its evidence?

Pure. A cell is a square with a letter: it reads without colour, and a click on it gives session, round and pin back.
Foreign text enters an axis escaped; the only tag there is the line break made here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from dashboard import visible
from dashboard.charts import LETTERS, blank, round_ticks
from dashboard.theme import LOOKS, SPAN_VERDICTS, Tone
from engine.retention.rows import Row

ROW_LABEL = 30
ROW_HEIGHT = 36
LABEL_PIXELS, CELL_PIXELS = 215, 46
"""Room for the names of spans, and for a column of cells."""
BLOCK_LETTER = "B"
FLAGGED = "•"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the heatmap: which session, round and pin, and how it is drawn."""

    session: str
    round: int
    pin: str
    letter: str
    tone: Tone
    words: str
    symbol: str


def cell_of(row: Row) -> Cell:
    """Return the cell of a row: a letter for the verdict, B where only the block carries it, a dot for a flag.

    A plain square is a verdict on the compactor's own text; crossed lines mark what has none, upright ones the block.
    """
    only_block = row.in_block and not row.kept
    letter = BLOCK_LETTER if only_block else LETTERS[row.verdict]
    verdict = SPAN_VERDICTS[row.verdict]
    words = f"{verdict.word}, in the block only" if only_block else verdict.word
    symbol = "square-cross" if only_block else "square" if row.verdict else "square-x"
    shown = letter + (FLAGGED if row.flags else "")
    return Cell(row.session, row.round, row.pin, shown, verdict.tone, words, symbol)


def heatmap(rows: Sequence[Row], order: Sequence[tuple[str, str]], sessions: Mapping[str, str]) -> go.Figure:
    """Return span by round, one square a cell; `order` are the (session, pin) pairs from top to bottom.

    `sessions` are the names shown before a span, by session; none are shown for a session without one.
    """
    places = {key: number for number, key in enumerate(order)}
    texts = {(row.session, row.pin): _row_name(row, sessions) for row in rows}
    cells = [cell_of(row) for row in rows if (row.session, row.pin) in places]
    made = blank(90 + ROW_HEIGHT * len(order), "round", "")
    for tone in Tone:
        mine = [cell for cell in cells if cell.tone is tone]
        if not mine:
            continue
        look = LOOKS[tone]
        made.add_scatter(
            x=[cell.round for cell in mine],
            y=[places[cell.session, cell.pin] for cell in mine],
            mode="markers+text",
            text=[cell.letter for cell in mine],
            textfont={"color": look.ink, "size": 12},
            marker={
                "symbol": [cell.symbol for cell in mine],
                "size": 24,
                "color": look.fill,
                "line": {"width": 1, "color": "rgba(0,0,0,.35)"},
            },
            customdata=[(cell.session, cell.round, cell.pin, cell.words) for cell in mine],
            hovertemplate="round %{x}: %{customdata[3]}<extra></extra>",
        )
    rounds = len({cell.round for cell in cells})
    # A width of its own: squeezed to a narrow screen the cells would stand on one another.
    made.update_layout(clickmode="event+select", showlegend=False, width=LABEL_PIXELS + CELL_PIXELS * max(rounds, 3))
    made.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(order))),
        ticktext=[_row_label(texts.get(key, "")) for key in order],
        tickfont={"size": 11},
        range=[len(order) - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
        automargin=True,
    )
    made.update_xaxes(side="top")
    return round_ticks(made, [cell.round for cell in cells])


def _row_label(text: str) -> str:
    """Return the name of a row on at most two short lines, so that a narrow screen has room for the cells.

    Cut before it is escaped, so that no entity is cut in two; the only tag is the line break made here.
    """
    line = visible.one_line(text, 2 * ROW_LABEL)
    cut = line.rfind(" ", 0, ROW_LABEL) if len(line) > ROW_LABEL else len(line)
    cut = cut if cut > 0 else ROW_LABEL
    parts = (line[:cut], visible.one_line(line[cut:].strip(), ROW_LABEL))
    return "<br>".join(str(escape(part)) for part in parts if part)


def _row_name(row: Row, sessions: Mapping[str, str]) -> str:
    name = sessions.get(row.session, "")
    return f"{visible.one_line(name, 16)} · {row.text}" if name else row.text


def picked(event: Any) -> tuple[str, int, str] | None:
    """Return session, round and pin of the chosen cell of a heatmap, None when nothing is chosen."""
    found = event["selection"]["points"] if event else []
    if not found:
        return None
    data = found[0].get("customdata")
    if isinstance(data, dict):
        data = [data[name] for name in sorted(data, key=int)]
    if not isinstance(data, list | tuple) or len(data) < 3:  # noqa: PLR2004 - session, round, pin
        return None
    return str(data[0]), int(data[1]), str(data[2])
