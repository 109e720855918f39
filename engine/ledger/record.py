"""May this record become a row, and which bytes will it be?

The row is written as the format's own writer writes it, and chained over what a reader will parse from those bytes.
A record whose row a reader would understand otherwise, or not at all, is refused before anything is written. A row
that is accepted is readable; it need not be true.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.clock import Clock, format_time
from engine.errors import RefusedError
from engine.ledger.report import Limits
from engine.lines.canonical import chain_body, chain_value
from engine.lines.strict import parse_exact

_ENCODER = json.JSONEncoder(ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A record that may be written: its members without a chain, and the body the chain will cover."""

    members: dict[str, Any]
    body: bytes

    def chained(self, previous: str) -> tuple[str, bytes]:
        """Return the chain value after `previous`, and the line that holds it, with its line end."""
        chain = chain_value(previous, self.body)
        line = _ENCODER.encode({**self.members, "chain": chain}) + "\n"
        return chain, line.encode("utf-8")


def draft_row(record: Mapping[str, Any], clock: Clock, authority: Any, limits: Limits) -> DraftRow:
    """Add `authority` and a missing `ts`, drop an incoming `chain`, and check that the row can be read back.

    Raises `RefusedError` with a code that says why; nothing was written then.
    """
    members = dict(record)
    if authority is not None:
        members["authority"] = authority
    members.setdefault("ts", format_time(clock()))
    members.pop("chain", None)
    _refuse_unreadable(members, limits)
    text = _encoded(members)
    if len(text.encode("utf-8")) + len('"chain": ""') + 64 > limits.line_bytes:
        raise _refused("record_too_long", f"the row is longer than {limits.line_bytes} bytes")
    parsed = parse_exact(text, nesting=limits.nesting)
    if parsed.problem is not None or not isinstance(parsed.value, dict):
        raise _refused("record_not_readable", "a reader could not parse the row again")
    return DraftRow(members, chain_body(parsed.value))


def _encoded(members: dict[str, Any]) -> str:
    try:
        text = _ENCODER.encode(members)
        text.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise _refused(
            "record_lone_surrogate", "half of a surrogate pair stands in a text; readers would see another text"
        ) from exc
    except (TypeError, ValueError, RecursionError) as exc:
        raise _refused("record_not_json", f"the record cannot be written as JSON: {exc}") from exc
    return text


def _refuse_unreadable(members: dict[str, Any], limits: Limits) -> None:
    """Walk the record level by level; a level past the limit is also how a circular record ends."""
    level: list[Any] = [members]
    for depth in range(limits.nesting + 1):
        containers = [value for value in level if _is_container(value)]
        if not containers:
            return
        if depth == limits.nesting:
            break
        level = []
        for value in containers:
            if isinstance(value, Mapping):
                _refuse_keys(value)
            level.extend(value.values() if isinstance(value, Mapping) else value)
        _refuse_floats(level)
    raise _refused("record_too_deep", f"the record nests deeper than {limits.nesting}, which no verifier would look at")


def _is_container(value: Any) -> bool:
    return isinstance(value, Mapping | Sequence) and not isinstance(value, str | bytes | bytearray)


def _refuse_keys(value: Mapping[Any, Any]) -> None:
    for key in value:
        if not isinstance(key, str):
            raise _refused(
                "record_key_not_text",
                f"a key is {type(key).__name__}, not text; the chain sorts keys, and readers get every key as text",
            )


def _refuse_floats(values: list[Any]) -> None:
    for value in values:
        if isinstance(value, float) and not math.isfinite(value):
            raise _refused("record_not_finite", "NaN or Infinity is not JSON, so other readers could not read the row")


def _refused(code: str, message: str) -> RefusedError:
    return RefusedError(code, f"{message}; nothing was written", where="record")
