"""How do the figures of retention become charts?

Pure: engine figures in, plotly figures out. Every number in a chart stands in the table beneath it. Verdicts keep their
fills and have a letter each, so that they read without colour; classes have a dash and a marker each. Foreign text
enters an axis only through `plain`, since the chart library reads markup in labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from dashboard import visible
from dashboard.theme import LOOKS, SPAN_VERDICTS, Tone
from engine.retention.intervals import Share
from engine.retention.references import Reference
from engine.retention.report import Group
from engine.retention.rows import Row
from engine.retention.series import Flow, LineOf, Spent
from engine.spans.judge import Verdict as SpanVerdict

INK = "#8A8F98"
LABEL = 46
LABEL_PIXELS, CELL_PIXELS = 310, 46
"""Room for the names of spans, and for a column of cells."""
LINES: Mapping[LineOf, tuple[str, str, str, float]] = {
    LineOf.CRITICAL: ("#D55E00", "solid", "diamond", 3.5),
    LineOf.INVARIANT: ("#0072B2", "dash", "circle", 2),
    LineOf.FACT: ("#7A6BB5", "dot", "square", 2),
}
LETTERS: Mapping[SpanVerdict | None, str] = {
    SpanVerdict.PRESERVED: "P",
    SpanVerdict.DEGRADED: "D",
    SpanVerdict.LOST: "L",
    None: "○",
}
BLOCK_LETTER = "B"
FLAGGED = "•"
_GROUP_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_GROUP_INKS = ("#0072B2", "#D55E00", "#7A6BB5", "#5B8C85", "#B05A7A", "#8C6D31")


def plain(text: str, limit: int = LABEL) -> str:
    """Return foreign text as one line without any markup the chart library would act on."""
    return str(escape(visible.one_line(text, limit)))


def _figure(height: int, x: str, y: str) -> go.Figure:
    made = go.Figure()
    made.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 28, "b": 8},
        legend={"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0},
        xaxis={"title": x, "showgrid": False},
        yaxis={"title": y, "gridcolor": "rgba(138,143,152,.25)"},
        hovermode="closest",
        dragmode=False,
    )
    return made


def _rounds(made: go.Figure, numbers: Iterable[int]) -> go.Figure:
    made.update_xaxes(tickmode="array", tickvals=sorted(set(numbers)))
    return made


def shares(group: Group, published: Sequence[Reference] = ()) -> go.Figure:
    """Return the share kept in each round, a line a class with its band; counts too small for a share are left out."""
    made = _figure(340, "round", "share of pins")
    made.update_yaxes(range=[0, 1.05], tickformat=".0%")
    seen: list[int] = []
    for line in group.lines:
        ink, dash, marker, width = LINES[line.of]
        found = [(point.round, point.figure) for point in line.points if isinstance(point.figure, Share)]
        seen += [point.round for point in line.points]
        if not found:
            continue
        rounds = [number for number, _ in found]
        _band(made, rounds, [share.low for _, share in found], [share.high for _, share in found], ink)
        made.add_scatter(
            x=rounds,
            y=[share.value for _, share in found],
            name=line.of.value,
            mode="lines+markers",
            line={"color": ink, "dash": dash, "width": width},
            marker={"symbol": marker, "size": 9, "color": ink},
            customdata=[(share.k, share.n) for _, share in found],
            hovertemplate="round %{x}: %{customdata[0]} of %{customdata[1]}<extra></extra>",
        )
    made.update_layout(height=340 + 20 * len(published))
    for number, reference in enumerate(published):
        made.add_scatter(
            x=[at for at, _ in reference.rounds],
            y=[share for _, share in reference.rounds],
            name=plain(f"published: {reference.label}", 60),
            mode="markers",
            marker={
                "symbol": ("circle-open", "square-open", "diamond-open", "cross-open")[number % 4],
                "size": 10,
                "color": INK,
            },
            hovertemplate="published, round %{x}: %{y:.0%}<extra></extra>",
        )
        seen += [at for at, _ in reference.rounds]
    return _rounds(made, seen)


def _band(made: go.Figure, x: Sequence[float], low: Sequence[float], high: Sequence[float], ink: str) -> None:
    made.add_scatter(
        x=[*x, *reversed(x)],
        y=[*high, *reversed(low)],
        mode="lines",
        fill="toself",
        fillcolor=_faint(ink),
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )


def _faint(ink: str) -> str:
    red, green, blue = (int(ink[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},.16)"


def kept_and_present(group: Group) -> go.Figure:
    """Return what the compactor kept beside what the agent could read, in pins, and the words of the block."""
    made = _figure(300, "round", "pins")
    rounds = [gap.round for gap in group.gaps]
    for name, values, look in (
        ("kept by the compactor", [gap.kept.k for gap in group.gaps], LOOKS[Tone.GOOD]),
        ("present for the agent", [gap.present.k for gap in group.gaps], LOOKS[Tone.UNKNOWN]),
    ):
        made.add_scatter(
            x=rounds,
            y=values,
            name=name,
            mode="lines+markers",
            line={"color": look.fill, "dash": look.dash},
            marker={"symbol": look.marker, "size": 9, "color": look.fill},
            hovertemplate="round %{x}: %{y} pins<extra></extra>",
        )
    made.update_yaxes(rangemode="tozero")
    return _rounds(made, rounds)


def survival(groups: Sequence[Group]) -> go.Figure:
    """Return the share not yet lost, a step curve a group with its band."""
    made = _figure(340, "rounds since the pin was written", "share not yet lost")
    made.update_yaxes(range=[0, 1.05], tickformat=".0%")
    seen = [0]
    for number, group in enumerate(groups):
        steps = group.survival.steps
        if not steps:
            continue
        ink, dash = _GROUP_INKS[number % len(_GROUP_INKS)], _GROUP_DASHES[number % len(_GROUP_DASHES)]
        banded = [step for step in steps if step.low is not None and step.high is not None]
        lows = [step.low for step in banded if step.low is not None]
        highs = [step.high for step in banded if step.high is not None]
        _band(made, [step.rounds for step in banded], lows, highs, ink)
        made.add_scatter(
            x=[0, *(step.rounds for step in steps)],
            y=[1.0, *(step.share for step in steps)],
            name=plain(group.name),
            mode="lines+markers",
            line={"shape": "hv", "color": ink, "dash": dash},
            marker={"size": 7, "color": ink},
            hovertemplate="after %{x} rounds: %{y:.0%}<extra></extra>",
        )
        seen += [step.rounds for step in steps]
    return _rounds(made, seen)


def hazard(groups: Sequence[Group]) -> go.Figure:
    """Return the share lost in each round of those kept until it, bars by group."""
    made = _figure(280, "rounds since the pin was written", "lost of those at risk")
    made.update_yaxes(range=[0, 1.05], tickformat=".0%")
    seen: list[int] = []
    for number, group in enumerate(groups):
        steps = group.survival.steps
        if not steps:
            continue
        made.add_bar(
            x=[step.rounds for step in steps],
            y=[step.hazard for step in steps],
            name=plain(group.name),
            marker={"color": _GROUP_INKS[number % len(_GROUP_INKS)]},
            text=[f"{step.lost}/{step.at_risk}" for step in steps],
            hovertemplate="round %{x}: %{text}<extra></extra>",
        )
        seen += [step.rounds for step in steps]
    return _rounds(made, seen)


def budgets(points: Sequence[Spent]) -> go.Figure:
    """Return the share of pins kept against the share of words kept, one point a round of a session."""
    made = _figure(340, "share of the words kept", "share of pins kept")
    made.update_xaxes(range=[-0.03, 1.05], tickformat=".0%")
    made.update_yaxes(range=[-0.05, 1.08], tickformat=".0%")
    for number, name in enumerate(sorted({point.group for point in points})):
        mine = [point for point in points if point.group == name and point.words_share is not None]
        made.add_scatter(
            x=[min(point.words_share or 0.0, 1.0) for point in mine],
            y=[point.kept / point.pins for point in mine],
            name=plain(name),
            mode="markers+text",
            text=[str(point.round) for point in mine],
            textposition="top center",
            marker={
                "size": [8 + min(point.pins, 40) * 0.5 for point in mine],
                "color": _GROUP_INKS[number % len(_GROUP_INKS)],
                "symbol": ("circle", "square", "diamond", "cross")[number % 4],
                "opacity": 0.8,
            },
            customdata=[(point.kept, point.pins, point.words_after, point.words_before) for point in mine],
            hovertemplate="round %{text}: %{customdata[0]} of %{customdata[1]} pins, "
            "%{customdata[2]} of %{customdata[3]} words<extra></extra>",
        )
    return made


def flows(group: Group) -> go.Figure | None:
    """Return the verdicts of neighbouring rounds and what went where; recovered pins are flows of their own."""
    if not group.flows:
        return None
    nodes: dict[tuple[int, SpanVerdict | None], int] = {}
    for flow in group.flows:
        for node in ((flow.round - 1, flow.before), (flow.round, flow.after)):
            nodes.setdefault(node, len(nodes))
    first = min(number for number, _ in nodes)
    span = max(1, max(number for number, _ in nodes) - first)
    made = go.Figure(
        go.Sankey(
            arrangement="snap",
            node={
                "label": [f"{number}: {LETTERS[verdict]}" for number, verdict in nodes],
                "color": [SPAN_VERDICTS[verdict].look.fill for _, verdict in nodes],
                "x": [0.02 + 0.96 * (number - first) / span for number, _ in nodes],
                "y": _centres(group.flows, nodes),
                "pad": 12,
                "thickness": 14,
            },
            link={
                "source": [nodes[flow.round - 1, flow.before] for flow in group.flows],
                "target": [nodes[flow.round, flow.after] for flow in group.flows],
                "value": [flow.count for flow in group.flows],
                "label": [_flow_label(flow) for flow in group.flows],
                "color": ["rgba(0,114,178,.55)" if flow.recovered else "rgba(138,143,152,.3)" for flow in group.flows],
            },
        )
    )
    made.update_layout(height=340, margin={"l": 8, "r": 8, "t": 16, "b": 16})
    return made


def _centres(flows: Sequence[Flow], nodes: Mapping[tuple[int, SpanVerdict | None], int]) -> list[float]:
    """Return the height of each node from the top, 0 to 1: verdicts of a round stand one under the other."""
    sizes: dict[tuple[int, SpanVerdict | None], int] = dict.fromkeys(nodes, 0)
    for node in nodes:
        into = sum(flow.count for flow in flows if (flow.round, flow.after) == node)
        out = sum(flow.count for flow in flows if (flow.round - 1, flow.before) == node)
        sizes[node] = max(into, out)
    tallest = max(sum(size for (at, _), size in sizes.items() if at == number) for number, _ in nodes)
    centres: dict[tuple[int, SpanVerdict | None], float] = {}
    for number in {number for number, _ in nodes}:
        top = 0.02
        for verdict in (*SpanVerdict, None):
            if (number, verdict) in sizes:
                share = 0.8 * sizes[number, verdict] / tallest
                centres[number, verdict] = top + share / 2
                top += share + 0.05
    return [min(0.98, centres[node]) for node in nodes]


def _flow_label(flow: Flow) -> str:
    if not flow.recovered:
        return "unchanged or worse"
    return "came back from the block" if flow.from_block else "came back"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the heatmap: which session, round and pin, and how it is drawn."""

    session: str
    round: int
    pin: str
    letter: str
    tone: Tone
    words: str


def cell_of(row: Row) -> Cell:
    """Return the cell of a row: a letter for the verdict, B where only the block carries it, a dot for a flag."""
    only_block = row.in_block and not row.kept
    letter = BLOCK_LETTER if only_block else LETTERS[row.verdict]
    verdict = SPAN_VERDICTS[row.verdict]
    words = f"{verdict.word}, in the block only" if only_block else verdict.word
    return Cell(row.session, row.round, row.pin, letter + (FLAGGED if row.flags else ""), verdict.tone, words)


def heatmap(rows: Sequence[Row], order: Sequence[tuple[str, str]], sessions: Mapping[str, str]) -> go.Figure:
    """Return span by round, one square a cell; `order` are the (session, pin) pairs from top to bottom.

    `sessions` are the names shown before a span, by session; none are shown for a session without one.
    """
    places = {key: number for number, key in enumerate(order)}
    texts = {(row.session, row.pin): _row_name(row, sessions) for row in rows}
    cells = [cell_of(row) for row in rows if (row.session, row.pin) in places]
    made = _figure(90 + 30 * len(order), "round", "")
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
                "symbol": "square",
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
        ticktext=[plain(texts.get(key, "")) for key in order],
        range=[len(order) - 0.4, -0.6],
        showgrid=False,
        automargin=True,
    )
    made.update_xaxes(side="top")
    return _rounds(made, [cell.round for cell in cells])


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
