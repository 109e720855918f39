"""How does a long command show that it is alive?

One line on standard error, and only when a person watches: never in a pipe, a log or beside `--json` that is piped.
"""

from __future__ import annotations

import sys
import time
from typing import TextIO

from engine.findings import OnProgress, Progress, ignore_progress

_EVERY_SECONDS = 0.1
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """Draws the newest progress over the one before it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        """Draw at most every tenth of a second; clear the line at the end."""
        now = time.monotonic()
        over = progress.total > 0 and progress.done >= progress.total
        if over:
            self._stream.write(_CLEAR)
        elif now >= self._next:
            share = f"{100 * progress.done // progress.total} %" if progress.total else f"{progress.done}"
            self._stream.write(f"{_CLEAR}{progress.step} {share}")
        else:
            return
        self._next = 0.0 if over else now + _EVERY_SECONDS
        self._stream.flush()


def progress_line() -> OnProgress:
    """Return what reports progress to the person at the terminal, or nothing when there is none."""
    return ProgressLine(sys.stderr) if sys.stderr.isatty() else ignore_progress
