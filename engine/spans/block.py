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


def _parse_at(data: bytes, head: re.Match[bytes]) -> tuple[Entry, ...] | None:
    """Parse the block that begins at a head line; None unless it is whole and reaches the end of the text."""
    entries: list[Entry] = []
    at = head.end()
    for number in range(1, int(head[1]) + 1):
        read = _entry_at(data, at, number)
        if read is None:
            return None
        entries.append(read[0])
        at = read[1]
    end_line = b"<<<END PINNED sha256=" + head[2] + b">>>"
    whole = data[at:] in {end_line, end_line + b"\n"}
    if not entries or not whole or hashlib.sha256(data[head.end() : at]).hexdigest().encode() != head[2]:
        return None
    return tuple(entries)


def split_block(text: str) -> Split:
    """Take a whole block off the end of a text; a text without one comes back unchanged as the body."""
    data = text.encode("utf-8", "surrogatepass")
    for head in _HEAD.finditer(data):
        start = head.start()
        if data[:start].endswith(b"\n\n") and (entries := _parse_at(data, head)):
            body = data[: start - 1].decode("utf-8", "surrogatepass")
            return Split(body, entries, torn=False, block=data[start:].decode("utf-8", "surrogatepass"))
    return Split(text, (), torn=_HEAD_START.search(text) is not None)


def append_block(text: str, entries: Sequence[Entry]) -> str:
    """Put the block of these entries at the end, in place of an older whole block; doing it twice changes nothing.

    Without entries an older block is left as it is. This does not check that the entries belong to the text.
    """
    if not entries:
        return text
    body = split_block(text).body
    return body + ("\n" if body.endswith("\n") else "\n\n") + format_block(entries)
