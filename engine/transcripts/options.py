"""How much may a reader take in, and who is told how far it has come?

Limits are declared and named in the refusal. They bound memory, not truth: a file inside them can still be hostile.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from engine.errors import LimitError
from engine.findings import CancelledError, IsCancelled, OnProgress, Progress, ignore_progress, never_cancelled
from engine.lines.source import Source

MEBIBYTE = 1024 * 1024
POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class TranscriptLimits:
    """What one transcript may cost.

    `file_bytes`: refuse a larger file (published session logs of 19 to 75 GB exist). `line_bytes`: a longer line is
    passed over with a notice (inline images make lines of 15 to 100 MB). `document_bytes`: largest file that has to
    be held as one text (a single JSON document, UTF-16). `nesting`: deepest JSON value, counted before parsing.
    """

    file_bytes: int = 1024 * MEBIBYTE
    line_bytes: int = 100 * 1000 * 1000
    document_bytes: int = 256 * MEBIBYTE
    nesting: int = 256


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Limits and the two callbacks of a long read."""

    limits: TranscriptLimits = field(default_factory=TranscriptLimits)
    on_progress: OnProgress = ignore_progress
    is_cancelled: IsCancelled = never_cancelled


class Watch:
    """Report progress and notice a cancellation at most every `POLL_SECONDS`."""

    def __init__(self, options: ReadOptions, step: str, total: int, unit: str = "bytes") -> None:
        self._options = options
        self._step = step
        self._total = total
        self._unit = unit
        self._next = 0.0

    def at(self, done: int) -> None:
        """Tell how far the work has come; raises `CancelledError` when the caller cancelled it."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + POLL_SECONDS
        if self._options.is_cancelled():
            raise CancelledError
        self._options.on_progress(Progress(self._step, done, self._total, self._unit))


def admit(source: Source, limit: int, what: str = "file_bytes") -> int:
    """Return the size of a source, or raise `LimitError` naming the limit it passes."""
    size = source.size()
    if size > limit:
        raise LimitError(
            "transcript_too_large",
            f"expected at most {limit} bytes ({what}), found {size}",
            where=source.name,
            hint=f"raise the limit {what} or cut the file",
        )
    return size
