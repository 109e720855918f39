"""The charts of retention: numbers, letters and labels, without a screen."""

from __future__ import annotations

from html import escape, unescape

import pytest

from dashboard import charts, heatmap
from dashboard.theme import LOOKS, Tone
from engine.retention.intervals import Share
from engine.retention.references import references
from engine.retention.report import figures
from tests.support.retention import facts_for, rows_for

ROWS = [
    *rows_for({f"rule {number}": fate for number, fate in enumerate(["PPD", "PDL", "PBP", "P??", "DPP", "PLL"] * 2)}),
    *rows_for({"other": "PP"}, session="s2", compactor="two"),
]
FOUND = figures(ROWS, facts_for(ROWS))


def test_a_heatmap_has_a_cell_for_every_row() -> None:
    """Letter, fill and what a click gives back."""
    order = sorted({(row.session, row.pin) for row in ROWS})
    made = heatmap.heatmap(ROWS, order, {})
    cells = [(data, text) for trace in made.data for data, text in zip(trace.customdata, trace.text, strict=True)]
    assert len(cells) == len(ROWS)
    letters = sorted({text for _, text in cells})
    assert letters == ["B", "D", "L", "P", "○"]
    fills = {trace.marker.color for trace in made.data}
    assert fills == {LOOKS[tone].fill for tone in (Tone.GOOD, Tone.BOUNDED, Tone.BAD, Tone.UNKNOWN)}
    assert list(made.layout.xaxis.tickvals) == [1, 2, 3]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (None, None),
        ({"selection": {"points": []}}, None),
        ({"selection": {"points": [{"customdata": ["s1", 2, "pin-1", "LOST"]}]}}, ("s1", 2, "pin-1")),
        ({"selection": {"points": [{"customdata": {"0": "s1", "1": 2, "2": "pin-1"}}]}}, ("s1", 2, "pin-1")),
        ({"selection": {"points": [{}]}}, None),
        ({"selection": {"points": [{"customdata": ["s1"]}]}}, None),
    ],
)
def test_a_click_gives_session_round_and_pin(event: object, expected: object) -> None:
    """In both shapes that the screen sends; anything else chooses nothing."""
    assert heatmap.picked(event) == expected


def test_a_heatmap_reads_without_colour() -> None:
    """What has no verdict is crossed out, what only the block carries has upright lines, the rest is plain."""
    order = sorted({(row.session, row.pin) for row in ROWS})
    made = heatmap.heatmap(ROWS, order, {})
    found = {(text, mark) for t in made.data for text, mark in zip(t.text, t.marker.symbol, strict=True)}
    plain = {(letter, "square") for letter in "PDL"}
    assert found == plain | {("B", "square-cross"), ("○", "square-x")}


def test_a_long_rule_has_two_short_lines() -> None:
    """A narrow screen keeps room for the cells; no entity is cut and a word without a space is cut all the same."""
    rules = ["Rule: " + "a<b & c " * 20, "x" * 200, "short", "Rule " + "y" * 90]
    rows = rows_for(dict.fromkeys(rules, "P"))
    labels = heatmap.heatmap(rows, [(row.session, row.pin) for row in rows], {}).layout.yaxis.ticktext
    assert [label.count("<br>") for label in labels] == [1, 1, 0, 1]
    for label in labels:
        lines = label.split("<br>")
        assert all("<" not in line and len(unescape(line)) <= heatmap.ROW_LABEL for line in lines)
        assert all(escape(unescape(line)) == line for line in lines)


def test_the_interval_of_a_single_round_is_seen() -> None:
    """A band of no width would be none: one round has a bar from the low to the high end."""
    rows = rows_for({f"rule {number}": "PL"[number % 2] for number in range(12)})
    group = figures(rows, facts_for(rows)).groups[0]
    share = group.lines[0].points[0].figure
    assert isinstance(share, Share)
    bar = charts.shares(group).data[0]
    assert bar.y[0] - bar.error_y.array[0] == pytest.approx(share.low)
    assert bar.y[0] + bar.error_y.array[0] == pytest.approx(share.high)
    assert charts.survival([group]).data[0].error_y.array is not None


def test_the_band_of_a_survival_curve_has_steps() -> None:
    """Every edge runs along a round or along a share."""
    band = charts.survival(FOUND.groups).data[0]
    assert band.fill == "toself"
    edges = list(zip(zip(band.x, band.y, strict=True), zip(band.x[1:], band.y[1:], strict=True), strict=False))
    assert edges
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in edges)


def test_budgets_draw_no_share_of_few_pins_and_clip_nothing() -> None:
    """A session of one pin stands in the table only; a context that grew is drawn where it belongs."""
    grown = figures(ROWS, facts_for(ROWS, {1: (100, 150)}))
    assert {each.group for each in grown.budgets} == {"one", "two"}
    made = charts.budgets(grown.budgets)
    drawn = {trace.name: list(trace.x) for trace in made.data}
    assert drawn["two"] == []
    assert drawn["one"][0] == 1.5
    assert made.layout.xaxis.range[1] > 1.5


def test_a_round_without_a_verdict_has_no_point() -> None:
    """Nothing kept would be a statement about a text that nobody could read."""
    rows = rows_for({f"rule {number}": "P?L" for number in range(3)})
    made = charts.kept_and_present(figures(rows, facts_for(rows)).groups[0])
    assert [list(trace.y) for trace in made.data] == [[3, None, 0], [3, None, 0]]


def test_labels_hold_no_markup() -> None:
    """The chart library reads tags in labels, so none reaches it."""
    rows = rows_for({"Rule: <b>x</b>\u202e <a href='http://198.51.100.7'>y</a>": "L"}, compactor="<i>c</i>")
    found = figures(rows, facts_for(rows))
    made = heatmap.heatmap(rows, [(rows[0].session, rows[0].pin)], {"s1": "<u>s</u>"})
    (label,) = made.layout.yaxis.ticktext
    assert "<" not in label.replace("<br>", "")
    assert "⟨U+202E⟩" in label
    assert all("<" not in trace.name for trace in charts.budgets(found.budgets).data)
    assert charts.plain("a < b & c") == "a &lt; b &amp; c"


def test_shares_are_drawn_only_where_there_are_enough_pins() -> None:
    """One line with its band; the group of one pin has none; published points are hollow."""
    one, two = FOUND.groups
    made = charts.shares(one)
    assert [trace.name for trace in made.data if trace.name] == ["INVARIANT"]
    assert list(made.data[-1].y) == pytest.approx([10 / 12, 4 / 10, 4 / 10])
    assert len(charts.shares(two).data) == 0
    shown = charts.shares(two, references())
    assert all(trace.marker.symbol.endswith("-open") for trace in shown.data)


def test_flows_tell_recovered_pins_apart() -> None:
    """Blue for what came back; every flow is drawn once."""
    made = charts.flows(FOUND.groups[0])
    assert made is not None
    (sankey,) = made.data
    assert sum(sankey.link.value) == 24
    came_back = [label for label in sankey.link.label if label.startswith("came back")]
    assert sorted(came_back) == ["came back", "came back from the block"]
    assert all(0 < y < 1 for y in sankey.node.y)
    assert charts.flows(figures(rows_for({"a": "P"}), []).groups[0]) is None


def test_curves_and_bars_follow_the_steps() -> None:
    """Survival begins at one; hazard has a bar a round with its counts."""
    made = charts.survival(FOUND.groups)
    line = next(trace for trace in made.data if trace.name == "one")
    assert line.y[0] == 1.0
    assert list(line.x) == [0, 1, 2, 3]
    bars = charts.hazard(FOUND.groups)
    assert list(bars.data[0].text) == [f"{s.lost}/{s.at_risk}" for s in FOUND.groups[0].survival.steps]
    assert len(charts.kept_and_present(FOUND.groups[0]).data) == 2
