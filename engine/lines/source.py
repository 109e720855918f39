"""Where do the bytes come from?

A source can be opened again and again, from disk or from memory (an upload). It proves nothing about its name.
"""

from __future__ import annotations

import io
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from engine.errors import CannotLookError

_BUFFER_BYTES = 64 * 1024


class Source(Protocol):
    """Bytes with a name; `size` is the number of bytes when it was last asked."""

    @property
    def name(self) -> str:
        """Return the name shown to the user (a path or the name of an upload)."""
        ...

    def size(self) -> int:
        """Return the present size in bytes; raises `CannotLookError`."""
        ...

    def open(self) -> BinaryIO:
        """Open the bytes for reading from the start; raises `CannotLookError`."""
        ...


@dataclass(frozen=True, slots=True)
class FileSource:
    """A regular file on disk, never written to."""

    path: Path

    def __post_init__(self) -> None:
        """Take a path given as text as well."""
        object.__setattr__(self, "path", Path(self.path))

    @property
    def name(self) -> str:
        """Return the path as given."""
        return str(self.path)

    def size(self) -> int:
        """Return the size on disk; raises `CannotLookError` when it is no readable regular file."""
        try:
            status = self.path.stat()
        except (OSError, ValueError) as exc:
            raise _unreadable(self.name, exc) from exc
        # A FIFO or a device would block or never end; a folder is not a ledger.
        if not stat.S_ISREG(status.st_mode):
            raise _no_file(self.name)
        return status.st_size

    def open(self) -> BinaryIO:
        """Open for reading; raises `CannotLookError`, and so does a read that the disk refuses later."""
        self.size()
        try:
            raw = _NamedFile(self.path, opener=_without_waiting)
        except OSError as exc:
            raise _unreadable(self.name, exc) from exc
        if not stat.S_ISREG(os.fstat(raw.fileno()).st_mode):  # another thing since we looked
            raw.close()
            raise _no_file(self.name)
        return io.BufferedReader(raw, _BUFFER_BYTES)


class _NamedFile(io.FileIO):
    """A file whose reads fail by name: a bad sector in the middle is "could not look", like a file that is missing."""

    def readinto(self, buffer: Any, /) -> int:
        """Read into the buffer; raises `CannotLookError`."""
        try:
            return super().readinto(buffer)
        except OSError as exc:
            raise _unreadable(str(self.name), exc) from exc

    def readall(self) -> bytes:
        """Read to the end; raises `CannotLookError`."""
        try:
            return super().readall()
        except OSError as exc:
            raise _unreadable(str(self.name), exc) from exc


def _without_waiting(path: str, flags: int) -> int:
    """Open so that a FIFO put in the file's place cannot hold us up."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Bytes held in memory under a name, such as an upload."""

    name: str
    data: bytes

    def size(self) -> int:
        """Return the number of bytes."""
        return len(self.data)

    def open(self) -> BinaryIO:
        """Open the bytes for reading."""
        return io.BytesIO(self.data)


def _no_file(name: str) -> CannotLookError:
    return CannotLookError(
        "not_a_file", "expected a regular file", where=name, hint="name a file, not a folder or device"
    )


def _unreadable(name: str, exc: OSError | ValueError) -> CannotLookError:
    reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    return CannotLookError(
        "unreadable", f"cannot read: {reason}", where=name, hint="check that the file exists and may be read"
    )
