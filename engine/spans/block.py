"""Is there a block of pinned spans at the end of a text, and how is one written?

The frame carries the SHA-256 of its lines and the byte length of each span, so a span that imitates the frame cannot
break out. A block that parses is whole; it does not prove who appended it, since the digest is no signature.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.spans.classify import SpanClass
from engine.spans.judge import Verdict

MAX_ENTRIES_READ = 20_000
MAX_DIGESTS = 64
"""Far more than the one block that a text has at its end; past them what looks like a block is reported as torn."""
_HEAD = re.compile(rb"^<<<PINNED v1 n=(\d{1,4}) sha256=([0-9a-f]{64})>>>\n", re.MULTILINE)
_HEAD_START = re.compile(r"^<<<PINNED v1 ", re.MULTILINE)
_ENTRY = re.compile(rb"\[(\d{1,4})\] (pin-[0-9a-f]{16}) (INVARIANT|FACT)( critical)? (DEGRADED|LOST) bytes=(\d{1,7})\n")


@dataclass(frozen=True, slots=True)
class Entry:
    """One span in a block, with the verdict that put it there."""

    id: str
    cls: SpanClass
    critical: bool
    verdict: Verdict
    text: str


@dataclass(frozen=True, slots=True)
class Split:
    """A text taken apart: what stands before the block, and the block's entries (none without a whole block).

    `torn` says that something begins like a block but is none; it then stays ordinary text in `body`.
    """

    body: str
    entries: tuple[Entry, ...]
    torn: bool
    block: str = ""

    def bodies(self) -> tuple[str, ...]:
        """Return the texts the block can have been appended to: a last line end may be the blank line's."""
        return (self.body, self.body.removesuffix("\n")) if self.entries else (self.body,)


def format_block(entries: Sequence[Entry]) -> str:
    """Write the framed block of at least one entry; raises `ValueError` for none."""
    if not entries:
        raise ValueError("a block holds at least one span")
    lines: list[bytes] = []
    for number, entry in enumerate(entries, start=1):
        data = entry.text.encode("utf-8")
        critical = " critical" if entry.critical else ""
        head = f"[{number}] {entry.id} {entry.cls.value}{critical} {entry.verdict.value} bytes={len(data)}\n"
        lines += [head.encode("ascii"), data, b"\n"]
    inner = b"".join(lines)
    digest = hashlib.sha256(inner).hexdigest()
    framed = f"<<<PINNED v1 n={len(entries)} sha256={digest}>>>\n".encode() + inner
    return (framed + f"<<<END PINNED sha256={digest}>>>\n".encode()).decode("utf-8")


def _entry_at(data: bytes, at: int, number: int) -> tuple[Entry, int] | None:
    head = _ENTRY.match(data, at)
    if head is None or int(head[1]) != number:
        return None
    end = head.end() + int(head[6])
    if data[end : end + 1] != b"\n":
        return None
    try:
        text = data[head.end() : end].decode("utf-8")
    except UnicodeDecodeError:
        return None
    cls, verdict = SpanClass(head[3].decode()), Verdict(head[5].decode())
    return Entry(head[2].decode(), cls, head[4] is not None, verdict, text), end + 1


@dataclass(slots=True)
class _Effort:
    """What may still be spent on lines that look like a block, so that a text made of them is read in bounded time."""

    entries: int = MAX_ENTRIES_READ
    digests: int = MAX_DIGESTS

    def left(self) -> bool:
        """Say whether another line may be tried."""
        return self.entries > 0 and self.digests > 0


def _parse_at(data: bytes, head: re.Match[bytes], effort: _Effort) -> tuple[Entry, ...] | None:
    """Parse the block that begins at a head line; None unless it is whole and reaches the end of the text."""
    entries: list[Entry] = []
    at = head.end()
    for number in range(1, int(head[1]) + 1):
        effort.entries -= 1
        read = _entry_at(data, at, number)
        if read is None:
            return None
        entries.append(read[0])
        at = read[1]
    end_line = b"<<<END PINNED sha256=" + head[2] + b">>>"
    whole = data[at:] in {end_line, end_line + b"\n"}
    effort.digests -= whole
    if not entries or not whole or hashlib.sha256(data[head.end() : at]).hexdigest().encode() != head[2]:
        return None
    return tuple(entries)


def split_block(text: str) -> Split:
    """Take a whole block off the end of a text, and any further one that then stands at its end.

    So a text to which a block was appended twice is told apart from neither. A text without one comes back unchanged
    as the body.
    """
    data = text.encode("utf-8", "surrogatepass")
    effort, end = _Effort(), len(data)
    entries: tuple[Entry, ...] = ()
    while found := _last_block(data[:end], effort):
        start, read = found
        entries, end = (*read, *entries), start - 1
    if not entries:
        return Split(text, (), torn=_HEAD_START.search(text) is not None)
    body = data[:end].decode("utf-8", "surrogatepass")
    return Split(body, entries, torn=False, block=data[end + 1 :].decode("utf-8", "surrogatepass"))


def _last_block(data: bytes, effort: _Effort) -> tuple[int, tuple[Entry, ...]] | None:
    """Return where the block at the end begins, with its entries; None when there is none."""
    for head in _HEAD.finditer(data):
        start = head.start()
        if not effort.left():
            return None
        if data[max(0, start - 2) : start] == b"\n\n" and (entries := _parse_at(data, head, effort)):
            return start, entries
    return None


def append_block(body: str, entries: Sequence[Entry]) -> str:
    """Put the block of at least one entry after a text, which is taken as it is.

    To replace a block, take the old one off with `split_block` first. This does not check that the entries belong to
    the text.
    """
    return body + ("\n" if body.endswith("\n") else "\n\n") + format_block(entries)
