"""How far can one side of a round be trusted?

Turns keys and reasons into a `Side`. Reasons that every format shares are added here: unreadable lines before the
round, redacted text, results kept in side files. An `exact` side is as the file has it; that the tool sent nothing
else to the model is not proven.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.transcripts.build import ItemBuilder, is_redacted
from engine.transcripts.item import Flag, Kind
from engine.transcripts.notices import Notices
from engine.transcripts.rounds import Reason, Side, SideState

BYTES_PER_TOKEN = 0.8
"""Below this a context lacks its head: whole segments measured 1.2 to 2.7 bytes a token, cut ones 0 to 0.35."""


def make_side(
    builder: ItemBuilder, keys: Sequence[str], reasons: Iterable[Reason], *, notices: Notices, line: int | None
) -> Side:
    """Make one side; any reason lowers it from exact, an encrypted summary makes it opaque."""
    found = dict.fromkeys(reasons)
    if notices.unreadable_before(line):
        found[Reason.LINES_UNREADABLE] = None
    items = builder.items
    for key in keys:
        item = items[key]
        if not item.flags or item.kind is Kind.OPAQUE:
            continue
        if Flag.REDACTED in item.flags:
            found[Reason.REDACTED] = None
        if Flag.TRUNCATED in item.flags:
            found[Reason.SIDE_FILE_NOT_HELD] = None
    return Side(tuple(keys), _state(tuple(found), keys), tuple(found))


def _state(reasons: tuple[Reason, ...], keys: Sequence[str]) -> SideState:
    if not keys and reasons:
        return SideState.ABSENT
    if Reason.SUMMARY_ENCRYPTED in reasons:
        return SideState.OPAQUE
    return SideState.PARTIAL if reasons else SideState.EXACT


def readable_bytes(builder: ItemBuilder, keys: Iterable[str]) -> int:
    """Add up the bytes of readable text."""
    return sum(len(builder.items[key].text.encode("utf-8")) for key in keys)


def head_looks_missing(builder: ItemBuilder, keys: Sequence[str], tokens: int | None) -> bool:
    """Tell whether the tool counted far more tokens than the readable text can have held."""
    return tokens is not None and tokens > 0 and readable_bytes(builder, keys) / tokens < BYTES_PER_TOKEN


def claimed_count(value: object) -> int | None:
    """Return a token count as claimed, or None for anything that is no count."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def claimed_word(value: object) -> str | None:
    """Return a claimed text, or None for anything else and for a redaction mark."""
    return value if isinstance(value, str) and value and not is_redacted(value) else None
