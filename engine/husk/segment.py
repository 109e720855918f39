"""What was sealed together, in which order, and does the file still hold exactly that?

A segment is a header, records and a footer. Each record is a line of JSON and the raw bytes, framed by length, so any
bytes survive; records link to each other, the header names the segment before, and the footer carries the root over all
links, the index of blocks and a signature. A whole segment shows what was sealed under its key; whether it was ever
accepted stands in the control ledger, and that the events told the truth stands nowhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from engine.digests import canonical_json
from engine.findings import Code, Severity
from engine.husk import frames, merkle
from engine.husk.event import commit_of, link_of

FORMAT = "husk-segment/1"
MAX_RECORD_BYTES = 17 * 1024 * 1024
MAX_RECORDS = 4096

SEGMENT_FORMAT = Code("SEGMENT_FORMAT", Severity.BREAK, "this is not a segment of a version that can be read")
SEGMENT_HEADER = Code("SEGMENT_HEADER", Severity.BREAK, "the header of the segment is not the one its footer names")
SEGMENT_BLOCK = Code("SEGMENT_BLOCK", Severity.BREAK, "a block of the segment has another digest than its footer names")
SEGMENT_RECORD = Code("SEGMENT_RECORD", Severity.BREAK, "a record of the segment is malformed")
SEGMENT_COMMIT = Code("SEGMENT_COMMIT", Severity.BREAK, "the bytes of a record are not the ones it committed to")
SEGMENT_CHAIN = Code("SEGMENT_CHAIN", Severity.BREAK, "a record does not follow from the one before it")
SEGMENT_COUNT = Code(
    "SEGMENT_COUNT", Severity.BREAK, "the segment holds more, fewer or other records than its footer says"
)
SEGMENT_ROOT = Code("SEGMENT_ROOT", Severity.BREAK, "the root over all records is not the one the footer names")
SEGMENT_TRAILING = Code("SEGMENT_TRAILING", Severity.BREAK, "bytes stand in the segment that belong to no block")
SEGMENT_UNREADABLE = Code(
    "SEGMENT_UNREADABLE", Severity.LIMIT, "the segment could not be read", "check the disk and the permissions"
)


class SegmentType(StrEnum):
    """What the records of a segment hold."""

    ARCHIVE = "archive"
    HUSK = "husk"


@dataclass(frozen=True, slots=True)
class Header:
    """What a segment says of itself before its records."""

    segment: str
    type: SegmentType
    lineage: str
    plan: str
    projection: str
    previous: str
    """Root of the segment sealed before this one (hex), or empty for the first."""

    def line(self) -> bytes:
        """Return the header line; its digest begins the chain."""
        value = {"format": FORMAT, **{name: str(getattr(self, name)) for name in self.__slots__}}
        return canonical_json(value) + b"\n"


@dataclass(frozen=True, slots=True)
class Record:
    """One sealed entry: number from 0, sequence number and id of the event, salt and exact bytes; `unit` groups."""

    n: int
    seq: int
    id: str
    salt: bytes
    raw: bytes = field(repr=False)
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """One frame: where it lies, how long, what it unpacks to and the digest of its packed bytes."""

    offset: int
    size: int
    raw: int
    sha256: str
    first: int
    count: int
    unit: str


@dataclass(frozen=True, slots=True)
class Footer:
    """What the whole segment is: counts, ends, root, index of blocks; everything but the signature."""

    segment: str
    count: int
    first_seq: int
    last_seq: int
    header: str
    head: str
    root: str
    raw_total: int
    blocks: tuple[Block, ...]

    def body(self) -> dict[str, Any]:
        """Return what is signed."""
        return {
            "format": FORMAT,
            "segment": self.segment,
            "count": self.count,
            "first_seq": self.first_seq,
            "last_seq": self.last_seq,
            "header": self.header,
            "head": self.head,
            "root": self.root,
            "raw_total": self.raw_total,
            "blocks": [[b.offset, b.size, b.raw, b.sha256, b.first, b.count, b.unit] for b in self.blocks],
        }


Sign = Callable[[dict[str, Any]], dict[str, Any]]
"""Wraps a footer body into a signed envelope; the envelope holds the body under `body`."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A segment as written: the bytes of the file and what its footer says."""

    header: Header
    footer: Footer
    data: bytes = field(repr=False)


def seal(header: Header, records: Sequence[Record], sign: Sign) -> Sealed:
    """Write records as a segment; the same input and key give the same bytes in one build.

    Raises `ValueError` for no records, for more than `MAX_RECORDS`, and for one past `MAX_RECORD_BYTES`.
    """
    if not 0 < len(records) <= MAX_RECORDS:
        raise ValueError("a segment holds 1 to 4,096 records")
    line = header.line()
    link = hashlib.sha256(line).digest()
    first = link
    leaves: list[bytes] = []
    written: list[tuple[Record, bytes]] = []
    for record in records:
        if len(record.raw) > MAX_RECORD_BYTES:
            raise ValueError("a record is longer than a segment takes")
        commit, before = commit_of(record.salt, record.raw), link
        link = link_of(before, record.seq, record.id, commit)
        leaves.append(merkle.leaf(link))
        written.append((record, _head(record, commit, before, link) + record.raw + b"\n"))
    blocks, packed = _blocks(line, written)
    footer = Footer(
        header.segment,
        len(records),
        records[0].seq,
        records[-1].seq,
        first.hex(),
        link.hex(),
        merkle.root(leaves).hex(),
        sum(len(record.raw) for record in records),
        blocks,
    )
    return Sealed(header, footer, packed + frames.footer_frame(canonical_json(sign(footer.body()))))


def _head(record: Record, commit: bytes, before: bytes, link: bytes) -> bytes:
    value = {
        "n": record.n,
        "seq": record.seq,
        "id": record.id,
        "len": len(record.raw),
        "commit": commit.hex(),
        "salt": record.salt.hex(),
        "prev": before.hex(),
        "link": link.hex(),
        "unit": record.unit,
    }
    return canonical_json(value) + b"\n"


def _blocks(line: bytes, written: Sequence[tuple[Record, bytes]]) -> tuple[tuple[Block, ...], bytes]:
    """Pack the header alone, then records; a block never crosses a unit, so that a unit can be read alone."""
    parts = [(line, 0, 0, "")]
    held: list[bytes] = []
    size, first = 0, 0
    for number, (record, data) in enumerate(written):
        crosses = held and record.unit != written[number - 1][0].unit
        if crosses or (held and size + len(data) > frames.BLOCK_BYTES):
            parts.append((b"".join(held), first, len(held), written[number - 1][0].unit))
            held, size, first = [], 0, number
        held.append(data)
        size += len(data)
    parts.append((b"".join(held), first, len(held), written[-1][0].unit))
    blocks: list[Block] = []
    packed: list[bytes] = []
    offset = 0
    for raw, start, count, unit in parts:
        frame = frames.pack(raw)
        blocks.append(Block(offset, len(frame), len(raw), hashlib.sha256(frame).hexdigest(), start, count, unit))
        packed.append(frame)
        offset += len(frame)
    return tuple(blocks), b"".join(packed)
