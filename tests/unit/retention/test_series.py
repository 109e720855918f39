"""Shares per round, gaps, flows and budgets, counted by hand."""

from __future__ import annotations

import pytest

from engine.retention.intervals import Counted, Share
from engine.retention.series import GroupBy, LineOf, Measure, gaps, grouped, lines, points, spent, transitions
from engine.spans.classify import SpanClass
from engine.spans.judge import Verdict
from tests.support.retention import facts_for, rows_for

FATES = {f"rule {number}": fate for number, fate in enumerate(["PPD", "PDL", "PBP", "P??", "DPP", "PLL"] * 2)}


@pytest.mark.parametrize(
    ("measure", "kept"),
    [
        (Measure.KEPT, [10, 4, 4]),
        (Measure.LITERAL, [12, 6, 6]),
        (Measure.PRESENT, [10, 6, 4]),
    ],
)
def test_each_reading_counts_its_own(measure: Measure, kept: list[int]) -> None:
    """Of twelve pins, two unverifiable from round two on; counted by hand for each reading."""
    (line,) = lines(rows_for(FATES), measure)
    assert [(point.figure.k, point.figure.n, point.unverifiable) for point in line.points] == [
        (kept[0], 12, 0),
        (kept[1], 10, 2),
        (kept[2], 10, 2),
    ]


def test_loosely_needs_half_of_the_words_in_one_place() -> None:
    """A DEGRADED pin counts loosely by its window."""
    (row,) = rows_for({"rule": "D"})
    assert [row.kept_loosely, row.literal] == [True, True]
    scattered = rows_for({"rule": "D"})[0].__class__(
        **{name: getattr(row, name) for name in row.__slots__} | {"window_found": 2, "window_total": 5}
    )
    assert not scattered.kept_loosely


def test_each_class_has_its_line_and_critical_is_apart() -> None:
    """No pooled number; a critical pin is in its class's line too."""
    rows = [
        *rows_for({"a": "PL"}, critical=True),
        *rows_for({"b": "PP"}),
        *rows_for({"c": "LL"}, cls=SpanClass.FACT),
    ]
    made = lines(rows, Measure.KEPT)
    assert [(line.of, [(p.figure.k, p.figure.n) for p in line.points]) for line in made] == [
        (LineOf.CRITICAL, [(1, 1), (0, 1)]),
        (LineOf.INVARIANT, [(2, 2), (1, 2)]),
        (LineOf.FACT, [(0, 1), (0, 1)]),
    ]


def test_the_cliff_is_the_first_round_below_half() -> None:
    """Half itself is not below it, and too few pins have none."""
    fates = {f"r{number}": "PPPL" if number < 6 else "PPLL" for number in range(12)}
    (line,) = lines(rows_for(fates), Measure.KEPT)
    assert [p.figure.value for p in line.points if isinstance(p.figure, Share)] == [1.0, 1.0, 0.5, 0.0]
    assert line.cliff == 4
    (few,) = lines(rows_for({"a": "LL"}), Measure.KEPT)
    assert (few.cliff, few.points[0].figure) == (None, Counted(0, 1))


def test_groups_are_by_what_was_asked() -> None:
    """None puts all together; a session is its own group."""
    rows = [*rows_for({"a": "P"}), *rows_for({"b": "L"}, session="s2", compactor="two")]
    assert list(grouped(rows, GroupBy.NONE)) == ["all"]
    assert list(grouped(rows, GroupBy.COMPACTOR)) == ["one", "two"]
    assert list(grouped(rows, GroupBy.SESSION)) == ["s1", "s2"]


def test_the_gap_is_what_a_block_carries() -> None:
    """Kept and present differ by the pins in a block only; the copied ones and the block's words are counted."""
    rows = rows_for({"a": "BP", "b": "PP", "c": "DP"})
    first, second = gaps(rows, facts_for(rows))
    assert (first.kept.k, first.present.k, first.block_only, first.words) == (1, 2, 1, 7)
    assert (second.kept.k, second.carried, second.recovered) == (3, 1, 2)


def test_flows_name_what_came_back_and_how() -> None:
    """Every pair of rounds, with recovered pins, those from a block apart; a gap in rounds is no flow."""
    rows = rows_for({"a": "PDP", "b": "PBP", "c": "PL?", "d": "-PP"})
    seen = {(f.round, f.before, f.after, f.from_block): (f.count, f.recovered) for f in transitions(rows)}
    kept, damaged, lost = Verdict.PRESERVED, Verdict.DEGRADED, Verdict.LOST
    assert seen == {
        (2, kept, damaged, False): (1, False),
        (2, kept, lost, False): (2, False),
        (3, damaged, kept, False): (1, True),
        (3, lost, kept, True): (1, True),
        (3, lost, None, False): (1, False),
        (3, kept, kept, False): (1, False),
    }


def test_budgets_stand_beside_what_was_kept() -> None:
    """One point for each round of a session that has a verified pin."""
    rows = [*rows_for({"a": "P?", "b": "L?"}), *rows_for({"a": "PP"}, session="s2", compactor="two")]
    made = spent(rows, facts_for(rows, {1: (200, 50)}), GroupBy.COMPACTOR)
    assert [(each.group, each.round, each.kept, each.pins, each.words_share) for each in made] == [
        ("one", 1, 1, 2, 0.25),
        ("two", 1, 1, 1, 0.25),
        ("two", 2, 1, 1, 0.5),
    ]


def test_the_order_of_rows_does_not_matter() -> None:
    """The same rows give the same points."""
    rows = rows_for(FATES)
    assert points(rows[::-1], Measure.KEPT) == points(rows, Measure.KEPT)
    assert transitions(rows[::-1]) == transitions(rows)
