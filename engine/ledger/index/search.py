"""What did a person type, and which rows does it point to?

A line number, a chain value or digest (or the beginning of one), a moment, a `column:value`, or else free text.
Beginnings of hex values are found in the index and confirmed in the row itself; free text is found by reading the
ledger, within a budget. Text spelled in the row with other escapes than JSON writers use is not found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import numpy as np

from engine.clock import parse_time
from engine.findings import UNWATCHED, Watch
from engine.ledger.index.layout import KEY_DIGITS, NAME_COLUMNS, Array, LedgerIndex
from engine.ledger.index.query import IndexRow, row_bytes, rows_at
from engine.lines.source import Source
from engine.lines.strict import parse_exact

_LINE = re.compile(r"(?:(?:line|row|#)\s*)?(\d{1,12})", re.IGNORECASE | re.ASCII)
_DIGEST = re.compile(r"[0-9a-z]+:[0-9a-z.-]+:v\d+:([0-9a-f]{4,128})", re.IGNORECASE | re.ASCII)
_HEX = re.compile(r"(0x)?([0-9a-f]{4,64})", re.IGNORECASE | re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_NAMED = re.compile(rf"({'|'.join(NAME_COLUMNS)})\s*[:=]\s*(.+)", re.IGNORECASE | re.DOTALL)
_CHAIN_DIGITS = 32
_BLOCK_BYTES = 1024 * 1024
SEARCH_BUDGET = 256 * 1024 * 1024
"""Bytes read by one call; the answer says where to go on."""
MAX_HITS = 100
_CANDIDATES = 1000


class Recognised(StrEnum):
    """What a query was taken for."""

    NOTHING = "nothing"
    LINE = "line number"
    CHAIN_OR_DIGEST = "chain value or digest"
    DIGEST = "digest"
    TIME = "time"
    NAME = "name"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Query:
    """A query as understood: the kind, and the part that is looked for.

    `value` is the line number, the lower-case hex digits, the label or the text; `column` is set for a name, `since`
    and `until` (both included) for a time.
    """

    kind: Recognised
    value: str
    column: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class KeyHit:
    """A row that holds the hex value, and the field it stands in."""

    row: IndexRow
    field: str


@dataclass(frozen=True, slots=True)
class TextHits:
    """Rows with the text, in order; `next_offset` is where to go on, None at the end of the ledger."""

    rows: tuple[IndexRow, ...]
    searched: int
    next_offset: int | None


def recognise(text: str, lines: int) -> Query:
    """Say what a query is, for a ledger of so many lines; a number past the end may still be a hex value."""
    stripped = text.strip()
    if not stripped:
        return Query(Recognised.NOTHING, "")
    if (match := _LINE.fullmatch(stripped)) and 1 <= int(match.group(1)) <= lines:
        return Query(Recognised.LINE, str(int(match.group(1))))
    if match := _DIGEST.fullmatch(stripped):
        return Query(Recognised.DIGEST, match.group(1).lower())
    # A word of the letters a to f alone is a word, unless it is written as a number.
    if (match := _HEX.fullmatch(stripped)) and (match.group(1) or any(c.isdigit() for c in match.group(2))):
        digits = match.group(2).lower()
        return Query(Recognised.DIGEST if len(digits) > _CHAIN_DIGITS else Recognised.CHAIN_OR_DIGEST, digits)
    if (match := _NAMED.fullmatch(stripped)) is not None:
        return Query(Recognised.NAME, match.group(2).strip(), column=match.group(1).lower())
    return _time(stripped) or Query(Recognised.TEXT, stripped)


def _time(text: str) -> Query | None:
    if _DAY.fullmatch(text):
        since, length = parse_time(f"{text}T00:00:00Z"), timedelta(days=1)
    else:
        since, length = parse_time(text), timedelta(seconds=1)
    if since is None:
        return None
    try:
        until = since + length - timedelta(microseconds=1)
    except OverflowError:
        until = datetime.max.replace(tzinfo=UTC)
    return Query(Recognised.TIME, text, since=since, until=until)


def find_key(index: LedgerIndex, source: Source, query: Query, limit: int = MAX_HITS) -> tuple[KeyHit, ...]:
    """Return rows whose chain value, receipt digest or side digests begin with the hex digits of a query.

    Digests of single dropped items are not in the index: look for them as text.
    """
    fields = {"receipt_key": "receipt_digest", "pre_key": "pre.digest", "post_key": "post.digest"}
    if query.kind is Recognised.CHAIN_OR_DIGEST:
        fields = {"chain_key": "chain", **fields}
    hits: list[KeyHit] = []
    for column, field in fields.items():
        places = _key_places(index.columns[column], query.value)[:_CANDIDATES]
        for row in rows_at(index, places):
            if len(hits) < limit and _begins(source, row, field, query.value):
                hits.append(KeyHit(row, field))
    return tuple(hits)


def _key_places(keys: Array, digits: str) -> Array:
    known = digits[:KEY_DIGITS]
    shift = 4 * (KEY_DIGITS - len(known))
    low = np.uint64(int(known, 16) << shift)
    high = np.uint64((int(known, 16) << shift) + (1 << shift) - 1)
    return np.flatnonzero(keys == low if shift == 0 else (keys >= low) & (keys <= high) & (keys != 0))


def _begins(source: Source, row: IndexRow, field: str, digits: str) -> bool:
    value: Any = parse_exact(row_bytes(source, row).decode("utf-8", "replace").strip()).value
    for name in field.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return isinstance(value, str) and value.rpartition(":")[2].lower().startswith(digits)


def find_text(
    index: LedgerIndex,
    source: Source,
    text: str,
    *,
    offset: int = 0,
    limit: int = MAX_HITS,
    budget: int = SEARCH_BUDGET,
    watch: Watch = UNWATCHED,
) -> TextHits:
    """Find rows that hold a text anywhere, letters of either case, from a byte offset on.

    Stops after `limit` rows or `budget` bytes and says where to go on. Raises `CancelledError`.
    """
    needles = _spellings(text)
    longest = max(map(len, needles))
    end = min(index.size, offset + max(budget, 2 * longest))
    found: dict[int, None] = {}
    starts = index.columns["offset"]
    for base, block in _blocks(source, offset, end, longest, watch):
        for at in sorted({place for needle in needles for place in _all(block, needle)}):
            place = int(np.searchsorted(starts, base + at, side="right")) - 1
            if place in found:
                continue
            if len(found) == limit:
                begin = int(starts[place])
                return TextHits(tuple(rows_at(index, np.array(list(found)))), begin - offset, begin)
            found[place] = None
    rows = tuple(rows_at(index, np.array(list(found), dtype="<i8")))
    # A match may lie across the end of the budget: going on starts a little before it.
    return TextHits(rows, end - offset, None if end >= index.size else max(end - longest + 1, offset + 1))


def _spellings(text: str) -> tuple[bytes, ...]:
    """Return the text as JSON writers spell it inside a string: raw and with escapes, lower case."""
    raw = json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
    escaped = json.dumps(text)[1:-1].encode("ascii")
    plain = text.encode("utf-8", "surrogatepass")
    return tuple({spelling.lower(): None for spelling in (raw, escaped, plain)})


def _all(block: bytes, needle: bytes) -> Iterator[int]:
    at = block.find(needle)
    while at >= 0:
        yield at
        at = block.find(needle, at + len(needle))


def _blocks(source: Source, offset: int, end: int, longest: int, watch: Watch) -> Iterator[tuple[int, bytes]]:
    """Yield lower-case blocks with their offset; each starts with the last bytes of the one before it."""
    kept = b""
    with source.open() as stream:
        stream.seek(offset)
        position = offset
        while position < end and (data := stream.read(min(_BLOCK_BYTES, end - position))):
            watch.step("searching", position - offset, end - offset)
            lowered = kept + data.lower()
            yield position - len(kept), lowered
            position += len(data)
            kept = lowered[-(longest - 1) :] if longest > 1 else b""
