"""Which rows match, how many are there, and which of them stand on this page?

Every answer comes from whole columns in a few milliseconds at a million rows. A row without a time or a number sorts
last. The answers are only as good as the index; what a row says is read from the ledger itself (`row_bytes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from engine.errors import CannotLookError, UsageError
from engine.ledger.index.layout import (
    BAD_EQUATIONS,
    BAD_FORMS,
    NAME_COLUMNS,
    NO_NUMBER,
    NO_TIME,
    SORT_COLUMNS,
    Array,
    EquationState,
    Form,
    LedgerIndex,
)
from engine.lines.source import Source

PAGE_ROWS = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Pick:
    """Rows whose coded column has one of these codes (`LedgerIndex.code` gives the code of a label)."""

    column: str
    codes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Filter:
    """Rows that match every pick, stand in the time and line range, and are bad when `bad_only`.

    Ranges include both ends; a row without a readable time is in no time range.
    """

    picks: tuple[Pick, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    first_line: int | None = None
    last_line: int | None = None
    bad_only: bool = False


@dataclass(frozen=True, slots=True)
class Sort:
    """By which column rows are ordered: `line`, a coded column (by its labels), or one of `SORT_COLUMNS`."""

    column: str = "line"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What the index keeps of one row; labels are foreign text."""

    line: int
    offset: int
    length: int
    form: Form
    time: datetime | None
    labels: dict[str, str]
    """Labels of the name columns and of the attached states."""
    dropped_count: int | None
    dropped_bytes: int | None
    equation: EquationState
    is_bad: bool


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of an answer: position of the first one among all `total` that match."""

    rows: tuple[IndexRow, ...]
    first: int
    total: int


@dataclass(frozen=True, slots=True)
class Facet:
    """One value of a coded column with the number of matching rows."""

    code: int
    label: str
    count: int


EVERYTHING = Filter()
BY_LINE = Sort()


def count(index: LedgerIndex, flt: Filter = EVERYTHING) -> int:
    """Count the rows that match."""
    mask = _mask(index, flt)
    return index.rows if mask is None else int(np.count_nonzero(mask))


def page(
    index: LedgerIndex,
    flt: Filter = EVERYTHING,
    sort: Sort = BY_LINE,
    *,
    first: int = 0,
    after_line: int | None = None,
    limit: int = PAGE_ROWS,
) -> Page:
    """Return rows of the answer from position `first`, or from behind the row at `after_line` when that is given.

    A line that does not match the filter leads to the next one that does in line order, and to the start in any other
    order. Raises `UsageError` for a column that cannot be sorted by.
    """
    places = _places(index, _mask(index, flt), sort)
    if after_line is not None:
        first = _behind(index, places, sort, after_line)
    chosen = places[first : first + limit]
    return Page(tuple(rows_at(index, chosen)), first, len(places))


def facets(index: LedgerIndex, column: str, flt: Filter = EVERYTHING) -> tuple[Facet, ...]:
    """Count the matching rows for each value of a coded column, most frequent first; picks of that column are left out.

    So the counts say what another choice in the same column would show.
    """
    values = _coded(index, column)
    rest = Filter(
        tuple(pick for pick in flt.picks if pick.column != column),
        flt.since,
        flt.until,
        flt.first_line,
        flt.last_line,
        flt.bad_only,
    )
    mask = _mask(index, rest)
    if mask is not None:
        counts = np.bincount(values[mask], minlength=index.codes(column)).tolist()
    else:
        counts = list(index.states[column].counts if column in index.states else index.counts[column])
    found = [Facet(code, index.label(column, code), number) for code, number in enumerate(counts) if number]
    return tuple(sorted(found, key=lambda facet: (-facet.count, facet.code)))


def row_at_line(index: LedgerIndex, line: int) -> IndexRow | None:
    """Return the row at a line; None for a blank line or one past the end."""
    place = int(np.searchsorted(index.columns["line"], line))
    if place == index.rows or int(index.columns["line"][place]) != line:
        return None
    return next(iter(rows_at(index, np.array([place]))))


def rows_around(index: LedgerIndex, line: int, *, before: int = 1, after: int = 1) -> tuple[IndexRow, ...]:
    """Return the row at a line (or the next one) with its neighbours; blank lines are no rows."""
    place = int(np.searchsorted(index.columns["line"], line))
    first, last = max(0, place - before), min(index.rows, place + after + 1)
    return tuple(rows_at(index, np.arange(first, last)))


def row_bytes(source: Source, row: IndexRow, limit: int = 16 * 1024 * 1024) -> bytes:
    """Read at most `limit` bytes of a row from the ledger, without its line end.

    Raises `CannotLookError` when the ledger is shorter than the index says.
    """
    with source.open() as stream:
        stream.seek(row.offset)
        wanted = min(row.length, limit)
        data = stream.read(wanted)
    if len(data) != wanted:
        raise CannotLookError(
            "row_not_there",
            f"expected {wanted} bytes at {row.offset}, found {len(data)}",
            where=f"{source.name}:{row.line}",
            hint="the ledger changed since it was indexed; open it again",
        )
    return data


def rows_at(index: LedgerIndex, places: Array) -> list[IndexRow]:
    """Return the rows at these places of the index."""
    columns = {name: values[places].tolist() for name, values in index.columns.items()}
    states = {name: state.values[places].tolist() for name, state in index.states.items()}
    bad = bad_places(index, places).tolist()
    return [
        IndexRow(
            line=columns["line"][i],
            offset=columns["offset"][i],
            length=columns["length"][i],
            form=Form(columns["form"][i]),
            time=None if columns["time"][i] == NO_TIME else _EPOCH + columns["time"][i] * _MICRO,
            labels={
                **{name: index.label(name, columns[name][i]) for name in NAME_COLUMNS},
                **{name: index.label(name, values[i]) for name, values in states.items()},
            },
            dropped_count=_number(columns["dropped_count"][i]),
            dropped_bytes=_number(columns["dropped_bytes"][i]),
            equation=EquationState(columns["equation"][i]),
            is_bad=bad[i],
        )
        for i in range(len(places))
    ]


def bad_places(index: LedgerIndex, places: Array | slice) -> Array:
    """Tell for each place whether its row is unreadable, does not add up, or has a bad attached state."""
    bad: Array = np.isin(index.columns["form"][places], BAD_FORMS)
    bad |= _among(index.columns["equation"][places], frozenset(BAD_EQUATIONS), len(EquationState))
    for state in index.states.values():
        codes = frozenset(code for code, name in enumerate(state.names) if name in state.bad)
        bad |= _among(state.values[places], codes, len(state.names))
    return bad


def _number(value: int) -> int | None:
    return None if value == NO_NUMBER else value


def _coded(index: LedgerIndex, column: str) -> Array:
    if column not in index.coded_columns():
        raise UsageError("unknown_column", f"expected one of {', '.join(index.coded_columns())}, found {column!r}")
    return index.coded(column)


def _among(values: Array, codes: frozenset[int], size: int) -> Array:
    """Tell which values are among the codes; a table of all codes is quicker than comparing with each."""
    if len(codes) == 1:
        found: Array = values == next(iter(codes))
        return found
    table = np.zeros(size, dtype=bool)
    table[[code for code in codes if 0 <= code < size]] = True
    return np.take(table, values)


def _mask(index: LedgerIndex, flt: Filter) -> Array | None:
    """Return which rows match, or None for all of them."""
    masks = [_among(_coded(index, pick.column), pick.codes, index.codes(pick.column)) for pick in flt.picks]
    time, line = index.columns["time"], index.columns["line"]
    if flt.since is not None:
        masks.append(time >= _micros(flt.since))
    if flt.until is not None:
        masks.append((time <= _micros(flt.until)) & (time != NO_TIME))
    if flt.first_line is not None:
        masks.append(line >= flt.first_line)
    if flt.last_line is not None:
        masks.append(line <= flt.last_line)
    if flt.bad_only:
        masks.append(bad_places(index, slice(None)))
    if not masks:
        return None
    mask = masks[0]
    for other in masks[1:]:
        mask = mask & other
    return mask


def _micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICRO


def _places(index: LedgerIndex, mask: Array | None, sort: Sort) -> Array:
    """Return the matching places in order."""
    if sort.column == "line":
        places: Array = np.arange(index.rows) if mask is None else np.flatnonzero(mask)
        return places[::-1] if sort.descending else places
    if sort.column not in SORT_COLUMNS:
        places = _by_label(index, mask, sort.column)
        return places[::-1] if sort.descending else places
    order, without = _order(index, sort.column)
    with_value, no_value = order[without:], order[:without]
    if sort.descending:
        with_value = with_value[::-1]
    if mask is not None:
        with_value, no_value = with_value[mask[with_value]], no_value[mask[no_value]]
    return np.concatenate((with_value, no_value)) if len(no_value) else with_value


def _order(index: LedgerIndex, column: str) -> tuple[Array, int]:
    """Return the places in rising order, and how many at the start have no value."""
    order, values = index.orders[column], index.columns[column]
    least = NO_TIME if column == "time" else NO_NUMBER
    low, high = 0, len(order)
    while low < high:  # the rows without a value come first; the column is not copied to find where they end
        middle = (low + high) // 2
        low, high = (middle + 1, high) if values[order[middle]] == least else (low, middle)
    return order, low


def _by_label(index: LedgerIndex, mask: Array | None, column: str) -> Array:
    """Return the matching places in the order of their labels."""
    codes = _coded(index, column)
    labels = [index.label(column, code) for code in range(index.codes(column))]
    ranks = np.empty(len(labels), dtype="<u2")
    ranks[sorted(range(len(labels)), key=labels.__getitem__)] = np.arange(len(labels))
    # 16 bits are sorted digit by digit, in linear time.
    if mask is None:
        return np.argsort(ranks[codes], kind="stable")
    places = np.flatnonzero(mask)
    found: Array = places[np.argsort(ranks[codes[places]], kind="stable")]
    return found


def _behind(index: LedgerIndex, places: Array, sort: Sort, after_line: int) -> int:
    lines = index.columns["line"]
    place = int(np.searchsorted(lines, after_line))
    if sort.column == "line":
        if sort.descending:
            return len(places) - int(np.searchsorted(places[::-1], place))
        is_row = place < index.rows and int(lines[place]) == after_line
        return int(np.searchsorted(places, place, side="right" if is_row else "left"))
    found = np.flatnonzero(places == place)
    return int(found[0]) + 1 if len(found) else 0
