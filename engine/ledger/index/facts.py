"""What does one line say that the index keeps?

Reads only the few members it needs, in one quick parse; what the quick parse refuses is read by the exact road, and
what that refuses still has a place as an unreadable line. A repeated key counts with its last value here: whether the
row may be believed is the verifier's answer.
"""

from __future__ import annotations

import calendar
import re
from typing import Any

import msgspec

from engine.clock import parse_time
from engine.ledger.index.layout import (
    KEY_DIGITS,
    MAX_NAME_LENGTH,
    MAX_NAMES,
    NO_NUMBER,
    NO_TIME,
    OTHER,
    EquationState,
    Form,
)
from engine.lines.strict import TOO_DEEP, parse_exact

RECEIPT_KIND = "compaction_receipt"
RECEIPT_SCHEMA = "arcaeon-compact:receipt:"
_V1 = RECEIPT_SCHEMA + "v1"
_TIMES_KEPT = 65_536
_MICROS = 1_000_000
_INT64 = 2**63
_HEX_START = re.compile(r"[0-9a-fA-F]{16}")
REFUSED = (msgspec.MsgspecError, ValueError, RecursionError)


class Row(msgspec.Struct):
    """The members of a row that the index keeps; anything may stand in them."""

    kind: Any = None
    op: Any = None
    schema: Any = None
    compactor: Any = None
    method: Any = None
    ts: Any = None
    chain: Any = None
    receipt_digest: Any = None
    pre: msgspec.Raw = msgspec.Raw()
    post: msgspec.Raw = msgspec.Raw()
    dropped: msgspec.Raw = msgspec.Raw()
    introduced: msgspec.Raw = msgspec.Raw()


class Side(msgspec.Struct):
    """The numbers and the digest of one side of a receipt."""

    count: Any = None
    bytes: Any = None
    digest: Any = None


decode_row = msgspec.json.Decoder(Row).decode
_decode_side = msgspec.json.Decoder(Side).decode
_MEMBERS = ("kind", "op", "schema", "compactor", "method", "ts", "chain", "receipt_digest")
_SIDES = ("pre", "post", "dropped", "introduced")


def read_exactly(data: bytes, nesting: int) -> Row | Form | None:
    """Read a line that the quick parse refused; None for a blank one, a form for what is no row."""
    text = data.decode("utf-8", "replace").strip()
    if not text:
        return None
    parsed = parse_exact(text, nesting=nesting)
    if parsed.problem is not None:
        return Form.NOT_LOOKED_AT if parsed.problem is TOO_DEEP else Form.UNPARSEABLE
    if not isinstance(parsed.value, dict):
        return Form.NOT_AN_OBJECT
    row = Row()
    for name in (*_MEMBERS, *_SIDES):
        setattr(row, name, parsed.value.get(name))
    return row


class Names(dict[Any, int]):
    """Codes for texts in order of meeting; anything but a text is `OTHER`, and so is one name too many."""

    def __init__(self) -> None:
        super().__init__({None: 0})

    def __missing__(self, value: Any) -> int:
        if type(value) is not str or len(value) > MAX_NAME_LENGTH or len(self) > MAX_NAMES:
            return OTHER
        code = self[value] = len(self) + 1
        return code

    def texts(self) -> list[str]:
        """Return the names by code, without the two that stand for no name."""
        return [name for name in self if name is not None]


class Times(dict[Any, int]):
    """Microseconds since 1970 for time texts; keeps the last few thousand, since neighbours repeat."""

    def __missing__(self, value: Any) -> int:
        if type(value) is not str:
            return NO_TIME
        moment = parse_time(value)
        micros = NO_TIME if moment is None else calendar.timegm(moment.timetuple()) * _MICROS + moment.microsecond
        if len(self) >= _TIMES_KEPT:
            self.clear()
        self[value] = micros
        return micros


def key_of(value: Any, *, digest: bool) -> int:
    """Return the first 64 bits of a hex value (after the last colon of a digest), 0 when it has none."""
    if type(value) is not str:
        return 0
    start = value.rfind(":") + 1 if digest else 0
    match = _HEX_START.match(value, start)
    return int(match.group(), KEY_DIGITS) if match else 0


def is_receipt(row: Row) -> bool:
    """Tell whether a row says that it is a compaction receipt."""
    if type(row.schema) is str and row.schema.startswith(RECEIPT_SCHEMA):
        return True
    return type(row.kind) is str and row.kind == RECEIPT_KIND


def receipt_facts(row: Row) -> tuple[int, int, int, int, int, int]:
    """Return digest keys (receipt, pre, post), dropped count and bytes, and the state of the equation."""
    pre, post, dropped, introduced = (_side(getattr(row, name)) for name in _SIDES)
    return (
        key_of(row.receipt_digest, digest=True),
        key_of(pre.digest, digest=True),
        key_of(post.digest, digest=True),
        _number(dropped.count),
        _number(dropped.bytes),
        _equation(row.schema == _V1, pre, post, dropped, introduced),
    )


def _equation(is_v1: bool, pre: Side, post: Side, dropped: Side, introduced: Side) -> int:
    size = introduced.bytes
    if is_v1:
        size = 0 if introduced.count == 0 else None
    numbers = (pre.count, dropped.count, introduced.count, post.count, pre.bytes, dropped.bytes, post.bytes)
    if any(_number(n) == NO_NUMBER for n in numbers) or (not is_v1 and _number(size) == NO_NUMBER):
        return EquationState.NOT_COMPUTED
    least = pre.bytes - dropped.bytes + (size or 0)
    closes = pre.count - dropped.count + introduced.count == post.count
    if size is None:
        return EquationState.LOWER_BOUND if closes and post.bytes >= least else EquationState.DOES_NOT_CLOSE
    return EquationState.CLOSES if closes and post.bytes == least else EquationState.DOES_NOT_CLOSE


def _number(value: Any) -> int:
    return value if type(value) is int and 0 <= value < _INT64 else NO_NUMBER


def _side(value: Any) -> Side:
    if isinstance(value, dict):
        return Side(value.get("count"), value.get("bytes"), value.get("digest"))
    if isinstance(value, msgspec.Raw):
        try:
            return _decode_side(value)
        except REFUSED:
            return Side()  # not an object: the receipt is malformed, which its own check says
    return Side()
