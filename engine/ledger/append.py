"""How does a row get onto a ledger?

Under the lock that the format's own writer takes too. Steps, numbered at the code:

1. Refuse what is no regular file; open for appending.
2. Cut back a torn row of our own (`engine.ledger.intent`); a foreign torn end stays and gets a line end.
3. Find the value to continue from; an error while reading refuses, it never starts a new chain.
4. Note place and bytes in the lock's file, then write in one call, sync, and compare where the bytes landed.
5. On any failure cut back to the noted place; if that fails too, say that the outcome is unknown.

`append` returns only when the disk acknowledged the row. It does not prove that the ledger was intact before, and a
program that ignores the lock can still write between two rows (its row is then named by the verifier).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.clock import Clock, utc_now
from engine.errors import CannotLookError, WinnowError
from engine.ledger.intent import Intent, forget_intent, note_intent, read_intent, torn_bytes
from engine.ledger.record import DraftRow, draft_row
from engine.ledger.report import Limits
from engine.ledger.tail import read_tail
from engine.storage.failpoints import reach
from engine.storage.files import (
    DEFAULT_LOCK_SECONDS,
    LOCK_SUFFIX,
    FileLock,
    close_synced,
    sync,
    sync_folder,
    write_some,
)
from engine.storage.outcome import Outcome, not_stored, outcome_unknown

_MODE = 0o666
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
    _refuse_special(path)
    with FileLock(path.with_name(path.name + LOCK_SUFFIX), lock_seconds) as lock:
        ledger = _open(path)
        try:
            return _append_locked(path, ledger, lock.descriptor, draft, limits)
        finally:
            close_synced(ledger, "ledger.close")


def _refuse_special(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as exc:
        raise _cannot_read(path, str(exc)) from exc
    if not stat.S_ISREG(mode):  # 1
        raise _no_file(path)


def _open(path: Path) -> int:
    try:
        reach("ledger.open")
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, _MODE)
    except OSError as exc:
        raise _cannot_read(path, exc.strerror or str(exc)) from exc
    try:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and not status.st_size:
            # Of an empty file even the name may not be durable yet: it must be before a row is acknowledged under it.
            sync_folder(path.parent, "ledger.sync_folder")
    except OSError as exc:
        close_synced(descriptor, "ledger.close")
        raise not_stored(str(path), exc) from exc
    if not stat.S_ISREG(status.st_mode):
        close_synced(descriptor, "ledger.close")
        raise _no_file(path)
    return descriptor


def _append_locked(path: Path, ledger: int, lock: int, draft: DraftRow, limits: Limits) -> Appended:
    try:
        cut = _cut_own_torn_row(ledger, lock)  # 2
        tail = read_tail(ledger, os.fstat(ledger).st_size, limits)  # 3
    except OSError as exc:
        raise _cannot_read(path, exc.strerror or str(exc)) from exc
    chain, line = draft.chained(tail.previous)
    payload = line if tail.ends_with_newline else b"\n" + line
    intent = Intent(tail.size, payload)
    try:
        note_intent(lock, intent)  # 4
    except OSError as exc:
        raise not_stored(str(path), exc) from exc
    _write(path, ledger, intent)
    _forget(lock)
    row = {**draft.members, "chain": chain}
    return Appended(row, chain, tail.size + len(payload) - len(line), len(line), Outcome.STORED, cut)


def _cut_own_torn_row(ledger: int, lock: int) -> int:
    intent = read_intent(lock)
    torn = 0 if intent is None else torn_bytes(ledger, os.fstat(ledger).st_size, intent)
    if intent is not None and torn:
        reach("ledger.cut_torn")
        os.ftruncate(ledger, intent.offset)
        sync(ledger, "ledger.sync_cut")
    return torn


class _ForeignWriteError(OSError):
    """Another program wrote to the ledger without the lock, between our look at its end and our write."""


@dataclass(slots=True)
class _Placed:
    """Where our bytes landed: start of the first and end of the last piece, and how many there are."""

    start: int
    end: int
    count: int = 0

    def add(self, end: int, count: int) -> None:
        self.start = self.start if self.count else end - count
        self.end = end
        self.count += count


def _write(path: Path, ledger: int, intent: Intent) -> None:
    placed = _Placed(intent.offset, intent.offset)
    try:
        left = memoryview(intent.payload)
        while left:
            taken = write_some(ledger, left, "ledger.write")
            left = left[taken:]
            # With O_APPEND the position after a write is the end of what it wrote.
            placed.add(os.lseek(ledger, 0, os.SEEK_CUR), taken)
            if placed.end != intent.offset + placed.count:
                raise _ForeignWriteError("another program wrote to the ledger at the same moment")
        sync(ledger, "ledger.sync")
    except OSError as exc:
        raise _take_back(path, ledger, placed, exc) from exc


def _take_back(path: Path, ledger: int, placed: _Placed, cause: OSError) -> WinnowError:
    """Cut our bytes off again; answers with the error that says whether that worked."""
    try:
        if os.fstat(ledger).st_size != placed.end or placed.end - placed.start != placed.count:
            return outcome_unknown(str(path), cause)  # bytes of others stand behind ours or between them
        if placed.count:
            reach("ledger.take_back")
            os.ftruncate(ledger, placed.start)
            sync(ledger, "ledger.sync_take_back")
    except OSError:
        return outcome_unknown(str(path), cause)
    return not_stored(str(path), cause)


def _forget(lock: int) -> None:
    try:
        forget_intent(lock)
    except OSError:
        # The row is synced. A note that stays is only ever compared with a torn end, and this row is whole.
        return


def _cannot_read(path: Path, reason: str) -> CannotLookError:
    return CannotLookError(
        "ledger_not_opened",
        f"cannot open the ledger or read its end: {reason}; nothing was written",
        where=str(path),
        hint="check that the file may be read and written, then try again",
    )


def _no_file(path: Path) -> CannotLookError:
    return CannotLookError("not_a_file", "expected a regular file; nothing was written", where=str(path))
