"""How do the figures of retention become charts?

Pure: engine figures in, plotly figures out. Every number in a chart stands in the table beneath it. Verdicts keep their
fills and have a letter each, so that they read without colour; classes have a dash and a marker each. Foreign text
enters an axis only through `plain`, since the chart library reads markup in labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from dashboard import visible
from dashboard.theme import LOOKS, SPAN_VERDICTS, Tone
from engine.retention.intervals import FEWEST_PINS, Share
from engine.retention.references import Reference
from engine.retention.report import Group
from engine.retention.series import Flow, LineOf, Spent
from engine.retention.survival import Step
from engine.spans.judge import Verdict as SpanVerdict

INK = "#8A8F98"
LABEL = 46
FEW_TICKS = 6
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
_GROUP_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_GROUP_INKS = ("#0072B2", "#D55E00", "#7A6BB5", "#5B8C85", "#B05A7A", "#8C6D31")


def plain(text: str, limit: int = LABEL) -> str:
    """Return foreign text as one line without any markup the chart library would act on."""
    return str(escape(visible.one_line(text, limit)))


def blank(height: int, x: str, y: str) -> go.Figure:
    """Return an empty figure with its two axes named."""
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


def round_ticks(made: go.Figure, numbers: Iterable[int]) -> go.Figure:
    """Put a mark at each round and nowhere between two."""
    made.update_xaxes(tickmode="array", tickvals=sorted(set(numbers)))
    return made


def shares(group: Group, published: Sequence[Reference] = ()) -> go.Figure:
    """Return the share kept in each round, a line a class with its band; counts too small for a share are left out."""
    made = blank(340, "round", "share of pins")
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
    return round_ticks(made, seen)


def _band(made: go.Figure, x: Sequence[float], low: Sequence[float], high: Sequence[float], ink: str) -> None:
    if len(set(x)) == 1:
        _bar(made, x[0], low[0], high[0], ink)
        return
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


def _bar(made: go.Figure, x: float, low: float, high: float, ink: str) -> None:
    """Draw the interval of a single round: a band of no width would not be seen, and the point would look certain."""
    middle = (low + high) / 2
    made.add_scatter(
        x=[x],
        y=[middle],
        mode="markers",
        marker={"size": 1, "color": ink},
        error_y={"array": [high - middle], "color": ink, "thickness": 1.5, "width": 6},
        hoverinfo="skip",
        showlegend=False,
    )


def _faint(ink: str) -> str:
    red, green, blue = (int(ink[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},.16)"


def kept_and_present(group: Group) -> go.Figure:
    """Return what the compactor kept beside what the agent could read, in pins.

    A round without a verdict has no point and breaks the line: none kept would be said of a text nobody could read.
    """
    made = blank(300, "round", "pins")
    rounds = [gap.round for gap in group.gaps]
    seen = [gap.kept.n > 0 for gap in group.gaps]
    for name, values, look in (
        ("kept by the compactor", [gap.kept.k for gap in group.gaps], LOOKS[Tone.GOOD]),
        ("present for the agent", [gap.present.k for gap in group.gaps], LOOKS[Tone.UNKNOWN]),
    ):
        made.add_scatter(
            x=rounds,
            y=[value if known else None for value, known in zip(values, seen, strict=True)],
            name=name,
            mode="lines+markers",
            line={"color": look.fill, "dash": look.dash},
            marker={"symbol": look.marker, "size": 9, "color": look.fill},
            hovertemplate="round %{x}: %{y} pins<extra></extra>",
        )
    most = max((gap.present.k for gap in group.gaps), default=0)
    top = max(most, 1)
    made.update_yaxes(range=[-0.06 * top, 1.08 * top], zeroline=False, **({"dtick": 1} if top <= FEW_TICKS else {}))
    return round_ticks(made, rounds)


def survival(groups: Sequence[Group]) -> go.Figure:
    """Return the share not yet lost, a step curve a group with its band."""
    made = blank(340, "rounds since the pin was written", "share not yet lost")
    made.update_yaxes(range=[0, 1.05], tickformat=".0%")
    seen = [0]
    for number, group in enumerate(groups):
        steps = group.survival.steps
        if not steps:
            continue
        ink, dash = _GROUP_INKS[number % len(_GROUP_INKS)], _GROUP_DASHES[number % len(_GROUP_DASHES)]
        _stepped_band(made, steps, ink)
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
    return round_ticks(made, seen)


def _stepped_band(made: go.Figure, steps: Sequence[Step], ink: str) -> None:
    """Draw the band as steps like its curve: between two rounds nothing was looked at, so nothing slopes."""
    x: list[float] = []
    lows: list[float] = []
    highs: list[float] = []
    ends = [step.rounds for step in steps[1:]] + [steps[-1].rounds]
    for step, end in zip(steps, ends, strict=True):
        if step.low is not None and step.high is not None:
            x += [step.rounds, end]
            lows += [step.low] * 2
            highs += [step.high] * 2
    if x:
        _band(made, x, lows, highs, ink)


def hazard(groups: Sequence[Group]) -> go.Figure:
    """Return the share lost in each round of those kept until it, bars by group."""
    made = blank(280, "rounds since the pin was written", "lost of those at risk")
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
    return round_ticks(made, seen)


def budgets(points: Sequence[Spent]) -> go.Figure:
    """Return the share of pins kept against the share of words kept, one point a round of a session.

    Rounds with too few pins for a share stand in the table only; a round that made the context longer is drawn there.
    """
    made = blank(340, "share of the words kept", "share of pins kept")
    widest = max((point.words_share or 0.0 for point in drawn_budgets(points)), default=1.0)
    made.update_xaxes(range=[-0.03, max(1.0, widest) * 1.05], tickformat=".0%")
    made.update_yaxes(range=[-0.05, 1.08], tickformat=".0%")
    for number, name in enumerate(sorted({point.group for point in points})):
        mine = [point for point in drawn_budgets(points) if point.group == name]
        made.add_scatter(
            x=[point.words_share for point in mine],
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


def drawn_budgets(points: Sequence[Spent]) -> list[Spent]:
    """Return the points that have enough pins, and words before them, to be drawn as shares."""
    return [point for point in points if point.pins >= FEWEST_PINS and point.words_share is not None]


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
