"""What does one line say, as far as the walk asks?

The same facts by two readings: the exact road, which builds the row, and the reading of long lines, which never does.
Facts say what stands in the line, not whether its link holds.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, Final

from engine.findings import Code
from engine.ledger import codes
from engine.lines import longline
from engine.lines.canonical import chain_body, line_as_written
from engine.lines.strict import Parsed, parse_exact

SHOWN: Final = 120
"""Characters of a claimed value kept in a finding."""
_UTF8_BOM = codecs.BOM_UTF8
_FOREIGN_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(slots=True)
class LineFacts:
    """One line that is not blank."""

    text_sha256: Callable[[], str]
    """SHA-256 of the decoded, stripped line: what a declaration pins."""
    is_utf8: bool
    problem: Code | None = None
    duplicate: tuple[str, str] | None = None
    """A key met twice and a note with both values."""
    constants: bool = False
    is_row: bool = False
    shown: str = ""
    """The beginning of a value that is no object."""
    claimed: Any = None
    written: bool = False
    body: bytes | bytearray = b""
    unhashable: str = ""
    """Name of the error met when serialising the row, if it cannot be."""
    parsed: Parsed | None = None
    over: tuple[str, str] = ("", "")
    """What was found past a limit of one long line, and that limit."""


def exact_facts(data: bytes, nesting: int) -> LineFacts | None:
    """Read a line by building its value; None for a blank line."""
    text = data.decode("utf-8", "replace").strip()
    if not text:
        return None
    facts = LineFacts(partial(_sha256, text), "\ufffd" not in text or longline.is_utf8(data))
    parsed = facts.parsed = parse_exact(text, nesting=nesting)
    facts.problem, facts.constants = parsed.problem, parsed.constants
    if parsed.duplicates:
        first, last = parsed.values[0]
        facts.duplicate = parsed.duplicates[0], f"first {first!r:.{SHOWN}}, last {last!r:.{SHOWN}}"
    if isinstance(parsed.value, dict):
        _take_row(facts, parsed.value, data)
    elif parsed.problem is None:
        facts.shown = str(parsed.value)[:SHOWN]
    return facts


def _take_row(facts: LineFacts, row: dict[str, Any], data: bytes) -> None:
    facts.is_row = True
    facts.claimed = row.get("chain")
    facts.written = _as_written(row, data)
    if isinstance(facts.claimed, str):
        try:
            facts.body = chain_body(row)
        except (UnicodeEncodeError, ValueError, TypeError, RecursionError) as exc:
            facts.unhashable = type(exc).__name__


def long_facts(data: bytes, nesting: int, ask: Callable[[], None]) -> LineFacts | None:
    """Read a long line without building its value; None for a blank line."""
    start, end = longline.stripped(data)
    if start == end:
        return None
    line = longline.read_long(data, start, end, nesting=nesting, ask=ask)
    facts = LineFacts(partial(longline.text_sha256, data, start, end), longline.is_utf8(data))
    facts.problem, facts.constants, facts.over = line.problem, line.constants, line.over
    if line.duplicate is not None:
        key, first, last = line.duplicate
        facts.duplicate = key, f"first {first}, last {last}"
    if line.problem is None:
        facts.is_row, facts.written, facts.body = line.is_object, line.written, line.body
        facts.claimed = line.members.get("chain")
        facts.shown = bytes(line.body[:SHOWN]).decode("utf-8", "replace")
    return facts


def _sha256(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _as_written(row: dict[str, Any], data: bytes) -> bool:
    if next(reversed(row), None) != "chain":
        return False
    try:
        return line_as_written(row) == data
    except (ValueError, TypeError, RecursionError):
        return False


def bom_hint(data: bytes, line: int) -> str:
    """Return the name of the notice that explains a file's first bytes, or nothing."""
    if line == 1 and data.startswith(_UTF8_BOM):
        return codes.STARTS_WITH_BOM.name
    if line == 1 and data.startswith(_FOREIGN_BOMS):
        return codes.NOT_UTF8_FILE.name
    return ""
