"""May these bytes become an event?

One gate for every way in. It refuses what would claim facts that were never extracted (a reserved key, also escaped,
repeated, in other case or in look-alike letters) and what has no single meaning (duplicate keys, NaN, broken
UTF-8). What passes is well formed; that the producer told the truth is not looked at.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.findings import Code, Finding, Severity
from engine.husk.event import Channel, RawEvent
from engine.husk.kinds import EventKind
from engine.lines.strict import TOO_DEEP, parse_exact

NESTING = 64
MAX_EVENT_BYTES = 16 * 1024 * 1024
MAX_ID_BYTES = 256
RESERVED = frozenset({"husk", "facts", "payloadstate"})

FORGED_STAMP = Code(
    "FORGED_STAMP",
    Severity.LIMIT,
    "the event carries a key that only the store may write",
    "remove husk, facts and payloadState from the event",
)
LOOKALIKE_KEY = Code(
    "LOOKALIKE_KEY",
    Severity.LIMIT,
    "a key looks like a reserved one or differs from another key only by case or form",
    "give the keys plain, distinct names",
)
EVENT_TOO_LARGE = Code("EVENT_TOO_LARGE", Severity.LIMIT, "the event is longer than the limit", "split it")
EVENT_NOT_UTF8 = Code("EVENT_NOT_UTF8", Severity.LIMIT, "the event is not UTF-8, or begins with a byte order mark")
EVENT_NOT_JSON = Code("EVENT_NOT_JSON", Severity.LIMIT, "the event is not one JSON object")
EVENT_TOO_DEEP = Code("EVENT_TOO_DEEP", Severity.LIMIT, "the event nests deeper than the limit", "flatten it")
EVENT_DUPLICATE_KEY = Code("EVENT_DUPLICATE_KEY", Severity.LIMIT, "a key stands twice, so the event has two meanings")
EVENT_BAD_VALUE = Code(
    "EVENT_BAD_VALUE", Severity.LIMIT, "a value has no place in JSON (NaN, infinity, half a character)"
)
EVENT_BAD_FIELD = Code("EVENT_BAD_FIELD", Severity.LIMIT, "a field that every event needs is missing or malformed")
UNKNOWN_KIND = Code(
    "UNCLASSIFIED_KIND",
    Severity.LIMIT,
    "the kind has no retention class here, so the event is kept in quarantine",
    "a newer version may know it",
)

_KINDS = frozenset(kind.value for kind in EventKind)
# RFC 3339 with a zone; nothing else that a lenient parser would take.
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})")
# Letters of other scripts that read as the Latin letters of the reserved names.
_LOOKALIKES = str.maketrans("аеорсухіјѕкһԁտսαεορυικνᴜ", "aeopcyxijskhdsuaeopuikvu")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Bytes that did not become an event, and why; `quarantine` says that they are kept aside."""

    finding: Finding
    quarantine: bool = False


def admit(data: bytes, channel: Channel, *, line: int | None = None) -> RawEvent | Refusal:
    """Take raw bytes as an event, or say why not; the bytes are never changed and nothing is raised."""
    if len(data) > MAX_EVENT_BYTES:
        return _refuse(EVENT_TOO_LARGE, line, found=f"{len(data)} bytes", claimed=f"at most {MAX_EVENT_BYTES}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _refuse(EVENT_NOT_UTF8, line, found=f"byte {error.start}")
    if text.startswith("\ufeff"):
        return _refuse(EVENT_NOT_UTF8, line, found="byte order mark")
    parsed = parse_exact(text, nesting=NESTING)
    if parsed.problem is not None:
        return _refuse(EVENT_TOO_DEEP if parsed.problem is TOO_DEEP else EVENT_NOT_JSON, line)
    if not isinstance(parsed.value, dict):
        return _refuse(EVENT_NOT_JSON, line, found=type(parsed.value).__name__)
    return _of_value(data, parsed.value, parsed.duplicates, channel, line)


def _of_value(
    data: bytes, value: dict[str, Any], duplicates: tuple[str, ...], channel: Channel, line: int | None
) -> RawEvent | Refusal:
    if fault := _key_fault(value, duplicates):
        return _refuse(fault[0], line, field=fault[1])
    if (bad := next(_bad_values(value, ""), None)) is not None:
        return _refuse(EVENT_BAD_VALUE, line, field=bad)
    event_id, kind, when, session = (value.get(key) for key in ("id", "kind", "occurredAt", "session"))
    if not isinstance(event_id, str) or not 0 < len(event_id.encode("utf-8")) <= MAX_ID_BYTES:
        return _refuse(EVENT_BAD_FIELD, line, field="id", claimed=f"text of 1 to {MAX_ID_BYTES} bytes")
    moment = _moment(when)
    if moment is None:
        return _refuse(EVENT_BAD_FIELD, line, field="occurredAt", claimed="RFC 3339 with a zone")
    if session is not None and not isinstance(session, str):
        return _refuse(EVENT_BAD_FIELD, line, field="session", claimed="text")
    if not isinstance(kind, str):
        return _refuse(EVENT_BAD_FIELD, line, field="kind", claimed="text")
    if kind not in _KINDS:
        return Refusal(Finding(UNKNOWN_KIND, line, "kind", found=kind[:80]), quarantine=True)
    return RawEvent(data, value, event_id, EventKind(kind), moment, session or "", channel)


def _refuse(code: Code, line: int | None, *, field: str = "", claimed: str = "", found: str = "") -> Refusal:
    return Refusal(Finding(code, line, field[:200], claimed, found))


def _folded(key: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", key).casefold())


def _skeleton(key: str) -> str:
    """Return a key as it looks: without marks and hidden characters, other scripts read as Latin."""
    apart = unicodedata.normalize("NFKD", _folded(key))
    shown = "".join(char for char in apart if unicodedata.category(char) not in {"Cf", "Mn", "Me", "Cc"})
    return shown.translate(_LOOKALIKES).strip()


def _key_fault(value: dict[str, Any], duplicates: tuple[str, ...]) -> tuple[Code, str] | None:
    """Find a reserved top-level key, a repeated key anywhere, or top-level keys that only look different."""
    seen: set[str] = set()
    for key in value:
        if key.lower() in RESERVED:
            return FORGED_STAMP, key
        folded = _folded(key)
        if _skeleton(key) in RESERVED or folded in seen:
            return LOOKALIKE_KEY, key
        seen.add(folded)
    return (EVENT_DUPLICATE_KEY, duplicates[0]) if duplicates else None


def _bad_values(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of values that no strict JSON holds; the nesting is bounded before."""
    match value:
        case dict():
            for key, inner in value.items():
                if _is_half(key):
                    yield f"{path}/(key)"
                yield from _bad_values(inner, f"{path}/{key}")
        case list():
            for number, inner in enumerate(value):
                yield from _bad_values(inner, f"{path}/{number}")
        case float() if not math.isfinite(value):
            yield path
        case str() if _is_half(value):
            yield path
        case _:
            return


def _is_half(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _moment(text: object) -> datetime | None:
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
