"""Lines are numbered, placed and never skipped, whatever the block size."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lines import reader
from engine.lines.reader import LINE_TOO_LONG, read_lines
from engine.lines.source import MemorySource

HOSTILE = st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\xff", "\u2028".encode(), b"\x85", b"\x0b"]), max_size=40)


def _lines(data: bytes, *, universal: bool = True, max_bytes: int = 100) -> list[tuple[int, bytes | None, bytes]]:
    found = read_lines(MemorySource("m", data), universal=universal, max_bytes=max_bytes)
    return [(line.offset, line.data, line.ending) for line in found]


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64])
@given(parts=HOSTILE)
def test_universal_split_agrees_with_text_mode(block: int, parts: list[bytes]) -> None:
    """The split is the one of a text file with universal newlines, at any block size."""
    data = b"".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "BLOCK_BYTES", block)
        found = [d.decode("utf-8", "replace") for _, d, _ in _lines(data) if d is not None]
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace")
    assert found == [line.removesuffix("\n") for line in text]


@pytest.mark.parametrize("block", [1, 5, 64])
@given(parts=HOSTILE)
def test_offsets_give_back_every_byte(block: int, parts: list[bytes]) -> None:
    """Data plus line ends, in order, are the source's bytes."""
    data = b"".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "BLOCK_BYTES", block)
        found = _lines(data, universal=False)
    assert b"".join((d or b"") + end for _, d, end in found) == data
    assert [o for o, _, _ in found] == [data.find(d or b"", o) for o, d, _ in found]


@pytest.mark.parametrize("block", [1, 4, 64])
def test_a_line_past_the_limit_is_named_and_the_next_one_read(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long line is passed over with its number, offset and length; reading goes on."""
    monkeypatch.setattr(reader, "BLOCK_BYTES", block)
    lines = list(read_lines(MemorySource("m", b"ok\n" + b"x" * 50 + b"\r\nok"), universal=True, max_bytes=10))
    assert [(x.number, x.offset, x.length, x.problem) for x in lines] == [
        (1, 0, 2, None),
        (2, 3, 50, LINE_TOO_LONG),
        (3, 55, 2, None),
    ]
    assert not lines[2].terminated
