"""How do bytes get onto the end of a file, so that the answer about them is true?

Under a lock on a sidecar file. Steps, numbered at the code:

1. Refuse what is no regular file; open for appending.
2. Cut back a torn write of our own (`engine.storage.intent`); a foreign torn end stays.
3. Let the caller look at the file and say what to append; an error while reading refuses.
4. Note place and bytes in the lock's file, then write in one call, sync, and compare where the bytes landed.
5. On any failure cut back to the noted place; if that fails too, say that the outcome is unknown.

`append_bytes` returns only when the disk acknowledged the bytes. A program that ignores the lock can still write
between two appends, and nothing here proves that the disk keeps what it acknowledged.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CannotLookError, WinnowError
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
from engine.storage.intent import Intent, forget_intent, note_intent, read_intent, torn_bytes
from engine.storage.outcome import not_stored, outcome_unknown

_MODE = 0o666

Compose = Callable[[int, int], bytes]
"""Takes an open descriptor and the file's size, returns the bytes to append; may raise to refuse."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Bytes on the disk: where they begin, how many, and how many bytes of a torn own write were cut before them."""

    offset: int
    length: int
    cut_back: int


def append_bytes(path: Path, compose: Compose, lock_seconds: float = DEFAULT_LOCK_SECONDS) -> Stored:
    """Append what `compose` says while nobody else may write, and sync it.

    Raises `BusyError` when the lock is held longer than `lock_seconds`, `CannotLookError` when the file cannot be
    opened or read (in both nothing was written, as for what `compose` raises), `NotStoredError` when the write failed
    and was taken back, `OutcomeUnknownError` when it could not be taken back.
    """
    _refuse_special(path)
    with FileLock(path.with_name(path.name + LOCK_SUFFIX), lock_seconds) as lock:
        descriptor = _open(path)
        try:
            return _append_locked(path, descriptor, lock.descriptor, compose)
        finally:
            close_synced(descriptor, "append.close")


def is_own_torn_end(path: Path) -> bool:
    """Say whether the unfinished end of a file is a write of ours, which the next append cuts back."""
    try:
        lock = os.open(path.with_name(path.name + LOCK_SUFFIX), os.O_RDONLY)
    except OSError:
        return False
    try:
        intent, descriptor = read_intent(lock), os.open(path, os.O_RDONLY)
        try:
            return intent is not None and torn_bytes(descriptor, os.fstat(descriptor).st_size, intent) > 0
        finally:
            os.close(descriptor)
    except OSError as exc:
        raise _cannot_read(path, exc.strerror or str(exc)) from exc
    finally:
        os.close(lock)


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
        reach("append.open")
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, _MODE)
    except OSError as exc:
        raise _cannot_read(path, exc.strerror or str(exc)) from exc
    try:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and not status.st_size:
            # Of an empty file even the name may not be durable yet: it must be before a row is acknowledged under it.
            sync_folder(path.parent, "append.sync_folder")
    except OSError as exc:
        close_synced(descriptor, "append.close")
        raise not_stored(str(path), exc) from exc
    if not stat.S_ISREG(status.st_mode):
        close_synced(descriptor, "append.close")
        raise _no_file(path)
    return descriptor


def _append_locked(path: Path, descriptor: int, lock: int, compose: Compose) -> Stored:
    try:
        cut = _cut_own_torn_write(descriptor, lock)  # 2
        size = os.fstat(descriptor).st_size
        payload = compose(descriptor, size)  # 3
    except OSError as exc:
        raise _cannot_read(path, exc.strerror or str(exc)) from exc
    intent = Intent(size, payload)
    try:
        note_intent(lock, intent)  # 4
    except OSError as exc:
        raise not_stored(str(path), exc) from exc
    _write(path, descriptor, intent)
    _forget(lock)
    return Stored(size, len(payload), cut)


def _cut_own_torn_write(descriptor: int, lock: int) -> int:
    intent = read_intent(lock)
    torn = 0 if intent is None else torn_bytes(descriptor, os.fstat(descriptor).st_size, intent)
    if intent is not None and torn:
        reach("append.cut_torn")
        os.ftruncate(descriptor, intent.offset)
        sync(descriptor, "append.sync_cut")
    return torn


class _ForeignWriteError(OSError):
    """Another program wrote to the file without the lock, between our look at its end and our write."""


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


def _write(path: Path, descriptor: int, intent: Intent) -> None:
    placed = _Placed(intent.offset, intent.offset)
    try:
        left = memoryview(intent.payload)
        while left:
            taken = write_some(descriptor, left, "append.write")
            left = left[taken:]
            # With O_APPEND the position after a write is the end of what it wrote.
            placed.add(os.lseek(descriptor, 0, os.SEEK_CUR), taken)
            if placed.end != intent.offset + placed.count:
                raise _ForeignWriteError("another program wrote to the file at the same moment")
        sync(descriptor, "append.sync")
    except OSError as exc:
        raise _take_back(path, descriptor, placed, exc) from exc


def _take_back(path: Path, descriptor: int, placed: _Placed, cause: OSError) -> WinnowError:
    """Cut our bytes off again; answers with the error that says whether that worked."""
    try:
        if os.fstat(descriptor).st_size != placed.end or placed.end - placed.start != placed.count:
            return outcome_unknown(str(path), cause)  # bytes of others stand behind ours or between them
        if placed.count:
            reach("append.take_back")
            os.ftruncate(descriptor, placed.start)
            sync(descriptor, "append.sync_take_back")
    except OSError:
        return outcome_unknown(str(path), cause)
    return not_stored(str(path), cause)


def _forget(lock: int) -> None:
    try:
        forget_intent(lock)
    except OSError:
        # The bytes are synced. A note that stays is only ever compared with a torn end, and these are whole.
        return


def _cannot_read(path: Path, reason: str) -> CannotLookError:
    return CannotLookError(
        "not_opened",
        f"cannot open the file or read its end: {reason}; nothing was written",
        where=str(path),
        hint="check that the file may be read and written, then try again",
    )


def _no_file(path: Path) -> CannotLookError:
    return CannotLookError("not_a_file", "expected a regular file; nothing was written", where=str(path))
