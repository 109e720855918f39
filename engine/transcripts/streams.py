"""Which bytes were read, and in which encoding do they stand?

A source wrapper that hashes exactly what a reader took in (the file may grow meanwhile), and the door for UTF-16.
The encoding is guessed from a byte order mark or from NUL bytes around the first brace; a guess is noted.
"""

from __future__ import annotations

import codecs
import hashlib
import io
from typing import BinaryIO

from engine.lines.source import MemorySource, Source
from engine.transcripts.rounds import SourceFile

HEAD_BYTES = 64 * 1024
BLOCK_BYTES = 1024 * 1024


class HashingSource:
    """A source whose bytes are hashed as they are read from the start to the end."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._digest = hashlib.sha256()
        self._size = 0

    @property
    def name(self) -> str:
        """Return the name of the wrapped source."""
        return self._source.name

    def size(self) -> int:
        """Return the present size of the wrapped source."""
        return self._source.size()

    def open(self) -> BinaryIO:
        """Open the wrapped source and start the digest anew."""
        self._digest = hashlib.sha256()
        self._size = 0
        return io.BufferedReader(_HashingStream(self._source.open(), self), BLOCK_BYTES)

    def take(self, data: bytes | memoryview) -> None:
        """Add bytes that were read."""
        self._digest.update(data)
        self._size += len(data)

    def source_file(self) -> SourceFile:
        """Describe the bytes read so far."""
        return SourceFile(self.name, self._digest.hexdigest(), self._size)


class _HashingStream(io.RawIOBase):
    """Raw stream that tells its source which bytes passed."""

    def __init__(self, stream: BinaryIO, source: HashingSource) -> None:
        self._stream = stream
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._source.take(data)
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def head_of(source: Source) -> bytes:
    """Return the first 64 KiB of a source."""
    with source.open() as stream:
        return stream.read(HEAD_BYTES)


def utf16_codec(head: bytes) -> str | None:
    """Name the UTF-16 codec a file starts in, or None for anything that reads as UTF-8."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if head[:1] in (b"{", b"[") and head[1:2] == b"\x00" and head[2:4] != b"\x00\x00":
        return "utf-16-le"
    if head[:1] == b"\x00" and head[1:2] in (b"{", b"["):
        return "utf-16-be"
    return None


def transcoded(source: Source, codec: str) -> MemorySource:
    """Return the same text as UTF-8 in memory; undecodable units become U+FFFD."""
    with source.open() as stream:
        text = stream.read().decode(codec, "replace")
    return MemorySource(source.name, text.encode("utf-8", "replace"))


def readable_head(source: Source) -> bytes:
    """Return the head as UTF-8 without a byte order mark, for sniffing."""
    head = head_of(source)
    codec = utf16_codec(head)
    if codec:
        return head[: len(head) // 4 * 4].decode(codec, "replace").encode("utf-8", "replace")
    return head.removeprefix(codecs.BOM_UTF8)
