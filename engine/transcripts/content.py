"""Which items does a content file hold?

A content file is what somebody compacted, or what was left: a JSON array of items, JSON Lines of items, or plain
text, which is one item. Values are read exactly (Python's number rules, duplicate keys refused), because receipts are
digests over them. That a file holds these items does not prove that a compactor ever saw them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.errors import CannotLookError, LimitError
from engine.lines.reader import read_lines
from engine.lines.source import Source
from engine.lines.strict import DEFAULT_NESTING, Parsed, parse_exact
from engine.transcripts.container import unpacked

MAX_BYTES = 256 * 1024 * 1024
"""Content is held in memory to be digested and shown; a larger file is refused by name."""
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Content:
    """The items of a file in order; `shape` says how they were read (`array`, `lines` or `text`)."""

    name: str
    shape: str
    items: tuple[Any, ...]


def read_content(source: Source, *, nesting: int = DEFAULT_NESTING) -> Content:
    """Read a content file; a gzip file is unpacked first.

    Raises `LimitError` past the size limit, `CannotLookError` for a line that is damaged or says a key twice (its
    digest would depend on the reader), and when it cannot be opened.
    """
    source = unpacked(source, MAX_BYTES)
    size = source.size()
    if size > MAX_BYTES:
        raise LimitError(
            "content_too_large",
            f"expected at most {MAX_BYTES} bytes of content, found {size}",
            where=source.name,
            hint="split the file, or check receipts without content",
        )
    with source.open() as stream:
        head = stream.read(4096).removeprefix(_BOM).lstrip()
    if head.startswith(b"["):
        return Content(source.name, "array", tuple(_array(source, nesting)))
    if head.startswith((b"{", b'"')):
        return Content(source.name, "lines", tuple(_lines(source, nesting)))
    return Content(source.name, "text", tuple(_text(source)))


def _array(source: Source, nesting: int) -> list[Any]:
    parsed = parse_exact(_decoded(source), nesting=nesting + 1)
    if isinstance(parsed.value, list) and parsed.problem is None:
        _refuse_duplicates(parsed, source.name, None)
        return parsed.value
    return list(_lines(source, nesting))  # several arrays, one a line


def _lines(source: Source, nesting: int) -> Iterator[Any]:
    for line in read_lines(source, universal=False, max_bytes=MAX_BYTES):
        data = line.data or b""
        text = _utf8(data.removeprefix(_BOM) if line.number == 1 else data, source.name, line.number).strip(" \t\r\n")
        if not text:
            continue
        parsed = parse_exact(text, nesting=nesting)
        if parsed.problem is not None:
            raise CannotLookError(
                "content_damaged",
                f"expected one JSON item a line, found a line that {_fault(parsed)}",
                where=f"{source.name}:{line.number}",
                hint="give a JSON array, one JSON item a line, or a plain text file",
            )
        _refuse_duplicates(parsed, source.name, line.number)
        yield parsed.value


def _fault(parsed: Parsed) -> str:
    return f"cannot be taken: {parsed.problem.sentence}" if parsed.problem else "cannot be taken"


def _refuse_duplicates(parsed: Parsed, name: str, line: int | None) -> None:
    if parsed.duplicates:
        raise CannotLookError(
            "content_ambiguous",
            f"expected each key once, found {parsed.duplicates[0]!r} twice in one object",
            where=name if line is None else f"{name}:{line}",
            hint="two readers see two different items here; repair the file",
        )


def _text(source: Source) -> list[Any]:
    """Read plain text as one item; bytes that are no UTF-8 stay bytes, which have the same digest."""
    with source.open() as stream:
        data = stream.read(MAX_BYTES + 1)
    if not data:
        return []
    try:
        return [data.decode("utf-8")]
    except UnicodeDecodeError:
        return [data]


def _decoded(source: Source) -> str:
    with source.open() as stream:
        return _utf8(stream.read(MAX_BYTES + 1).removeprefix(_BOM), source.name, None)


def _utf8(data: bytes, name: str, line: int | None) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise CannotLookError(
            "content_not_utf8",
            f"expected UTF-8, found another byte at {exc.start}",
            where=name if line is None else f"{name}:{line}",
            hint="convert the file to UTF-8; a plain text item may hold any bytes",
        ) from exc
