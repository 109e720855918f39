"""All figures together, their tables, and the published points."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from engine.retention import tables
from engine.retention.references import SCHEMA, read_references, references
from engine.retention.report import MOST_GROUPS, figures
from engine.retention.series import GroupBy, Measure
from tests.support.retention import facts_for, rows_for

ROWS = [
    *rows_for({f"r{n}": "PPL" for n in range(12)}),
    *rows_for({f"r{n}": "PDL?" for n in range(12)}, session="s2", compactor="two"),
]


def test_every_table_holds_the_numbers_of_its_figure() -> None:
    """Row by row, for each group; and the whole can be written as JSON without NaN."""
    found = figures(ROWS, facts_for(ROWS))
    assert [group.name for group in found.groups] == ["one", "two"]
    shares = tables.shares(found)
    assert [(r["group"], r["round"], r["k"], r["n"], r["unverifiable"]) for r in shares] == [
        ("one", 1, 12, 12, 0),
        ("one", 2, 12, 12, 0),
        ("one", 3, 0, 12, 0),
        ("two", 1, 12, 12, 0),
        ("two", 2, 0, 12, 0),
        ("two", 3, 0, 12, 0),
        ("two", 4, 0, 0, 12),
    ]
    assert [(r["group"], r["rounds"], r["at_risk"], r["lost"]) for r in tables.survival(found)] == [
        ("one", 1, 12, 0),
        ("one", 2, 12, 0),
        ("one", 3, 12, 12),
        ("two", 1, 12, 0),
        ("two", 2, 12, 12),
    ]
    assert len(tables.kept_and_present(found)) == 7
    assert sum(r["count"] for r in tables.transitions(found)) == 12 * 2 + 12 * 3
    assert len(tables.budgets(found)) == 6
    assert [r["test"] for r in tables.comparisons(found.comparisons)] == ["McNemar, exact"]
    assert [r["verdict"] for r in tables.spans(found.rows)].count("UNVERIFIABLE") == found.unverifiable == 12
    json.dumps(found.as_json(), allow_nan=False)
    for table in (shares, tables.survival(found), tables.spans(found.rows)):
        assert len({tuple(row) for row in table}) == 1


def test_a_row_that_could_not_be_read_changes_no_share() -> None:
    """Grey is neither green nor red."""
    with_grey = [*ROWS, *rows_for({f"g{n}": "???" for n in range(50)}, session="s3")]
    for before, after in zip(tables.shares(figures(ROWS, [])), tables.shares(figures(with_grey, [])), strict=True):
        assert {**before, "unverifiable": 0} == {**after, "unverifiable": 0}


def test_losses_of_all_groups_are_the_losses_there_are() -> None:
    """A model that takes over a session inherits no loss, neither in its curve nor in the comparison."""
    rows = [
        replace(row, model="first" if row.round <= 2 else "second")
        for row in rows_for({**{f"a{n}": "LLLL" for n in range(12)}, **{f"b{n}": "PPPP" for n in range(12)}})
    ]
    found = figures(rows, [], by=GroupBy.MODEL)
    assert [(g.name, g.survival.pins, g.survival.losses) for g in found.groups] == [
        ("first", 24, 12),
        ("second", 12, 0),
    ]
    assert sum(g.survival.losses for g in found.groups) == figures(rows, [], by=GroupBy.NONE).groups[0].survival.losses


def test_many_groups_are_not_compared_at_random() -> None:
    """Past a dozen groups there would be a small p by chance alone."""
    rows = [row for n in range(MOST_GROUPS + 1) for row in rows_for({"a": "P"}, session=f"s{n}", compactor=f"c{n}")]
    assert figures(rows, []).comparisons == ()
    assert figures([], []).groups == ()
    assert figures(rows, [], by=GroupBy.NONE, measure=Measure.PRESENT).groups[0].name == "all"


def test_published_points_name_their_source() -> None:
    """Each is data with source and note, in range; another file is refused."""
    known = references()
    assert len(known) >= 3
    assert all("arXiv" in each.source and each.note for each in known)
    assert dict(known[0].rounds) == {1: 0.53, 2: 0.21, 3: 0.16, 4: 0.12, 5: 0.10}
    for bad in (
        [],
        {"schema": "x"},
        {"schema": SCHEMA, "points": [{"source": "s", "label": "l", "note": "n", "rounds": [[1, 2]]}]},
    ):
        with pytest.raises(ValueError, match=r"expected the schema|from 0 to 1"):
            read_references(bad)
