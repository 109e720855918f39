"""Is this JSON value a snapshot, and does each pin in it agree with its own text?

An audit may be given the snapshot itself. Hash, id, class and mark of each pin are computed again from its text, so an
edited class or text is refused, with the field named. This does not prove that the snapshot is the one made before the
compaction: whoever may write it anew may also leave pins out. A receipt holds its digest for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from engine.errors import RefusedError
from engine.spans.classify import Profile, SourceRole, SpanClass
from engine.spans.snapshot import (
    SPAN_LIMIT,
    SPAN_NOT_UTF8,
    UNPINNABLE,
    Pin,
    Refused,
    Snapshot,
    check_limits,
    link_pins,
    make_pin,
    uncovered_of,
)
from engine.spans.words import POLICY

_SNAPSHOT_FIELDS = ("policy", "profile", "event_id", "pins", "refused", "uncovered")
_PIN_FIELDS = {
    "id": str,
    "text": str,
    "cls": str,
    "critical": bool,
    "sha": str,
    "source_role": str,
    "positions": list,
    "conflict": bool,
    "ignored_markers": list,
    "linked": list,
}
_REFUSALS = {code.name: code for code in (UNPINNABLE, SPAN_NOT_UTF8)}
_SHOWN = 60

Choice = TypeVar("Choice", SpanClass, SourceRole, Profile)


def _malformed(where: str, wanted: str, found: object) -> RefusedError:
    return RefusedError("SNAPSHOT_MALFORMED", f"{wanted} expected, found {_shown(found)}", where=where)


def _altered(where: str, claimed: object, found: object) -> RefusedError:
    return RefusedError(
        "SNAPSHOT_ALTERED",
        f"claims {_shown(claimed)}, its text gives {_shown(found)}",
        where=where,
        hint="give the snapshot as it was made, or make it again from the spans",
    )


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str | bool | int | float | None) else f"a {type(value).__name__}"
    return text[:_SHOWN]


def _object(value: object, fields: Sequence[str], where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _malformed(where, "an object", value)
    for name in fields:
        if name not in value:
            raise RefusedError("SNAPSHOT_MALFORMED", f"the field {name!r} is missing", where=where)
    unknown = sorted(str(name) for name in value if name not in fields)
    if unknown:
        raise RefusedError("SNAPSHOT_MALFORMED", f"unknown field {_shown(unknown[0])}", where=where)
    return value


def _list(value: object, where: str, limit: int = SPAN_LIMIT) -> list[Any]:
    if not isinstance(value, list) or len(value) > limit:
        raise _malformed(where, f"a list of at most {limit}", value)
    return value


def _choice(kind: type[Choice], value: object, where: str) -> Choice:
    for each in kind:
        if value == each.value:
            return each
    raise _malformed(where, f"one of {', '.join(each.value for each in kind)}", value)


def _positions(value: object, where: str) -> tuple[int, ...]:
    numbers = _list(value, where)
    for before, number in zip([-1, *numbers], numbers, strict=False):
        if type(number) is not int or not before < number < SPAN_LIMIT:
            raise _malformed(where, f"rising positions below {SPAN_LIMIT}", number)
    return tuple(numbers)


def _read_pin(value: object, profile: Profile, where: str) -> Pin:
    fields = _object(value, tuple(_PIN_FIELDS), where)
    for name, kind in _PIN_FIELDS.items():
        if type(fields[name]) is not kind:
            raise _malformed(f"{where}.{name}", kind.__name__, fields[name])
    cls = _choice(SpanClass, fields["cls"], f"{where}.cls")
    role = _choice(SourceRole, fields["source_role"], f"{where}.source_role")
    made: Pin | None = None
    for by_hand, wide in ((False, profile), (True, Profile.STANDARD), (True, Profile.EXTENDED)):
        candidate = make_pin(fields["text"], role, by_hand=by_hand, profile=wide)
        if not isinstance(candidate, Pin):
            raise RefusedError("SNAPSHOT_MALFORMED", candidate.sentence.rstrip(".").lower(), where=f"{where}.text")
        made = made or candidate
        if candidate.cls is cls:
            made = candidate
            break
    if made is None or made.cls is not cls:
        raise _altered(f"{where}.cls", cls.value, made.cls.value if made else None)
    return replace(made, positions=_positions(fields["positions"], f"{where}.positions"))


def _read_refused(value: object, where: str) -> Refused:
    fields = _object(value, ("position", "code"), where)
    (position,) = _positions([fields["position"]], f"{where}.position")
    if not isinstance(fields["code"], str) or fields["code"] not in _REFUSALS:
        raise _malformed(f"{where}.code", f"one of {', '.join(_REFUSALS)}", fields["code"])
    return Refused(position, _REFUSALS[fields["code"]])


def _check_pins(claimed: list[Any], pins: Sequence[Pin]) -> None:
    """Compare every field with what the text gives; a text may stand only once."""
    seen: set[str] = set()
    for number, (fields, made) in enumerate(zip(claimed, pins, strict=True)):
        for name, found in made.as_json().items():
            if fields[name] != found:
                raise _altered(f"pins[{number}].{name}", fields[name], found)
        if made.text in seen:
            raise RefusedError("SNAPSHOT_MALFORMED", "the same text is pinned twice", where=f"pins[{number}].text")
        seen.add(made.text)


def _check_positions(pins: Sequence[Pin], refused: Sequence[Refused]) -> None:
    """Refuse two spans that claim one position, and refusals out of order."""
    listed = [each.position for each in refused]
    if listed != sorted(listed):
        raise RefusedError("SNAPSHOT_MALFORMED", "the refused spans are not in order", where="refused")
    taken = [*listed, *(position for each in pins for position in each.positions)]
    if len(set(taken)) != len(taken):
        raise RefusedError("SNAPSHOT_MALFORMED", "two spans claim one position", where="pins")


def read_snapshot(value: object) -> Snapshot:
    """Read a snapshot back from its machine form; reading what `as_json` gave returns an equal snapshot.

    Raises `RefusedError` with SNAPSHOT_MALFORMED, SNAPSHOT_ALTERED or SNAPSHOT_OTHER_POLICY and the field, and
    `LimitError` past the limits of a snapshot.
    """
    fields = _object(value, _SNAPSHOT_FIELDS, "snapshot")
    if fields["policy"] != POLICY:
        raise RefusedError("SNAPSHOT_OTHER_POLICY", f"{POLICY} expected, found {_shown(fields['policy'])}")
    if not isinstance(fields["event_id"], str):
        raise _malformed("event_id", "a text", fields["event_id"])
    profile = _choice(Profile, fields["profile"], "profile")
    claimed = _list(fields["pins"], "pins")
    texts = [each.get("text") if isinstance(each, dict) else None for each in claimed]
    check_limits([text for text in texts if isinstance(text, str)])
    pins = link_pins([_read_pin(each, profile, f"pins[{number}]") for number, each in enumerate(claimed)])
    _check_pins(claimed, pins)
    listed = _list(fields["refused"], "refused")
    refused = tuple(_read_refused(each, f"refused[{number}]") for number, each in enumerate(listed))
    _check_positions(pins, refused)
    uncovered = uncovered_of(pins)
    if fields["uncovered"] != list(uncovered):
        raise _altered("uncovered", fields["uncovered"], list(uncovered))
    return Snapshot(fields["event_id"], pins, refused, uncovered, profile)
