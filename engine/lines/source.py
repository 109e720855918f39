"""Where do the bytes come from?

A source can be opened again and again, from disk or from memory (an upload). It proves nothing about its name.
"""

from __future__ import annotations

import io
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from engine.errors import CannotLookError


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
            raise CannotLookError(
                "not_a_file",
                "expected a regular file",
                where=self.name,
                hint="name a file, not a folder or device",
            )
        return status.st_size

    def open(self) -> BinaryIO:
        """Open for reading; raises `CannotLookError`."""
        self.size()
        try:
            return self.path.open("rb")
        except OSError as exc:
            raise _unreadable(self.name, exc) from exc


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


def _unreadable(name: str, exc: OSError | ValueError) -> CannotLookError:
    reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    return CannotLookError(
        "unreadable", f"cannot read: {reason}", where=name, hint="check that the file exists and may be read"
    )
