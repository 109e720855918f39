"""Segments: sealed, read back, readable by a stock tool, and no changed byte passes."""

from __future__ import annotations

import io
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.digests import canonical_json
from engine.husk import frames
from engine.husk.segment import Header, Record, Sealed, SegmentType, seal
from engine.husk.segment_read import SegmentError, open_segment, read_segment

HEADER = Header("seg_1", SegmentType.ARCHIVE, "store-1", "plan-1", "1:sha256:0", "")


def unsigned(body: dict[str, Any]) -> dict[str, Any]:
    """Wrap a body without a signature."""
    return {"body": body}


def records(count: int = 12, size: int = 300) -> list[Record]:
    """Return records of two units with bytes that frame badly when framed by lines."""
    rng = random.Random(5)
    return [
        Record(n, 100 + n, f"e-{n}", rng.randbytes(16), b"\n{}\xff" + rng.randbytes(size), f"run-{n // 7}")
        for n in range(count)
    ]


def sealed(given_records: list[Record] | None = None) -> Sealed:
    """Seal records."""
    return seal(HEADER, given_records or records(), unsigned)


def fault(data: bytes) -> str | None:
    """Return the code of the first fault; None when the bytes are what was sealed."""
    try:
        list(read_segment(io.BytesIO(data)).records())
    except SegmentError as error:
        return error.finding.code.name
    return None


def test_what_was_sealed_is_read_back() -> None:
    """Every record comes back with its bytes, whole and one by one."""
    made = sealed()
    segment = read_segment(io.BytesIO(made.data))
    assert segment.header == HEADER
    assert list(segment.records()) == records()
    assert [segment.record(n) for n in range(12)] == records()
    assert segment.footer == made.footer


def test_sealing_again_gives_the_same_bytes() -> None:
    """A resumed job makes the same file."""
    assert sealed().data == sealed().data


def test_a_stock_tool_reads_it(tmp_path: Path) -> None:
    """`zstd -dc` passes over the footer; the lines and lengths lead to every payload."""
    path = tmp_path / "seg.cas.zst"
    path.write_bytes(sealed().data)
    reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes()), read_across_frames=True)
    plain = reader.read()
    assert plain.startswith(HEADER.line())
    assert all(record.raw in plain for record in records())
    if tool := subprocess.run(["which", "zstd"], capture_output=True, text=True, check=False).stdout.strip():
        assert subprocess.run([tool, "-dc", str(path)], capture_output=True, check=True).stdout == plain


def test_a_block_holds_one_unit() -> None:
    """Units do not share blocks, so that one can be read alone."""
    units = [(block.unit, block.count) for block in sealed().footer.blocks]
    assert units == [("", 0), ("run-0", 7), ("run-1", 5)]


def test_no_changed_bit_passes() -> None:
    """Every bit of every byte of a small segment, flipped: a named fault each time, and never another exception."""
    data = bytearray(sealed(records(3, 20)).data)
    plain = fault(bytes(data))
    assert plain is None
    silent = []
    for at in range(len(data)):
        for bit in range(8):
            data[at] ^= 1 << bit
            if fault(bytes(data)) is None:
                silent.append((at, bit))
            data[at] ^= 1 << bit
    assert silent == []


def test_every_cut_and_every_addition_is_seen() -> None:
    """A file cut at any byte, or with bytes behind or inside it, is refused."""
    data = sealed(records(3, 20)).data
    assert all(fault(data[:cut]) for cut in range(len(data)))
    assert fault(data + b"x")
    assert fault(b"x" + data)
    assert fault(frames.pack(b"more") + data)


def swap(made: list[Record], one: int, other: int) -> list[Record]:
    """Exchange the payloads of two records."""
    made[one], made[other] = made[other], made[one]
    return made


def test_records_that_were_exchanged_dropped_or_doubled_are_named() -> None:
    """Blocks under the footer of another segment are refused, whichever records they hold."""
    good = sealed(records(3, 20))
    footer = canonical_json({"body": good.footer.body()})
    for other in (swap(records(3, 20), 0, 1), records(2, 20), [*records(3, 20), records(4, 20)[3]]):
        made = sealed(other)
        packed = made.data[: made.footer.blocks[-1].offset + made.footer.blocks[-1].size]
        assert fault(packed + frames.footer_frame(footer)) in {"SEGMENT_BLOCK", "SEGMENT_TRAILING", "SEGMENT_COUNT"}


def test_a_bomb_does_not_unpack() -> None:
    """A frame that states a small size and holds a large one, or states a huge one, is refused without unpacking."""
    bomb = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(200 * 1024 * 1024))
    assert len(bomb) < 100_000
    assert frames.unpack(bomb, 100) is frames.FRAME_UNREADABLE
    assert frames.unpack(frames.pack(bytes(1000)), 10) is frames.FRAME_UNREADABLE
    assert frames.unpack(bomb, 200 * 1024 * 1024) is frames.FRAME_UNREADABLE


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    """What cannot be opened is a limit with the reason, not a damaged segment."""
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(SegmentError) as refused, open_segment(path):
            pass
        assert refused.value.finding.code.name == "SEGMENT_UNREADABLE"


@pytest.mark.parametrize("count", [0, 4097])
def test_a_segment_of_no_or_too_many_records_is_not_made(count: int) -> None:
    """The limits of one segment hold while sealing."""
    with pytest.raises(ValueError, match="1 to 4,096"):
        seal(HEADER, records(1, 1) * count, unsigned)


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=400), min_size=1, max_size=8), st.binary(min_size=1, max_size=3), st.randoms())
def test_changed_segments_are_never_read_as_sealed(payloads: list[bytes], noise: bytes, rng: random.Random) -> None:
    """Any payloads come back; noise written over any place is a named fault or changes nothing."""
    made = sealed([Record(n, n + 1, f"é-{n}", bytes(16), raw) for n, raw in enumerate(payloads)])
    assert fault(made.data) is None
    at = rng.randrange(len(made.data) - len(noise) + 1)
    changed = made.data[:at] + noise + made.data[at + len(noise) :]
    assert (fault(changed) is None) == (changed == made.data)
