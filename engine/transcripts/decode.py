"""What does one line of a transcript say, when it is damaged too?

The decode policy, in order: UTF-8; UTF-8 with encoded surrogates kept; U+FFFD for the rest, flagged. Then strict
JSON; JSON with raw control characters inside strings; whole records that stand beside a cut one on the same line.
Numbers that JSON cannot hold (`NaN`, `1e400`) become their own text, so that every value can be digested again.
A recovered record was whole on its line; that nothing stood before it is not proven.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from engine.findings import Code
from engine.lines.strict import nesting_depth
from engine.transcripts.notices import (
    CONTROL_CHARACTERS,
    LINE_TOO_DEEP,
    LINE_UNREADABLE,
    LOSSY_DECODE,
    RECORD_RECOVERED,
)

MAX_RECORDS_ON_A_LINE = 64
BLANK = " \t\r\n\x00"


def finite(text: str) -> float | str:
    """Return the number, or its text when it is too large for a float."""
    value = float(text)
    return value if math.isfinite(value) else text


STRICT = json.JSONDecoder(parse_float=finite, parse_constant=str)
LOOSE = json.JSONDecoder(parse_float=finite, parse_constant=str, strict=False)


@dataclass(frozen=True, slots=True)
class Piece:
    """One value with the characters of the line it was read from."""

    value: Any
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a text holds: values, whether it was damaged, and the codes to note."""

    pieces: tuple[Piece, ...] = ()
    repaired: bool = False
    codes: tuple[Code, ...] = field(default=())


def decode_text(data: bytes) -> tuple[str, bool]:
    """Decode bytes by the policy; the second value tells whether the text is not the original one."""
    try:
        # The strict decoding of honest text, and raw surrogates passed through (some agents write them).
        return data.decode("utf-8", "surrogatepass"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), True


def decode_json(text: str, nesting: int) -> Decoded:
    """Read the values of one line; never raises.

    A failure is a code, `LINE_UNREADABLE` or `LINE_TOO_DEEP`, and no piece.
    """
    if nesting_depth(text, nesting) > nesting:
        return Decoded(codes=(LINE_TOO_DEEP,))
    value = _attempt(STRICT, text)
    if value is not None:
        return Decoded((value,))
    value = _attempt(LOOSE, text)
    if value is not None:
        return Decoded((value,), repaired=True, codes=(CONTROL_CHARACTERS,))
    pieces = _recover(text)
    if pieces:
        return Decoded(pieces, repaired=True, codes=(RECORD_RECOVERED,))
    return Decoded(codes=(LINE_UNREADABLE,))


def lossy_codes(*, lossy: bool) -> tuple[Code, ...]:
    """Return the notice a lossy decode needs."""
    return (LOSSY_DECODE,) if lossy else ()


def _attempt(decoder: json.JSONDecoder, text: str) -> Piece | None:
    start = len(text) - len(text.lstrip(BLANK))
    end = len(text.rstrip(BLANK))
    try:
        value, stop = decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return Piece(value, start, stop) if stop == end else None


def _recover(text: str) -> tuple[Piece, ...]:
    """Find the whole records of a line on which several stand.

    A cut record ends inside a string or between tokens; the parser stops right after the `{"` of the next one, or
    before it. Looking only from there on keeps an object nested in the cut record from being taken for a record.
    """
    end = len(text.rstrip(BLANK))
    pieces: list[Piece] = []
    start = text.find("{")
    for _ in range(MAX_RECORDS_ON_A_LINE):
        if start < 0 or start >= end:
            break
        try:
            value, stop = LOOSE.raw_decode(text, start)
        except json.JSONDecodeError as exc:
            start = _next_start(text, start, exc.pos)
            continue
        except (ValueError, RecursionError):
            break
        pieces.append(Piece(value, start, stop))
        start = stop + len(text[stop:]) - len(text[stop:].lstrip(BLANK))
        if text[start : start + 1] != "{":
            start = text.find('{"', start)
    return tuple(pieces)


def _next_start(text: str, start: int, stopped: int) -> int:
    if stopped - 2 > start and text[stopped - 2 : stopped] == '{"':
        return stopped - 2
    return text.find('{"', max(stopped, start + 1))
