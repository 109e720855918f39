"""Which bytes does a packed file hold?

Opens gzip before a reader sees the file: the unpacked bytes are counted while they come, and a file that unpacks to
more than the limit is refused by name, whatever size it claims. Items, digests and offsets are those of the unpacked
bytes. A checksum that holds says that the packing is whole, not who packed it.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

from engine.errors import CannotLookError, LimitError
from engine.lines.source import MemorySource, Source

GZIP_MARK = b"\x1f\x8b"
ENDING = ".gz"
BLOCK_BYTES = 1024 * 1024


def _not_watched(done: int) -> None:
    """Look at nothing: for callers without a cancellation."""


def is_packed(head: bytes) -> bool:
    """Tell a gzip file by its first bytes."""
    return head.startswith(GZIP_MARK)


def unpacked_head(head: bytes, size: int) -> bytes:
    """Return at most `size` first bytes inside a gzip file from its own first bytes, b"" when they are damaged."""
    try:
        return zlib.decompressobj(wbits=31).decompress(head, size)  # 31: with the gzip header, largest window
    except zlib.error:
        return b""


def unpacked(source: Source, limit: int, *, at: Callable[[int], None] = _not_watched) -> Source:
    """Return the unpacked bytes of a gzip file, or the source itself when it is none.

    `at` is told how many bytes are unpacked and may raise to stop. Raises `LimitError` past `limit` bytes and
    `CannotLookError` for a file that is cut off or damaged.
    """
    with source.open() as stream:
        if stream.read(len(GZIP_MARK)) != GZIP_MARK:
            return source
    data = bytearray()
    try:
        with source.open() as stream, gzip.GzipFile(fileobj=stream) as unpacking:
            while block := unpacking.read(BLOCK_BYTES):
                data += block
                at(len(data))
                if len(data) > limit:
                    raise _too_large(source, limit)
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        raise CannotLookError(
            "container_damaged",
            f"expected a whole gzip file, found one that breaks after {len(data)} unpacked bytes",
            where=source.name,
            hint="the file may be cut off; unpack it by hand to see what is left",
        ) from exc
    return MemorySource(source.name.removesuffix(ENDING), bytes(data))


def _too_large(source: Source, limit: int) -> LimitError:
    return LimitError(
        "container_too_large",
        f"expected at most {limit} unpacked bytes, found more",
        where=source.name,
        hint="unpack the file and give the unpacked one, or raise the limit document_bytes",
    )
