"""Which spans does an audit answer for, and which does it leave out?

A snapshot pins spans byte for byte before a compaction. Refused, EPISODIC and uncovered spans stay listed: what is not
pinned gets no verdict. A snapshot does not prove that the text given was the whole context.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.digests import json_digest
from engine.errors import LimitError, RefusedError
from engine.findings import Code, Severity
from engine.spans.classify import SourceRole, SpanClass, classify, looks_like_rule
from engine.spans.words import POLICY, read_words

SPAN_LIMIT = 5_000
BYTE_LIMIT = 2_000_000
ID_DIGITS = 16

UNPINNABLE = Code("UNPINNABLE", Severity.LIMIT, "The span holds no word, so nothing could be looked for.")
SPAN_NOT_UTF8 = Code("SPAN_NOT_UTF8", Severity.LIMIT, "The span cannot be written as UTF-8.")


@dataclass(frozen=True, slots=True)
class Pin:
    """One pinned span; `text` is kept as given and its SHA-256 gives the id."""

    id: str
    text: str
    cls: SpanClass
    critical: bool
    sha: str
    match_text: str
    role: SourceRole
    positions: tuple[int, ...] = ()
    conflict: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "id": self.id,
            "text": self.text,
            "cls": self.cls.value,
            "critical": self.critical,
            "sha": self.sha,
            "source_role": self.role.value,
            "positions": list(self.positions),
            "conflict": self.conflict,
        }


@dataclass(frozen=True, slots=True)
class Refused:
    """A span that could not be pinned: its position and the reason."""

    position: int
    code: Code


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All pins of one event in order, with what was refused and what looks like a rule but has no verdict."""

    event_id: str
    pins: tuple[Pin, ...]
    refused: tuple[Refused, ...]
    uncovered: tuple[str, ...]

    def judged(self) -> tuple[Pin, ...]:
        """Return the pins that get a verdict: all but the EPISODIC ones."""
        return tuple(entry for entry in self.pins if entry.cls is not SpanClass.EPISODIC)

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "policy": POLICY,
            "event_id": self.event_id,
            "pins": [entry.as_json() for entry in self.pins],
            "refused": [{"position": entry.position, "code": entry.code.name} for entry in self.refused],
            "uncovered": list(self.uncovered),
        }

    def digest(self) -> str:
        """Return the digest of the machine form; equal digests mean the same pins in the same order."""
        return json_digest(self.as_json())


def _fault(text: str) -> Code | None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return SPAN_NOT_UTF8
    return None


def _pin(text: str, *, by_hand: bool, role: SourceRole, positions: tuple[int, ...] = ()) -> Pin | Code:
    if fault := _fault(text):
        return fault
    kind = classify(text, by_hand=by_hand, role=role)
    if not read_words(kind.match_text).texts:
        return UNPINNABLE
    sha = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return Pin(
        f"pin-{sha[:ID_DIGITS]}", text, kind.cls, kind.critical, sha, kind.match_text, role, positions, kind.conflict
    )


def pin(text: str, *, role: SourceRole = SourceRole.OPERATOR) -> Pin:
    """Pin one span by hand; raises `RefusedError` for a text without a word or that is no UTF-8."""
    made = _pin(text, by_hand=True, role=role)
    if isinstance(made, Code):
        raise RefusedError(made.name, made.sentence.rstrip(".").lower(), hint="pin a text that holds words")
    return made


def _check_limits(spans: Sequence[str], held: Sequence[Pin]) -> None:
    count = len(spans) + len(held)
    if count > SPAN_LIMIT:
        raise LimitError("TOO_MANY_SPANS", f"{count} spans, at most {SPAN_LIMIT} are taken")
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in (*spans, *(entry.text for entry in held)))
    if size > BYTE_LIMIT:
        raise LimitError("SPANS_TOO_LONG", f"spans of {size} bytes, at most {BYTE_LIMIT} are taken")


def snapshot(
    event_id: str, spans: Sequence[str], held: Iterable[Pin] = (), *, role: SourceRole = SourceRole.USER
) -> Snapshot:
    """Pin the spans of one event; `held` are pins made by hand before, kept with their class.

    Equal texts collapse to one pin with all its positions. Raises `LimitError` past 5,000 spans or 2,000,000 bytes.
    """
    before = tuple(held)
    _check_limits(spans, before)
    by_text = {entry.text: entry for entry in before}
    places: dict[str, list[int]] = {}
    for position, text in enumerate(spans):
        places.setdefault(text, []).append(position)
    refused: list[Refused] = []
    pins: list[Pin] = []
    for text, positions in places.items():
        made = by_text.pop(text, None) or _pin(text, by_hand=False, role=role, positions=tuple(positions))
        if isinstance(made, Code):
            refused.extend(Refused(position, made) for position in positions)
        else:
            pins.append(made)
    pins.extend(by_text.values())
    uncovered = tuple(
        entry.id for entry in pins if entry.cls is SpanClass.EPISODIC and looks_like_rule(entry.match_text)
    )
    return Snapshot(event_id, tuple(pins), tuple(sorted(refused, key=lambda entry: entry.position)), uncovered)
