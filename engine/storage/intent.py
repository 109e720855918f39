"""Which bytes was this engine about to append when it was stopped?

Before bytes are written, their place and value are noted in the lock's own file, and synced. A torn end of a file that
is exactly the beginning of the noted bytes, at the noted place, was never acknowledged and is ours: it may be cut
back. Any other torn end is somebody else's and stays. The note is no evidence about bytes that are whole.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from engine.storage.failpoints import reach
from engine.storage.files import read_range, sync

_MARK = b"winnow-append-1"


@dataclass(frozen=True, slots=True)
class Intent:
    """Bytes about to be appended, and the offset where they begin."""

    offset: int
    payload: bytes


def note_intent(descriptor: int, intent: Intent) -> None:
    """Write an intent into the lock's file and sync it; raises `OSError`."""
    digest = hashlib.sha256(b"%d %s" % (intent.offset, intent.payload)).hexdigest().encode()
    data = b"%s %d %d %s\n%s" % (_MARK, intent.offset, len(intent.payload), digest, intent.payload)
    done = 0
    while done < len(data):
        room = reach("intent.write")
        piece = data[done:] if room is None else data[done : done + room]
        done += os.pwrite(descriptor, piece, done)
    sync(descriptor, "intent.sync")


def forget_intent(descriptor: int) -> None:
    """Empty the lock's file; raises `OSError`. A note that stays is harmless: its bytes are then whole."""
    reach("intent.clear")
    os.ftruncate(descriptor, 0)


def read_intent(descriptor: int) -> Intent | None:
    """Return the noted intent; None when there is none, or when the note itself is torn. Raises `OSError`."""
    size = os.fstat(descriptor).st_size
    if not size:
        return None
    head, _, rest = read_range(descriptor, 0, size).partition(b"\n")
    match head.split(b" "):
        case [mark, offset, length, digest] if mark == _MARK and offset.isdigit() and length.isdigit():
            payload = rest[: int(length)]
            found = hashlib.sha256(b"%s %s" % (offset, payload)).hexdigest().encode()
            return Intent(int(offset), payload) if found == digest and len(payload) == int(length) else None
        case _:
            return None


def torn_bytes(descriptor: int, size: int, intent: Intent) -> int:
    """Count the bytes at the end of a file that are the unfinished beginning of the intent's bytes (0: none)."""
    length = size - intent.offset
    if not 0 < length < len(intent.payload):
        return 0
    return length if read_range(descriptor, intent.offset, length) == intent.payload[:length] else 0
