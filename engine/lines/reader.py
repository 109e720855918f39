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


def read_lines(source: Source, *, universal: bool, max_bytes: int) -> Iterator[Line]:
    """Yield every line of a source in order, blank ones included.

    `universal` splits at LF, CRLF and a lone CR (the ledger's rule); otherwise only at LF (transcripts and content).
    Raises `CannotLookError` when the source cannot be opened.
    """
    with source.open() as stream:
        yield from _Splitter(universal=universal, max_bytes=max_bytes).run(stream)


class _Splitter:
    """Cuts blocks into lines, carrying the unfinished end of one block into the next."""

    def __init__(self, *, universal: bool, max_bytes: int) -> None:
        self.universal = universal
        self.max_bytes = max_bytes
        self.number = 0
        self.offset = 0  # of the line now being collected
        self.carry = b""
        self.skipped = 0  # bytes of the present line already given up

    def run(self, stream: object) -> Iterator[Line]:
        read = stream.read  # type: ignore[attr-defined]
        while block := read(BLOCK_BYTES):
            data = self.carry + block
            # A CR at the end of a block may be the first half of CRLF: it waits for the next block.
            hold = self.universal and data.endswith(b"\r")
            body = data[:-1] if hold else data
            yield from self._cut(body)
            if hold:
                self.carry += b"\r"
            self._give_up_if_long()
        if self.universal and self.carry.endswith(b"\r"):
            self.carry = self.carry[:-1]
            yield self._line(self.carry, b"\r")
            self.carry = b""
        elif self.carry or self.skipped:
            yield self._line(self.carry, b"")

    def _cut(self, body: bytes) -> Iterator[Line]:
        if self.universal and b"\r" in body:
            start = 0
            for match in _UNIVERSAL.finditer(body):
                yield self._line(body[start : match.start()], match.group())
                start = match.end()
            self.carry = body[start:]
            return
        *whole, self.carry = body.split(b"\n")
        for data in whole:
            yield self._line(data, b"\n")

    def _give_up_if_long(self) -> None:
        excess = len(self.carry) - 1  # a held CR stays, its partner may come
        if self.skipped + len(self.carry) > self.max_bytes + 1:
            self.skipped += excess
            self.carry = self.carry[-1:]

    def _line(self, data: bytes, ending: bytes) -> Line:
        self.number += 1
        length = self.skipped + len(data)
        too_long = length > self.max_bytes
        line = Line(
            self.number, self.offset, length, None if too_long else data, LINE_TOO_LONG if too_long else None, ending
        )
        self.offset += length + len(ending)
        self.skipped = 0
        return line
