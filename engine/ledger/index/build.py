"""How is the index of a ledger made in one reading?

The ledger is read once, block by block, in flat memory; columns are written as they fill into a hidden folder, which
takes its name (the file's SHA-256) only when it is whole. A file that grows while it is read is taken at the size it
had at the start.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from engine.findings import UNWATCHED, Watch
from engine.ledger.index.facts import (
    REFUSED,
    Names,
    Row,
    Times,
    decode_row,
    is_receipt,
    key_of,
    read_exactly,
    receipt_facts,
)
from engine.ledger.index.layout import (
    COLUMNS,
    NAME_COLUMNS,
    NO_NUMBER,
    NO_TIME,
    OTHER,
    EquationState,
    Form,
    LedgerIndex,
)
from engine.ledger.index.store import ColumnWriter, building, open_index, publish
from engine.ledger.report import Limits
from engine.lines.reader import Block, read_blocks
from engine.lines.source import Source

_BLOCK_BYTES = 1024 * 1024
_RECEIPT_COLUMNS = ("receipt_key", "pre_key", "post_key", "dropped_count", "dropped_bytes", "equation")
_RECEIPT_DEFAULTS = (0, 0, 0, NO_NUMBER, NO_NUMBER, int(EquationState.NO_RECEIPT))
DEFAULT_LIMITS = Limits()


def ledger_index(
    source: Source, folder: Path, sha256: str, *, limits: Limits = DEFAULT_LIMITS, watch: Watch = UNWATCHED
) -> LedgerIndex:
    """Open the index of the ledger with this SHA-256, or build it when it is missing or damaged.

    When the source has other bytes by now the index is that of the bytes that were read: compare `sha256`.
    """
    found = open_index(folder, sha256)
    return found if found is not None else build_index(source, folder, limits=limits, watch=watch)


def build_index(
    source: Source, folder: Path, *, limits: Limits = DEFAULT_LIMITS, watch: Watch = UNWATCHED
) -> LedgerIndex:
    """Read a ledger and write its index under `folder`; replaces a damaged one.

    Raises `CannotLookError` when the source cannot be read, `OSError` when the folder cannot be written, and
    `CancelledError`.
    """
    size = source.size()
    watch.step("indexing", 0, size)
    with building(folder) as work:
        with ColumnWriter(work) as writer, source.open() as stream:
            hashing = _Hashing(stream, size)
            collector = _Collector(writer, limits)
            done = 0
            for block in read_blocks(
                cast(BinaryIO, hashing),
                universal=True,
                max_bytes=limits.line_bytes,
                size=size,
                block_bytes=_BLOCK_BYTES,
            ):
                collector.take(block)
                done += block.size
                watch.step("indexing", done, size)
        names = {name: table.texts() for name, table in collector.names.items()}
        writer.finish(hashing.digest.hexdigest(), hashing.done, collector.line, names, watch)
        return publish(work, folder, hashing.digest.hexdigest())


class _Hashing:
    """A stream that digests what is read through it."""

    def __init__(self, stream: Any, size: int) -> None:
        self.stream = stream
        self.size = size
        self.digest = hashlib.sha256()
        self.done = 0

    def read(self, size: int = -1) -> bytes:
        data: bytes = self.stream.read(size)
        self.digest.update(data)
        self.done += len(data)
        return data


class _Collector:
    """Takes blocks of lines and hands whole columns to the writer."""

    def __init__(self, writer: ColumnWriter, limits: Limits) -> None:
        self.writer = writer
        self.limits = limits
        self.names = {name: Names() for name in NAME_COLUMNS}
        self.times = Times()
        self.line = 0
        self.offset = 0

    def take(self, block: Block) -> None:
        if not block.lines:
            return
        lengths = np.fromiter(
            (block.lengths[i] if d is None else len(d) for i, d in enumerate(block.lines)), "<i8", len(block.lines)
        )
        steps = lengths + (1 if block.endings is None else np.fromiter(map(len, block.endings), "<i8"))
        starts = self.offset + np.concatenate(([0], np.cumsum(steps)[:-1]))
        places, facts, receipts = self._facts(block.lines)
        kept = np.array(places, dtype="<i8")
        columns: dict[str, Any] = {
            "line": self.line + 1 + kept,
            "offset": starts[kept],
            "length": lengths[kept],
            **dict(zip(("form", "time", *NAME_COLUMNS, "chain_key"), zip(*facts, strict=True), strict=False)),
        }
        for column, default in enumerate(_RECEIPT_DEFAULTS):
            values = np.full(len(places), default, COLUMNS[_RECEIPT_COLUMNS[column]])
            for place, receipt in receipts:
                values[place] = receipt[column]
            columns[_RECEIPT_COLUMNS[column]] = values
        if places:
            self.writer.write(columns)
        self.line += len(block.lines)
        self.offset += int(steps.sum())

    def _facts(self, lines: list[bytes | None]) -> tuple[list[int], list[tuple[int, ...]], list[tuple[int, Any]]]:
        """Return the positions of lines that are not blank, a tuple of facts for each, and the receipts among them."""
        places: list[int] = []
        facts: list[tuple[int, ...]] = []
        receipts: list[tuple[int, Any]] = []
        for position, data in enumerate(lines):
            row: Row | Form | None
            if data is None:
                row = Form.NOT_LOOKED_AT
            elif not data:
                continue
            else:
                try:
                    row = decode_row(data)
                except REFUSED:
                    row = read_exactly(data, self.limits.nesting)
            if isinstance(row, Row):
                if is_receipt(row):
                    receipts.append((len(places), receipt_facts(row)))
                facts.append(self._row(row))
            elif row is None:
                continue
            else:
                facts.append((row, NO_TIME, 0, 0, 0, 0, 0, 0))
            places.append(position)
        return places, facts, receipts

    def _row(self, row: Row) -> tuple[int, ...]:
        chain = row.chain
        if type(chain) is str:
            form = Form.CHAINED_ROW
        else:
            form = Form.ROW_WITHOUT_CHAIN if chain is None else Form.ROW_WITH_ODD_CHAIN
        names = self.names
        try:
            return (
                form,
                self.times[row.ts],
                names["kind"][row.kind],
                names["op"][row.op],
                names["schema"][row.schema],
                names["compactor"][row.compactor],
                names["method"][row.method],
                key_of(chain, digest=False),
            )
        except TypeError:  # a list or an object stands where a text is expected
            codes = [_code(names[name], getattr(row, name)) for name in NAME_COLUMNS]
            time = self.times[row.ts] if type(row.ts) is str else NO_TIME
            return (form, time, *codes, key_of(chain, digest=False))


def _code(names: Names, value: Any) -> int:
    return names[value] if value is None or type(value) is str else OTHER
