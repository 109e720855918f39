"""Every query gives what a plain loop over the rows gives."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.errors import CannotLookError, UsageError
from engine.ledger.index import build, query, states
from engine.ledger.index.layout import SORT_COLUMNS, LedgerIndex
from engine.ledger.index.query import Filter, Pick, Sort
from engine.lines.source import MemorySource

ROWS = 400


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LedgerIndex:
    """Index rows of every sort, with blank and unreadable lines between them."""
    chance = random.Random(7)
    lines = []
    for number in range(ROWS):
        row: dict[str, Any] = {"i": number, "pad": "x" * chance.randrange(30)}
        if chance.random() < 0.8:
            row["ts"] = f"2026-01-{chance.randrange(1, 28):02d}T00:00:{chance.randrange(60):02d}Z"
        if chance.random() < 0.7:
            row["kind"] = chance.choice(["b", "a", "c", 5])
        if chance.random() < 0.4:
            row |= {"schema": "arcaeon-compact:receipt:v2", "dropped": {"count": chance.randrange(5), "bytes": 9}}
        lines.append(json.dumps(row) if chance.random() < 0.9 else chance.choice(["", "42", "{torn"]))
    built = build.build_index(MemorySource("m", "\n".join(lines).encode()), tmp_path_factory.mktemp("i"))
    wrong = dict.fromkeys(range(1, ROWS, 7), states.BROKEN)
    return states.attach_by_line(
        built, "chain_state", wrong, names=(states.LINKED, states.BROKEN), bad=frozenset({states.BROKEN})
    )


def everything(index: LedgerIndex) -> list[query.IndexRow]:
    """Return all rows in file order."""
    return list(query.page(index, limit=ROWS).rows)


Match = Callable[[query.IndexRow], bool]


def filters(index: LedgerIndex) -> list[tuple[Filter, Match]]:
    """Return filters with the plain condition each stands for."""
    kinds = Pick("kind", frozenset(index.code("kind", k) or 0 for k in ("a", "(other)")))
    broken = Pick("chain_state", frozenset({1}))
    since, until = datetime(2026, 1, 9, tzinfo=UTC), datetime(2026, 1, 20, 0, 0, 7, tzinfo=UTC)
    return [
        (Filter(), lambda _: True),
        (Filter((kinds,)), lambda r: r.labels["kind"] in {"a", "(other)"}),
        (Filter((kinds, broken)), lambda r: r.labels["kind"] in {"a", "(other)"} and r.line % 7 == 1),
        (Filter(since=since), lambda r: r.time is not None and r.time >= since),
        (Filter(until=until), lambda r: r.time is not None and r.time <= until),
        (Filter(first_line=50, last_line=60), lambda r: 50 <= r.line <= 60),
        (Filter(bad_only=True), lambda r: r.is_bad),
        (Filter((Pick("kind", frozenset({999})),)), lambda _: False),
    ]


SORTS = [Sort(c, d) for c in ("line", "kind", "chain_state", "form", *SORT_COLUMNS) for d in (False, True)]


def plain(rows: list[query.IndexRow], sort: Sort) -> list[int]:
    """Sort by a plain key: rows without a value last, equal ones in file order (reversed when descending)."""

    def value(row: query.IndexRow) -> Any:
        return row.labels.get(sort.column) or (
            row.form.name.lower() if sort.column == "form" else getattr(row, sort.column)
        )

    with_value = [row for row in rows if getattr(row, sort.column, 0) is not None]
    without = [row for row in rows if getattr(row, sort.column, 0) is None]
    ordered = sorted(with_value, key=value)
    return [row.line for row in (ordered[::-1] if sort.descending else ordered) + without]


@pytest.mark.parametrize("sort", SORTS, ids=str)
def test_pages_are_slices_of_the_plain_answer(index: LedgerIndex, sort: Sort) -> None:
    """By position and behind a line, under every filter, the pages put together are the whole answer."""
    for flt, match in filters(index):
        expected = plain([row for row in everything(index) if match(row)], sort)
        assert query.count(index, flt) == len(expected)
        found: list[int] = []
        while part := query.page(index, flt, sort, first=len(found), limit=37).rows:
            found += [row.line for row in part]
        assert found == expected
        behind: list[int] = []
        while part := query.page(index, flt, sort, after_line=behind[-1] if behind else None, limit=37).rows:
            behind += [row.line for row in part]
        assert behind == expected


def test_a_line_outside_the_filter_leads_to_the_next_one(index: LedgerIndex) -> None:
    """In line order the page goes on behind any line, matching or not, blank or not, both ways."""
    flt, match = filters(index)[2]
    lines = [row.line for row in everything(index) if match(row)]
    for line in range(ROWS + 3):
        page = query.page(index, flt, after_line=line, limit=1)
        assert [row.line for row in page.rows] == [n for n in lines if n > line][:1]
        down = query.page(index, flt, Sort(descending=True), after_line=line, limit=1)
        assert [row.line for row in down.rows] == [n for n in lines[::-1] if n < line][:1]


@pytest.mark.parametrize("column", ["kind", "form", "equation", "chain_state"])
def test_facets_count_what_another_choice_would_show(index: LedgerIndex, column: str) -> None:
    """The filter's own pick in that column is left out; the sum is the number of rows under the rest."""
    for flt, _ in filters(index):
        rest = Filter(
            tuple(p for p in flt.picks if p.column != column),
            flt.since,
            flt.until,
            flt.first_line,
            flt.last_line,
            flt.bad_only,
        )
        counts = Counter[str]()
        for row in query.page(index, rest, limit=ROWS).rows:
            counts[row.labels.get(column) or str(getattr(row, column).name.lower())] += 1
        assert {f.label: f.count for f in query.facets(index, column, flt)} == dict(counts)


def test_a_row_is_found_by_its_line(index: LedgerIndex) -> None:
    """Every row by its number, and nothing for blank lines or past the end."""
    by_line = {row.line: row for row in everything(index)}
    for line in range(-1, ROWS + 3):
        assert query.row_at_line(index, line) == by_line.get(line)


def test_unknown_columns_are_wrong_use(index: LedgerIndex) -> None:
    """A column that is not there is refused by name."""
    for act in (
        lambda: query.count(index, Filter((Pick("flags", frozenset({0})),))),
        lambda: query.page(index, sort=Sort("flags")),
        lambda: query.facets(index, "flags"),
    ):
        with pytest.raises(UsageError, match="flags"):
            act()


def test_a_ledger_that_became_shorter_is_noticed(index: LedgerIndex, tmp_path: Path) -> None:
    """Reading a row that is not there any more says so instead of giving other bytes."""
    with pytest.raises(CannotLookError, match="expected"):
        query.row_bytes(MemorySource("m", b"{}"), everything(index)[-1])
