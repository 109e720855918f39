"""Does a segment file still hold what was sealed, record by record?

Everything is recomputed while reading: block digests, sizes, commits, the chain, the root, and that no byte lies
outside the blocks. Memory is bounded by the block limit. It does not check the signature (the keyring does), nor that
the segment was ever accepted (the control ledger says).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from engine.digests import canonical_json
from engine.findings import UNWATCHED, Code, Finding, Watch
from engine.husk import frames, merkle
from engine.husk.event import commit_of, link_of
from engine.husk.segment import (
    FORMAT,
    MAX_RECORD_BYTES,
    MAX_RECORDS,
    SEGMENT_BLOCK,
    SEGMENT_CHAIN,
    SEGMENT_COMMIT,
    SEGMENT_COUNT,
    SEGMENT_FORMAT,
    SEGMENT_HEADER,
    SEGMENT_RECORD,
    SEGMENT_ROOT,
    SEGMENT_TRAILING,
    SEGMENT_UNREADABLE,
    Block,
    Footer,
    Header,
    Record,
    SegmentType,
)
from engine.lines.strict import parse_exact

TAIL_GUESS = 64 * 1024


class SegmentError(Exception):
    """The first fault of a segment; carries its finding. Caught inside this subject, never shown to a user."""

    def __init__(self, code: Code, *, record: int | None = None, note: str = "") -> None:
        super().__init__(code.name)
        self.finding = Finding(code, line=record, note=note)


@dataclass(frozen=True, slots=True)
class Segment:
    """An opened segment: header, footer, the envelope around the footer, and the digest of its signed body."""

    header: Header
    footer: Footer
    envelope: dict[str, Any]
    stream: BinaryIO

    @property
    def footer_digest(self) -> str:
        """Return the SHA-256 (hex) over the signed body; the control ledger names it."""
        return hashlib.sha256(canonical_json(self.footer.body())).hexdigest()

    def records(self, watch: Watch = UNWATCHED) -> Iterator[Record]:
        """Yield every record, verified; raises `SegmentError` at the first fault, also after the last record."""
        yield from _walk(self, watch)

    def record(self, n: int) -> Record:
        """Return one record, verified against the footer's digest of its block and against its own commit."""
        block = next((each for each in self.footer.blocks if each.first <= n < each.first + each.count), None)
        if block is None:
            raise SegmentError(SEGMENT_COUNT, record=n)
        for found, _ in _records_of(_block(self.stream, block), block):
            if found.n == n:
                return found
        raise SegmentError(SEGMENT_COUNT, record=n)


@contextmanager
def open_segment(path: Path) -> Iterator[Segment]:
    """Open a segment file; raises `SegmentError` when header or footer do not read (a missing file too)."""
    try:
        stream = path.open("rb")
    except OSError as error:
        raise SegmentError(SEGMENT_UNREADABLE, note=error.strerror or str(error)) from error
    with stream:
        yield read_segment(stream)


def read_segment(stream: BinaryIO) -> Segment:
    """Read footer and header; raises `SegmentError`."""
    try:
        envelope, footer, end = _footer(stream)
    except OSError as error:
        raise SegmentError(SEGMENT_UNREADABLE, note=error.strerror or str(error)) from error
    _check_layout(footer, end)
    line = _block(stream, footer.blocks[0])
    if hashlib.sha256(line).hexdigest() != footer.header:
        raise SegmentError(SEGMENT_HEADER)
    header = _header(line)
    if header.segment != footer.segment:
        raise SegmentError(SEGMENT_HEADER)
    return Segment(header, footer, envelope, stream)


def _footer(stream: BinaryIO) -> tuple[dict[str, Any], Footer, int]:
    size = stream.seek(0, os.SEEK_END)
    tail = _last(stream, size, TAIL_GUESS)
    length = frames.tail_bytes(tail)
    if length is not None and length > len(tail):
        tail = _last(stream, size, length)
    found = frames.footer_at_end(tail, size)
    if isinstance(found, Code):
        raise SegmentError(found)
    data, end = found
    value = _object(data, SEGMENT_FORMAT)
    body = value.get("body")
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise SegmentError(SEGMENT_FORMAT)
    return value, _footer_of(body), end


def _last(stream: BinaryIO, size: int, length: int) -> bytes:
    stream.seek(max(0, size - length))
    return stream.read(length)


def _object(data: bytes, code: Code) -> dict[str, Any]:
    try:
        parsed = parse_exact(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise SegmentError(code) from error
    if parsed.problem is not None or parsed.duplicates or not isinstance(parsed.value, dict):
        raise SegmentError(code)
    return parsed.value


def _footer_of(body: dict[str, Any]) -> Footer:
    numbers = [body.get(key) for key in ("count", "first_seq", "last_seq", "raw_total")]
    texts = [body.get(key) for key in ("segment", "header", "head", "root")]
    listed = body.get("blocks")
    sound = all(type(each) is int and each >= 0 for each in numbers) and all(isinstance(each, str) for each in texts)
    if not sound or not isinstance(listed, list) or len(listed) < 2:  # noqa: PLR2004 - a header block and one more
        raise SegmentError(SEGMENT_FORMAT)
    count, first, last, total = (int(each or 0) for each in numbers)
    segment, header, head, root = (str(each) for each in texts)
    return Footer(segment, count, first, last, header, head, root, total, tuple(_block_of(each) for each in listed))


def _block_of(value: Any) -> Block:
    kinds = (int, int, int, str, int, int, str)
    if not isinstance(value, list) or [type(each) for each in value] != list(kinds):
        raise SegmentError(SEGMENT_FORMAT)
    block = Block(*value)
    if min(block.offset, block.size, block.raw, block.first, block.count) < 0 or block.raw > frames.MAX_BLOCK_BYTES:
        raise SegmentError(SEGMENT_FORMAT)
    return block


def _check_layout(footer: Footer, end: int) -> None:
    """Blocks lie one behind the other from the first byte to the footer, and count all records once."""
    at, records = 0, 0
    for block in footer.blocks:
        if block.offset != at:
            raise SegmentError(SEGMENT_TRAILING)
        if block.first != records:
            raise SegmentError(SEGMENT_COUNT)
        at, records = at + block.size, records + block.count
    if at != end:
        raise SegmentError(SEGMENT_TRAILING)
    if records != footer.count or not 0 < footer.count <= MAX_RECORDS or footer.blocks[0].count:
        raise SegmentError(SEGMENT_COUNT)


def _block(stream: BinaryIO, block: Block) -> bytes:
    try:
        stream.seek(block.offset)
        frame = stream.read(block.size)
    except OSError as error:
        raise SegmentError(SEGMENT_UNREADABLE, record=block.first, note=error.strerror or str(error)) from error
    if hashlib.sha256(frame).hexdigest() != block.sha256:
        raise SegmentError(SEGMENT_BLOCK, record=block.first)
    raw = frames.unpack(frame, block.raw)
    if isinstance(raw, Code):
        raise SegmentError(raw, record=block.first)
    return raw


def _header(line: bytes) -> Header:
    value = _object(line, SEGMENT_HEADER)
    texts = {name: value.get(name) for name in Header.__slots__}
    if value.get("format") != FORMAT or not all(isinstance(each, str) for each in texts.values()):
        raise SegmentError(SEGMENT_HEADER)
    if texts["type"] not in {each.value for each in SegmentType}:
        raise SegmentError(SEGMENT_HEADER)
    made = Header(**{**texts, "type": SegmentType(str(texts["type"]))})  # type: ignore[arg-type]
    if made.line() != line:
        raise SegmentError(SEGMENT_HEADER)
    return made


def _records_of(raw: bytes, block: Block) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Take the records of one block apart, each checked against its own commit and link."""
    at = 0
    for number in range(block.first, block.first + block.count):
        end = raw.find(b"\n", at)
        if end < 0:
            raise SegmentError(SEGMENT_RECORD, record=number)
        head = _object(raw[at:end], SEGMENT_RECORD)
        record, at = _record(head, raw, end + 1, number)
        if record.unit != block.unit:
            raise SegmentError(SEGMENT_RECORD, record=number)
        yield record, head
    if at != len(raw):
        raise SegmentError(SEGMENT_TRAILING, record=block.first)


def _record(head: dict[str, Any], raw: bytes, at: int, number: int) -> tuple[Record, int]:
    size, seq = (_number(head.get(key), number) for key in ("len", "seq"))
    event_id, unit = (_text(head.get(key), number) for key in ("id", "unit"))
    if head.get("n") != number or size > MAX_RECORD_BYTES:
        raise SegmentError(SEGMENT_RECORD, record=number)
    data = raw[at : at + size]
    if len(data) != size or raw[at + size : at + size + 1] != b"\n":
        raise SegmentError(SEGMENT_RECORD, record=number)
    salt, commit, before, link = (_hex(head.get(key), number) for key in ("salt", "commit", "prev", "link"))
    if commit_of(salt, data) != commit:
        raise SegmentError(SEGMENT_COMMIT, record=number)
    if link_of(before, seq, event_id, commit) != link:
        raise SegmentError(SEGMENT_CHAIN, record=number)
    return Record(number, seq, event_id, salt, data, unit), at + size + 1


def _number(value: Any, number: int) -> int:
    if type(value) is not int or value < 0:
        raise SegmentError(SEGMENT_RECORD, record=number)
    return value


def _text(value: Any, number: int) -> str:
    if not isinstance(value, str):
        raise SegmentError(SEGMENT_RECORD, record=number)
    return value


def _hex(value: Any, number: int) -> bytes:
    if not isinstance(value, str) or value != value.lower():
        raise SegmentError(SEGMENT_RECORD, record=number)
    try:
        return bytes.fromhex(value)
    except ValueError as error:
        raise SegmentError(SEGMENT_RECORD, record=number) from error


def _walk(segment: Segment, watch: Watch) -> Iterator[Record]:
    footer = segment.footer
    link = hashlib.sha256(segment.header.line()).digest()
    leaves: list[bytes] = []
    total, first, last = 0, 0, 0
    for block in footer.blocks[1:]:
        watch.step("reading a segment", block.first, footer.count, "records")
        for record, head in _records_of(_block(segment.stream, block), block):
            if head["prev"] != link.hex():
                raise SegmentError(SEGMENT_CHAIN, record=record.n)
            link = bytes.fromhex(head["link"])
            leaves.append(merkle.leaf(link))
            total += len(record.raw)
            first, last = (record.seq if record.n == 0 else first), record.seq
            yield record
    if (first, last, total, link.hex()) != (footer.first_seq, footer.last_seq, footer.raw_total, footer.head):
        raise SegmentError(SEGMENT_COUNT)
    if merkle.root(leaves).hex() != footer.root:
        raise SegmentError(SEGMENT_ROOT)
