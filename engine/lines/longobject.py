"""Where do the members of one long object stand, and in which order does the chain want them?

Members are remembered by place, not by value, and sorted in runs that are merged, so that an object of a million keys
needs little more than its own text. Order is the order of code points, which is the byte order of UTF-8.
"""

from __future__ import annotations

import heapq
import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Final

# A try of the group fails at its first byte or not at all, which CPython before 3.11.5 (gh-106052) needs.
_QUOTED = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SORT_RUN: Final = 16 * 1024
_ASK_EACH: Final = 4096
_SHOWN: Final = 120
_FEW: Final = 1000


class OpenObject:
    """An object whose text starts at `start`; `member` is told each key as it is written."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.starts = array("Q")
        self.previous = b""
        self.ascending = True

    def member(self, out: bytearray, start: int, key_end: int) -> None:
        """Note a member whose key stands in quotes from `start` to `key_end`."""
        key = _key(bytes(out[start + 1 : key_end - 1]))
        if self.starts and self.ascending and key <= self.previous:
            self.ascending = False
        self.previous = key if self.ascending else b""
        self.starts.append(start)

    def last_key(self, out: bytearray) -> bytes:
        """Return the last key."""
        return self._key_of(out, len(self.starts) - 1)

    def values(self, out: bytearray, wanted: frozenset[str], ask: Callable[[], None]) -> dict[str, tuple[int, int]]:
        """Return where the values of some keys stand; the last of equal keys counts."""
        found = {}
        names = {json.dumps(name).encode("ascii"): name for name in wanted}
        longest = max(map(len, names))
        for number, start in enumerate(self.starts):
            if number % _ASK_EACH == _ASK_EACH - 1:
                ask()
            head = bytes(out[start : start + longest + 1])
            end = head.find(b'"', 1) + 1
            if (name := names.get(head[:end])) is not None:
                found[name] = (start + end + 2, self._end(number, len(out)))
        return found

    def reorder(self, out: bytearray, *, without: bytes | None, ask: Callable[[], None]) -> tuple[str, str, str] | None:
        """Bring the members at the end of `out` into the chain's order, each key once, one key left out.

        Returns the key that was met twice first, with the beginning of both its values.
        """
        if self.ascending and without is None:
            return None
        kept = array("Q")
        duplicate: tuple[int, int] | None = None
        previous: tuple[bytes, int] | None = None
        for step, found in enumerate(self._sorted(out, ask), 1):
            if step % _ASK_EACH == 0:
                ask()
            if previous is not None and previous[0] == found[0]:
                pair = found[1], previous[1]
                duplicate = min(duplicate or pair, pair)
            elif previous is not None and previous[0] != without:
                kept.append(previous[1])
            previous = found
        if previous is not None and previous[0] != without:
            kept.append(previous[1])
        shown = None if duplicate is None else self._shown(out, *duplicate)
        self._arrange(out, kept, ask)
        return shown

    def _arrange(self, out: bytearray, kept: array[int], ask: Callable[[], None]) -> None:
        """Put the kept members in order around the largest, which is not copied: it may be most of the line."""
        end = len(out)
        if not kept:
            out[self.start + 1 :] = b""
            return
        # Of few members one may be most of the line; among many none needs to stay.
        few = kept if len(kept) <= _FEW else kept[:1]
        stays = max(few, key=lambda number: self._end(number, end) - self.starts[number])
        place = kept.index(stays)
        after = self._joined(out, kept[place + 1 :], end, ask)
        before = self._joined(out, kept[:place], end, ask)
        first, last = self.starts[stays], self._end(stays, end)
        if after:
            after[:0] = b", "
        out[last:] = after
        out[self.start + 1 : first] = before + b", " if before else b""

    def _joined(self, out: bytearray, numbers: array[int], end: int, ask: Callable[[], None]) -> bytearray:
        joined = bytearray()
        with memoryview(out) as view:
            for step, number in enumerate(numbers):
                if step % _ASK_EACH == _ASK_EACH - 1:
                    ask()
                if joined:
                    joined += b", "
                joined += view[self.starts[number] : self._end(number, end)]
        return joined

    def _shown(self, out: bytearray, repeated: int, first: int) -> tuple[str, str, str]:
        texts = []
        for number in (first, repeated):
            at = self.starts[number] + _quoted_size(out, self.starts[number]) + 2
            piece = bytes(out[at : min(at + _SHOWN, self._end(number, len(out)))])
            texts.append(piece.decode("utf-8", "replace"))
        return self._key_of(out, repeated).decode("utf-8", "surrogatepass"), texts[0], texts[1]

    def _end(self, number: int, end: int) -> int:
        return self.starts[number + 1] - 2 if number + 1 < len(self.starts) else end

    def _key_of(self, out: bytearray, number: int) -> bytes:
        start = self.starts[number]
        return _key(bytes(out[start + 1 : start + _quoted_size(out, start) - 1]))

    def _sorted(self, out: bytearray, ask: Callable[[], None]) -> Iterator[tuple[bytes, int]]:
        """Yield keys and member numbers by key; among equal keys in the order they stand."""
        numbers = range(len(self.starts))
        if self.ascending:
            return self._keyed(out, numbers)
        runs = []
        for first in range(0, len(self.starts), _SORT_RUN):
            if first:
                ask()
            run = sorted(self._keyed(out, numbers[first : first + _SORT_RUN]))
            runs.append(array("Q", [number for _, number in run]))
        return heapq.merge(*(self._keyed(out, run) for run in runs))

    def _keyed(self, out: bytearray, numbers: Iterable[int]) -> Iterator[tuple[bytes, int]]:
        return ((self._key_of(out, number), number) for number in numbers)


def _quoted_size(out: bytearray, start: int) -> int:
    """Return the length of the canonical text in quotes that starts here."""
    found = _QUOTED.match(out, start)
    return found.end() - start if found else 0


def _key(canonical: bytes) -> bytes:
    if b"\\" not in canonical:
        return canonical
    text: str = json.loads('"' + canonical.decode("utf-8", "surrogatepass") + '"')
    return text.encode("utf-8", "surrogatepass")
