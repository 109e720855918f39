"""How do blocks of bytes become a file that a stock tool can read, and back, within limits?

Zstandard frames, one a block, then one skippable frame that stock tools pass over: our footer. Reading is capped by the
sizes the footer declares and by a hard limit, so a small file cannot unpack into a large memory. A frame that reads
well proves nothing about who wrote it.
"""

from __future__ import annotations

import struct

import zstandard

from engine.findings import Code, Severity

LEVEL = 9
BLOCK_BYTES = 1024 * 1024
"""Raw bytes after which a block is closed; a single longer record has a block of its own."""
MAX_BLOCK_BYTES = 32 * 1024 * 1024
MAX_FOOTER_BYTES = 64 * 1024 * 1024
SKIPPABLE_MAGIC = 0x184D2A5C
_HEAD = struct.Struct("<II")
_TAIL = struct.Struct("<I8s")
_TAIL_MAGIC = b"HUSKFOOT"

FRAME_UNREADABLE = Code("FRAME_UNREADABLE", Severity.BREAK, "a block of the segment does not unpack to its stated size")
FOOTER_UNREADABLE = Code("FOOTER_UNREADABLE", Severity.BREAK, "the segment does not end with a whole footer")


def pack(raw: bytes) -> bytes:
    """Return one frame with its size and a checksum inside; the same bytes give the same frame in one build."""
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=True)
    return packer.compress(raw)


def unpack(frame: bytes, size: int) -> bytes | Code:
    """Return the bytes of exactly one frame, or why not; never more than `size` bytes are made."""
    if size > MAX_BLOCK_BYTES:
        return FRAME_UNREADABLE
    try:
        if zstandard.frame_content_size(frame) != size:
            return FRAME_UNREADABLE
        worker = zstandard.ZstdDecompressor(max_window_size=MAX_BLOCK_BYTES).decompressobj()
        raw = worker.decompress(frame)
    except (zstandard.ZstdError, MemoryError):
        return FRAME_UNREADABLE
    if len(raw) != size or not worker.eof or worker.unused_data:
        return FRAME_UNREADABLE
    return raw


def footer_frame(footer: bytes) -> bytes:
    """Wrap a footer as the skippable frame at the end of the file; its last bytes tell where it begins."""
    inner = footer + _TAIL.pack(len(footer), _TAIL_MAGIC)
    return _HEAD.pack(SKIPPABLE_MAGIC, len(inner)) + inner


def footer_at_end(tail: bytes, size: int) -> tuple[bytes, int] | Code:
    """Read the footer from the last bytes of a file of `size` bytes: the footer, and the offset where blocks end.

    `tail` must reach back over the whole footer; `tail_bytes` says how far.
    """
    length = tail_bytes(tail)
    if length is None or length > len(tail) or length > size:
        return FOOTER_UNREADABLE
    frame = tail[-length:]
    magic, inner = _HEAD.unpack_from(frame)
    if magic != SKIPPABLE_MAGIC or inner != length - _HEAD.size:
        return FOOTER_UNREADABLE
    return frame[_HEAD.size : -_TAIL.size], size - length


def tail_bytes(tail: bytes) -> int | None:
    """Return the length of the footer's frame as its last bytes state it; None when they are not ours."""
    if len(tail) < _TAIL.size:
        return None
    length, magic = _TAIL.unpack(tail[-_TAIL.size :])
    if magic != _TAIL_MAGIC or length > MAX_FOOTER_BYTES:
        return None
    return int(length) + _TAIL.size + _HEAD.size
