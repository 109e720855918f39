"""Which unreadable lines are one record with a raw line break inside a string?

A line waits only while its string is still open; the next line closes it or it is given up. Two cut records never
become one: the joined text must be a whole object. A joined record is flagged, because a writer that broke its own
format may have broken more.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from engine.lines.reader import Line
from engine.lines.strict import nesting_depth
from engine.transcripts.decode import BLANK, LOOSE
from engine.transcripts.notices import LINE_UNFINISHED, LINE_UNREADABLE, LINES_JOINED, Notices

MAX_JOINED_LINES = 16
MAX_JOINED_CHARS = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Joined:
    """A record read from several lines."""

    value: Any
    first: Line
    last: Line
    lossy: bool


class Joiner:
    """Holds lines that could not be read until they are joined or given up."""

    def __init__(self, nesting: int, notices: Notices) -> None:
        self._nesting = nesting
        self._notices = notices
        self._waiting: list[tuple[Line, str]] = []
        self._lossy = False

    def add(self, line: Line, text: str, *, lossy: bool) -> Joined | None:
        """Take an unreadable line; return the record it completes, if it does."""
        text = text.strip(BLANK)
        if self._waiting:
            joined = self._complete(line, text, lossy=lossy)
            if joined is not None:
                return joined
        self._waiting.append((line, text))
        self._lossy = self._lossy or lossy
        if not line.terminated or not self._open():
            # What this line is the end of is lost; it may itself begin a record.
            self._give_up(self._waiting[:-1])
            self._waiting = self._waiting[-1:]
        if not line.terminated or not self._open():
            self.flush()
        return None

    def flush(self) -> None:
        """Give up on the waiting lines."""
        self._give_up(self._waiting)
        self._waiting = []
        self._lossy = False

    def _complete(self, line: Line, text: str, *, lossy: bool) -> Joined | None:
        whole = "\n".join([*(part for _, part in self._waiting), text])
        if nesting_depth(whole, self._nesting) > self._nesting:
            return None
        try:
            value = LOOSE.decode(whole)
        except (ValueError, RecursionError):
            return None
        first = self._waiting[0][0]
        self._notices.add(LINES_JOINED, first.number, found=f"lines {first.number} to {line.number}")
        found = Joined(value, first, line, self._lossy or lossy)
        self._waiting, self._lossy = [], False
        return found

    def _open(self) -> bool:
        """Tell whether the waiting lines are the beginning of an object whose string is not closed yet."""
        text = "\n".join(part for _, part in self._waiting)
        if not text.startswith("{") or len(self._waiting) >= MAX_JOINED_LINES or len(text) > MAX_JOINED_CHARS:
            return False
        try:
            LOOSE.raw_decode(text)
        except json.JSONDecodeError as exc:
            return exc.msg.startswith("Unterminated string")
        except (ValueError, RecursionError):
            return False
        return False

    def _give_up(self, lines: list[tuple[Line, str]]) -> None:
        for line, text in lines:
            self._notices.add(LINE_UNREADABLE if line.terminated else LINE_UNFINISHED, line.number, found=text)
