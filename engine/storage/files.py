"""How is a file replaced whole, and how is a writer kept out?

A file is replaced through a synced temporary beside it, so a reader sees the old bytes or the new ones. A lock that
is not got in time refuses: nothing is ever written without it. The lock binds only writers that ask for it; a program
that ignores it can still write.
"""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.errors import BusyError, CannotLookError, LifecycleError
from engine.storage.failpoints import reach
from engine.storage.outcome import not_stored, outcome_unknown

try:
    import fcntl
except ImportError:  # not a POSIX system: there is no lock, so every locked act is refused
    fcntl = None  # type: ignore[assignment]

LOCK_SUFFIX = ".lock"
"""The sidecar beside a ledger that the format's own writer locks as well."""
DEFAULT_LOCK_SECONDS = 5.0
_POLL_SECONDS = 0.002
_TURN_OFFSET = 2**30
"""Byte of the lock's file whose record lock is the right to try next; it guards nothing but fairness."""
_LOCK_MODE = 0o600
_FILE_MODE = 0o666


def sync(descriptor: int, step: str) -> None:
    """Make the disk acknowledge a descriptor's bytes; an error is raised, never swallowed."""
    reach(step)
    os.fsync(descriptor)


def sync_folder(folder: Path, step: str) -> None:
    """Make the disk acknowledge the names in a folder."""
    reach(step)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_some(descriptor: int, data: memoryview, step: str) -> int:
    """Make one write call and return how many bytes it took."""
    room = reach(step)
    return os.write(descriptor, data if room is None else data[:room])


def read_range(descriptor: int, start: int, length: int) -> bytes:
    """Read exactly `length` bytes at `start`; raises `OSError` also when the file ends before."""
    parts: list[bytes] = []
    left = length
    while left:
        reach("append.read")
        data = os.pread(descriptor, left, start + length - left)
        if not data:
            raise OSError("the file became shorter while it was read")
        parts.append(data)
        left -= len(data)
    return b"".join(parts)


def close_synced(descriptor: int, step: str) -> None:
    """Close a descriptor whose bytes were synced before, so that an error at closing says nothing about them."""
    try:
        try:
            reach(step)
        finally:
            os.close(descriptor)
    except OSError:
        # The system releases the descriptor in any case; whatever was acknowledged had been synced.
        return


def atomic_write(path: Path, data: bytes) -> None:
    """Replace a file by `data`, whole or not at all, keeping its mode.

    Raises `CannotLookError` when something else than a file bears the name (a device would be replaced by a file),
    `NotStoredError` when the old file is still in place, `OutcomeUnknownError` when the new one is but the disk did not
    acknowledge its name.
    """
    # Not made of the name, which may already be as long as a name can be.
    temporary = path.with_name(f".winnow-{secrets.token_hex(8)}.tmp")
    try:
        if path.exists() and not path.is_file():
            raise CannotLookError("not_a_file", "expected a regular file; nothing was written", where=str(path))
        _write_new(temporary, data, path)
        reach("replace.rename")
        temporary.replace(path)
    except OSError as exc:
        temporary.unlink(missing_ok=True)
        raise not_stored(str(path), exc) from exc
    try:
        sync_folder(path.parent, "replace.sync_folder")
    except OSError as exc:
        raise outcome_unknown(str(path), exc) from exc


def _write_new(temporary: Path, data: bytes, replaced: Path) -> None:
    reach("replace.open")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE)
    try:
        if replaced.exists():
            os.fchmod(descriptor, replaced.stat().st_mode & 0o7777)
        left = memoryview(data)
        while left:
            left = left[write_some(descriptor, left, "replace.write") :]
        sync(descriptor, "replace.sync")
    finally:
        os.close(descriptor)


class FileLock:
    """An exclusive lock on a file, for use in a `with` block; refuses with `BusyError` after `timeout` seconds.

    The file is made when missing and never removed, so that all writers lock the same one. While the lock is held,
    `descriptor` is open on it.
    """

    def __init__(self, path: Path, timeout: float = DEFAULT_LOCK_SECONDS) -> None:
        self.path = path
        self.timeout = timeout
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int:
        """Return the open descriptor of the locked file; raises `LifecycleError` when it is not locked."""
        if self._descriptor is None:
            raise LifecycleError("not_locked", "expected the lock to be held", where=str(self.path))
        return self._descriptor

    def __enter__(self) -> Self:
        if fcntl is None:
            raise CannotLookError("no_lock", "this system has no file lock, so nothing is written")
        deadline = time.monotonic() + self.timeout
        while True:
            descriptor = self._open()
            try:
                is_ours = self._wait(descriptor, deadline)
            except BaseException:
                os.close(descriptor)
                raise
            if is_ours:
                self._descriptor = descriptor
                return self
            os.close(descriptor)

    def _wait(self, descriptor: int, deadline: float) -> bool:
        """Wait for the lock; False when the file was removed meanwhile, since the next writer locks another one."""
        try:
            while not self._try(descriptor):
                if not self._is_still_named(descriptor):
                    return False
                self._refuse_after(deadline)
                time.sleep(_POLL_SECONDS)
        except OSError as exc:
            raise CannotLookError("no_lock", f"cannot lock: {exc.strerror}", where=str(self.path)) from exc
        return True

    def _try(self, descriptor: int) -> bool:
        """Try to get the lock, in turn: who has just given it back queues behind those who wait."""
        reach("lock.try")
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _TURN_OFFSET)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):  # how systems say that another one has it
            return False
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, _TURN_OFFSET)
        return self._is_still_named(descriptor)

    def _refuse_after(self, deadline: float) -> None:
        if time.monotonic() >= deadline:
            raise BusyError(
                "busy",
                f"another process has held the lock for {self.timeout:g} s; nothing was written",
                where=str(self.path),
                hint="find the process that holds the lock file open, or try again later",
            )

    def _open(self) -> int:
        try:
            reach("lock.open")
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
            return os.open(self.path, flags, _LOCK_MODE)
        except OSError as exc:
            raise CannotLookError("no_lock", f"cannot open the lock: {exc.strerror}", where=str(self.path)) from exc

    def _is_still_named(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        descriptor, self._descriptor = self.descriptor, None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # a forked child may hold a copy: closing alone would not free it
        except OSError:
            # The act under the lock is over and must not look failed; closing gives the lock back as well.
            return
        finally:
            close_synced(descriptor, "lock.close")
