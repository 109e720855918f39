"""How does a row get onto a ledger?

Under the lock that the format's own writer takes too, linked to the last row that a walk over the ledger would see
(`engine.ledger.tail`), written and synced by `engine.storage.appending`. An error while the end is read refuses; it
never starts a new chain. `append` returns only when the disk acknowledged the row. It does not prove that the ledger
was intact before, and a program that ignores the lock can still write between two rows (the verifier names its row).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.clock import Clock, utc_now
from engine.ledger.record import draft_row
from engine.ledger.report import Limits
from engine.ledger.tail import read_tail
from engine.storage.appending import append_bytes
from engine.storage.files import DEFAULT_LOCK_SECONDS
from engine.storage.outcome import Outcome

DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Appended:
    """A stored row: its members as written, byte offset and length (with line end), bytes of a torn row cut before it.

    `outcome` is always `stored`: the other outcomes are raised.
    """

    row: dict[str, Any]
    chain: str
    offset: int
    length: int
    outcome: Outcome
    cut_back: int = 0


def append(
    path: Path,
    record: Mapping[str, Any],
    *,
    clock: Clock = utc_now,
    lock_seconds: float = DEFAULT_LOCK_SECONDS,
    authority: Any = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Appended:
    """Append one record as a chained row, in the bytes of the format's own writer, and sync it.

    Raises `RefusedError` for a record that no reader could read back (the code says why), `BusyError` when the lock
    is held longer than `lock_seconds`, `CannotLookError` when the end of the ledger cannot be read (in all three
    nothing was written), `NotStoredError` when the write failed and was taken back, `OutcomeUnknownError` when it
    could not be taken back.
    """
    draft = draft_row(record, clock, authority, limits)
    chain, line = "", b""

    def compose(ledger: int, size: int) -> bytes:
        nonlocal chain, line
        tail = read_tail(ledger, size, limits)
        chain, line = draft.chained(tail.previous)
        # Behind a line without its end (a torn row of somebody else) the new row must not be glued to it.
        return line if tail.ends_with_newline else b"\n" + line

    stored = append_bytes(path, compose, lock_seconds)
    row = {**draft.members, "chain": chain}
    offset = stored.offset + stored.length - len(line)
    return Appended(row, chain, offset, len(line), Outcome.STORED, stored.cut_back)
