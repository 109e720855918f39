"""Which numbered lines does a source hold?

Splits bytes, never text: CR and LF cannot be part of a longer UTF-8 sequence, so the split agrees with a text file
opened with universal newlines, and U+2028, U+0085, VT or FF inside a string never split a row. Memory is one block
plus the longest line within the limit; a longer line is passed over in bounded memory and reported with its number.
The split does not prove that a line is complete: see `Line.terminated`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from engine.findings import Code, Severity
from engine.lines.source import Source

BLOCK_BYTES = 256 * 1024
"""Larger blocks lose to page faults (measured on 293-byte and 9.5 KB rows)."""

LINE_TOO_LONG = Code(
    "line_too_long",
    Severity.LIMIT,
    "this line is longer than the limit and was not looked at",
    "raise the line limit to look at it",
)

_UNIVERSAL = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Line:
    r"""One line: 1-based number, byte offset, length without the line end; `data` is None when it was passed over.

    `ending` is the line end as found (`\n`, `\r\n`, `\r`, or nothing at the end of the file).
    """

    number: int
    offset: int
    length: int
    data: bytes | None
    problem: Code | None
    ending: bytes

    @property
    def terminated(self) -> bool:
        """Tell whether a line end follows; a last line without one may still be being written."""
        return bool(self.ending)


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines: data (None where a line passed the limit) and line ends (None when all are LF)."""

    lines: list[bytes | None]
    endings: list[bytes] | None
    lengths: dict[int, int]
    """Length of each passed-over line, by position in `lines`."""
    size: int
    """Bytes read for this block (progress; a long line's bytes count where it ends)."""

    def parts(self, count: int) -> Iterator[Block]:
        """Yield the block in pieces of at most so many lines; the size stands in the last piece."""
        if len(self.lines) <= count:
            yield self
            return
        for start in range(0, len(self.lines), count):
            end = start + count
            endings = None if self.endings is None else self.endings[start:end]
            lengths = {at - start: length for at, length in self.lengths.items() if start <= at < end}
            yield Block(self.lines[start:end], endings, lengths, self.size if end >= len(self.lines) else 0)


def read_lines(source: Source, *, universal: bool, max_bytes: int) -> Iterator[Line]:
    """Yield every line of a source in order, blank ones included.

    `universal` splits at LF, CRLF and a lone CR (the ledger's rule); otherwise only at LF (transcripts and content).
    Raises `CannotLookError` when the source cannot be opened.
    """
    number, offset = 0, 0
    with source.open() as stream:
        for block in read_blocks(stream, universal=universal, max_bytes=max_bytes):
            endings = block.endings or [b"\n"] * len(block.lines)
            for position, (data, ending) in enumerate(zip(block.lines, endings, strict=True)):
                number += 1
                length = block.lengths[position] if data is None else len(data)
                problem = LINE_TOO_LONG if data is None else None
                yield Line(number, offset, length, data, problem, ending)
                offset += length + len(ending)


def read_blocks(
    stream: BinaryIO, *, universal: bool, max_bytes: int, size: int | None = None, block_bytes: int | None = None
) -> Iterator[Block]:
    """Yield the lines of a stream in blocks; `size` stops after so many bytes (a growing file is read as it was).

    A block holds only whole lines (none inside a long line); the last one may lack its line end (ending `b""`).
    """
    splitter = _Splitter(universal=universal, max_bytes=max_bytes)
    left = size
    want = block_bytes or BLOCK_BYTES
    while data := stream.read(want if left is None else min(want, left)):
        if left is not None:
            left -= len(data)
        block = splitter.cut(data)
        yield block
    if (last := splitter.finish()) is not None:
        yield last


class _Splitter:
    """Cuts blocks into lines, carrying the unfinished end of one block into the next."""

    def __init__(self, *, universal: bool, max_bytes: int) -> None:
        self.universal = universal
        self.max_bytes = max_bytes
        self.carry: list[bytes] = []
        self.carried = 0
        self.skipped = 0  # bytes of the present line already given up
        self.held_cr = False

    def cut(self, data: bytes) -> Block:
        # A CR at the end of a block may be the first half of CRLF: it waits for the next block.
        if self.held_cr:
            data = b"\r" + data
        self.held_cr = self.universal and data.endswith(b"\r")
        if self.held_cr:
            data = data[:-1]
        if self.universal and b"\r" in data:
            pieces = _UNIVERSAL.split(data)
            endings: list[bytes] | None = _UNIVERSAL.findall(data)
        else:
            pieces, endings = data.split(b"\n"), None
        if len(pieces) == 1:
            self._keep(pieces[0])
            return Block([], endings, {}, len(data))
        return self._finish_first(pieces, endings, len(data))

    def _finish_first(self, pieces: list[bytes], endings: list[bytes] | None, size: int) -> Block:
        self._keep(pieces[0])
        length = self.skipped + self.carried
        lines: list[bytes | None] = list(pieces[:-1])
        lines[0] = b"".join(self.carry) if length <= self.max_bytes else None
        lengths = {0: length} if lines[0] is None else {}
        self._forget()
        self._keep(pieces[-1])
        for position, piece in enumerate(pieces[:-1]):
            if position and len(piece) > self.max_bytes:
                lines[position], lengths[position] = None, len(piece)
        return Block(lines, endings, lengths, size)

    def finish(self) -> Block | None:
        length = self.skipped + self.carried
        if not length and not self.held_cr:
            return None
        data = b"".join(self.carry) if length <= self.max_bytes else None
        self._forget()  # the pieces must not be held beside the line
        return Block([data], [b"\r" if self.held_cr else b""], {} if data is not None else {0: length}, 0)

    def _keep(self, piece: bytes) -> None:
        if self.skipped + self.carried + len(piece) > self.max_bytes:
            self.skipped += self.carried + len(piece)
            self.carry, self.carried = [], 0
        elif piece:
            self.carry.append(piece)
            self.carried += len(piece)

    def _forget(self) -> None:
        self.carry, self.carried, self.skipped = [], 0, 0
