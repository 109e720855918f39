"""Which rows does a transcript file hold, and where does each stand?

Rows stream in file order with line, byte offset and length. Damage is a notice with its line, never the failure of
the file: NUL runs, cut lines, two records on one line, a raw line break in a string, byte order marks, CR LF,
UTF-16, bytes that are not UTF-8, one JSON array instead of lines, deep nesting, long lines. Reading proves nothing
about who wrote a row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.errors import CannotLookError
from engine.lines.reader import Line, read_lines
from engine.lines.source import MemorySource, Source
from engine.lines.strict import nesting_depth
from engine.transcripts.decode import LOOSE, Decoded, decode_json, decode_text, lossy_codes
from engine.transcripts.item import Flag, Place
from engine.transcripts.joining import Joiner
from engine.transcripts.notices import (
    BYTE_ORDER_MARK,
    EMPTY_FILE,
    LINE_TOO_DEEP,
    LINE_TOO_LONG,
    LINE_UNREADABLE,
    NUL_RUN,
    SINGLE_ARRAY,
    TRANSCODED,
    Notices,
)
from engine.transcripts.options import ReadOptions, Watch, admit
from engine.transcripts.rounds import SourceFile
from engine.transcripts.streams import HashingSource, head_of, transcoded, utf16_codec

UTF8_MARK = b"\xef\xbb\xbf"
CODE_OF_BLANK = b" \t\r\n\x00"


@dataclass(frozen=True, slots=True)
class Row:
    """One value of a file with its place, and what had to be done to read it."""

    value: Any
    place: Place
    flags: frozenset[Flag] = frozenset()


class Rows:
    """The rows of one source; iterate once, then ask for `source_file()`."""

    def __init__(self, source: Source, options: ReadOptions, notices: Notices) -> None:
        self._given = source
        self._options = options
        self._notices = notices
        size = admit(source, options.limits.file_bytes)
        self._watch = Watch(options, "read transcript", size)
        self._hashing = HashingSource(source)
        self._joiner = Joiner(options.limits.nesting, notices)

    def __iter__(self) -> Iterator[Row]:
        """Yield every readable row in file order; notes what could not be read."""
        self._watch.at(0)
        head = head_of(self._given)
        codec = utf16_codec(head)
        source: Source = self._hashing
        if codec:
            admit(self._given, self._options.limits.document_bytes, "document_bytes")
            source = transcoded(self._hashing, codec)
            self._notices.add(TRANSCODED, found=codec)
            head = head_of(source)
        empty = True
        body = head.removeprefix(UTF8_MARK).lstrip(CODE_OF_BLANK)
        for row in self._array(source) if body.startswith(b"[") else self._lines(source):
            empty = False
            yield row
        if empty:
            self._notices.add(EMPTY_FILE)

    def source_file(self) -> SourceFile:
        """Describe exactly the bytes that were read."""
        return self._hashing.source_file()

    def _lines(self, source: Source) -> Iterator[Row]:
        for line in read_lines(source, universal=False, max_bytes=self._options.limits.line_bytes):
            self._watch.at(line.offset)
            if line.data is None:
                self._joiner.flush()
                self._notices.add(LINE_TOO_LONG, line.number, claimed=f"{line.length} bytes", found=self._digest(line))
                continue
            yield from self._line(line, self._cleaned(line, line.data))
        self._joiner.flush()

    def _cleaned(self, line: Line, data: bytes) -> bytes:
        if line.number == 1 and data.startswith(UTF8_MARK):
            self._notices.add(BYTE_ORDER_MARK, 1)
            data = data[len(UTF8_MARK) :]
        if b"\x00" in data:
            self._notices.add(NUL_RUN, line.number, found=f"{data.count(0)} NUL bytes")
        return data

    def _line(self, line: Line, data: bytes) -> Iterator[Row]:
        if not data.strip(CODE_OF_BLANK):
            return
        text, lossy = decode_text(data)
        decoded = decode_json(text, self._options.limits.nesting)
        if not decoded.pieces:
            yield from self._unread(line, text, decoded, lossy=lossy)
            return
        self._joiner.flush()
        for code in (*lossy_codes(lossy=lossy), *decoded.codes):
            self._notices.add(code, line.number)
        whole = len(decoded.pieces) == 1 and not decoded.repaired
        for piece in decoded.pieces:
            place = self._place(line) if whole or lossy else self._part(line, text, piece.start, piece.end)
            yield Row(piece.value, place, _flags(lossy=lossy, repaired=decoded.repaired))

    def _unread(self, line: Line, text: str, decoded: Decoded, *, lossy: bool) -> Iterator[Row]:
        if LINE_TOO_DEEP in decoded.codes:
            self._joiner.flush()
            self._notices.add(LINE_TOO_DEEP, line.number)
            return
        joined = self._joiner.add(line, text, lossy=lossy)
        if joined is not None:
            first, last = joined.first, joined.last
            place = Place(self._given.name, first.number, first.offset, last.offset + last.length - first.offset)
            yield Row(joined.value, place, _flags(lossy=joined.lossy, repaired=True))

    def _array(self, source: Source) -> Iterator[Row]:
        """Read the entries of one JSON array as rows, up to the first that cannot be read."""
        admit(self._given, self._options.limits.document_bytes, "document_bytes")
        self._notices.add(SINGLE_ARRAY, 1)
        with source.open() as stream:
            text, lossy = decode_text(stream.read())
        for code in lossy_codes(lossy=lossy):
            self._notices.add(code)
        yield from _Entries(text, self._given.name, self._options, self._notices, self._watch).run(lossy=lossy)

    def _place(self, line: Line) -> Place:
        return Place(self._given.name, line.number, line.offset, line.length)

    def _part(self, line: Line, text: str, start: int, end: int) -> Place:
        before = len(text[:start].encode("utf-8", "surrogatepass"))
        inside = len(text[start:end].encode("utf-8", "surrogatepass"))
        return Place(self._given.name, line.number, line.offset + before, inside)

    def _digest(self, line: Line) -> str:
        digest = hashlib.sha256()
        with self._given.open() as stream:
            stream.seek(line.offset)
            left = line.length
            while left > 0 and (block := stream.read(min(left, 1 << 20))):
                self._watch.at(line.offset + line.length - left)
                digest.update(block)
                left -= len(block)
        return "sha256:raw-bytes:v1:" + digest.hexdigest()


class _Entries:
    """Walks the entries of one JSON array, keeping line and byte offset."""

    def __init__(self, text: str, name: str, options: ReadOptions, notices: Notices, watch: Watch) -> None:
        self._text = text
        self._name = name
        self._limit = options.limits.nesting
        self._notices = notices
        self._watch = watch
        self._deep = nesting_depth(text, self._limit) > self._limit
        self._at = self._bytes = 0
        self._line = 1

    def run(self, *, lossy: bool) -> Iterator[Row]:
        flags = _flags(lossy=lossy, repaired=False)
        position = self._skip(self._text.index("[") + 1)
        while position < len(self._text) and self._text[position] != "]":
            place_start = self._advance(position)
            self._watch.at(place_start)
            try:
                value, stop = LOOSE.raw_decode(self._text, position)
            except (ValueError, RecursionError):
                self._notices.add(LINE_UNREADABLE, self._line, found=self._text[position : position + 200])
                return
            line, length = self._line, self._advance(stop) - place_start
            if self._deep and nesting_depth(self._text[position:stop], self._limit) > self._limit:
                self._notices.add(LINE_TOO_DEEP, line)
            else:
                yield Row(value, Place(self._name, line, place_start, length), flags)
            position = self._skip(stop)

    def _skip(self, position: int) -> int:
        while position < len(self._text) and self._text[position] in ", \t\r\n\x00":
            position += 1
        return position

    def _advance(self, position: int) -> int:
        passed = self._text[self._at : position]
        self._bytes += len(passed.encode("utf-8", "surrogatepass"))
        self._line += passed.count("\n")
        self._at = position
        return self._bytes


def read_document(source: Source, options: ReadOptions, notices: Notices) -> tuple[Any, SourceFile]:
    """Read a file that is one JSON document; raises `CannotLookError` when it is none, `LimitError` when too large."""
    admit(source, options.limits.document_bytes, "document_bytes")
    Watch(options, "read transcript", 0).at(0)
    hashing = HashingSource(source)
    codec = utf16_codec(head_of(source))
    with (transcoded(hashing, codec) if codec else hashing).open() as stream:
        data = stream.read()
    if codec:
        notices.add(TRANSCODED, found=codec)
    if data.startswith(UTF8_MARK):
        notices.add(BYTE_ORDER_MARK, 1)
        data = data[len(UTF8_MARK) :]
    text, lossy = decode_text(data)
    decoded = decode_json(text, options.limits.nesting)
    for code in (*lossy_codes(lossy=lossy), *decoded.codes):
        notices.add(code)
    if len(decoded.pieces) != 1:
        raise CannotLookError(
            "document_unreadable",
            "expected one JSON document, found text that is none",
            where=source.name,
            hint="the file may be cut off or still being written",
        )
    return decoded.pieces[0].value, hashing.source_file()


def rows_of_bytes(data: bytes, name: str = "pasted") -> list[Row]:
    """Read the rows of bytes in memory with default limits, notices dropped; for looking at a head."""
    return list(Rows(MemorySource(name, data), ReadOptions(), Notices()))


def _flags(*, lossy: bool, repaired: bool) -> frozenset[Flag]:
    flags = {Flag.LOSSY_DECODE} if lossy else set()
    return frozenset(flags | {Flag.REPAIRED}) if repaired else frozenset(flags)
