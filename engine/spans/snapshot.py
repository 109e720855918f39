"""Which spans does an audit answer for, and which does it leave out?

A snapshot pins spans byte for byte before a compaction. Refused, EPISODIC and uncovered spans stay listed: what is not
pinned gets no verdict. A snapshot does not prove that the text given was the whole context, nor who wrote it: the roles
are what the caller says.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.digests import json_digest
from engine.errors import LimitError, RefusedError
from engine.findings import Code, Finding, Severity
from engine.spans.classify import Profile, SourceRole, SpanClass, classify, is_trusted, looks_like_rule
from engine.spans.words import POLICY, read_words

SPAN_LIMIT = 5_000
BYTE_LIMIT = 2_000_000
ID_DIGITS = 16
_LISTED_IDS = 20

UNPINNABLE = Code("UNPINNABLE", Severity.LIMIT, "The span holds no word, so nothing could be looked for.")
SPAN_NOT_UTF8 = Code("SPAN_NOT_UTF8", Severity.LIMIT, "The span cannot be written as UTF-8.")
MARKER_NOT_HONOURED = Code(
    "MARKER_NOT_HONOURED",
    Severity.NOTICE,
    "A tool, a page or the model wrote a marker; it was read as text and changed nothing.",
    "pin the span by hand if the marker is meant",
)
MARKER_CONFLICT = Code(
    "MARKER_CONFLICT",
    Severity.NOTICE,
    "The markers of the span disagree, or [critical] stands on a span that it cannot change.",
    "INVARIANT goes before FACT, FACT before EPISODIC; leave one class marker",
)
SAME_WORDS = Code(
    "SAME_WORDS", Severity.NOTICE, "Another pin differs only in its markers or decoration and gets the same verdict."
)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the context before a compaction, and who wrote it."""

    text: str
    role: SourceRole = SourceRole.USER


@dataclass(frozen=True, slots=True)
class Pin:
    """One pinned span; `text` is kept as given and its SHA-256 gives the id.

    `positions` are where it stood among the spans given; `linked` are the pins with the same `match_text`.
    """

    id: str
    text: str
    cls: SpanClass
    critical: bool
    sha: str
    match_text: str
    role: SourceRole
    positions: tuple[int, ...] = ()
    conflict: bool = False
    ignored: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()

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
            "ignored_markers": list(self.ignored),
            "linked": list(self.linked),
        }

    def findings(self) -> tuple[Finding, ...]:
        """Return what is worth reading about the pin, its id as the field."""
        seen: list[Finding] = []
        if self.conflict:
            seen.append(Finding(MARKER_CONFLICT, field=self.id))
        if self.ignored:
            claimed = " ".join(f"[{marker}]" for marker in self.ignored[:_LISTED_IDS])
            seen.append(Finding(MARKER_NOT_HONOURED, field=self.id, claimed=claimed, found=self.role.value))
        if self.linked:
            seen.append(Finding(SAME_WORDS, field=self.id, found=" ".join(self.linked[:_LISTED_IDS])))
        return tuple(seen)


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
    profile: Profile = Profile.STANDARD

    def judged(self) -> tuple[Pin, ...]:
        """Return the pins that get a verdict: all but the EPISODIC ones."""
        return tuple(entry for entry in self.pins if entry.cls is not SpanClass.EPISODIC)

    def findings(self) -> tuple[Finding, ...]:
        """Return what was refused, by position, then what is worth reading about each pin."""
        refused = (Finding(entry.code, field=f"spans[{entry.position}]") for entry in self.refused)
        return (*refused, *(seen for entry in self.pins for seen in entry.findings()))

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "policy": POLICY,
            "profile": self.profile.value,
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


def make_pin(text: str, role: SourceRole, *, by_hand: bool, profile: Profile = Profile.STANDARD) -> Pin | Code:
    """Classify one span and fix it by its hash; the code tells why a text cannot be pinned."""
    if fault := _fault(text):
        return fault
    kind = classify(text, by_hand=by_hand, role=role, profile=profile)
    if not read_words(kind.match_text).texts:
        return UNPINNABLE
    sha = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return Pin(
        f"pin-{sha[:ID_DIGITS]}",
        text,
        kind.cls,
        kind.critical,
        sha,
        kind.match_text,
        role,
        conflict=kind.conflict,
        ignored=kind.ignored,
    )


def pin(text: str, *, role: SourceRole = SourceRole.OPERATOR, profile: Profile = Profile.STANDARD) -> Pin:
    """Pin one span by hand; raises `RefusedError` for a text without a word or that is no UTF-8.

    Raises `LimitError` past 2,000,000 bytes.
    """
    check_limits([text])
    made = make_pin(text, role, by_hand=True, profile=profile)
    if isinstance(made, Code):
        raise RefusedError(
            made.name, made.sentence[0].lower() + made.sentence[1:].rstrip("."), hint="pin a text that holds words"
        )
    return made


def check_limits(texts: Sequence[str]) -> None:
    """Raise `LimitError` for more than 5,000 spans, or more than 2,000,000 bytes in all."""
    if len(texts) > SPAN_LIMIT:
        raise LimitError("TOO_MANY_SPANS", f"{len(texts)} spans, at most {SPAN_LIMIT} are taken")
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    if size > BYTE_LIMIT:
        raise LimitError("SPANS_TOO_LONG", f"spans of {size} bytes, at most {BYTE_LIMIT} are taken")


def _looked_up(ids: Sequence[str], pins: Mapping[str, Pin]) -> list[Pin]:
    unknown = [each for each in ids if each not in pins]
    if unknown:
        more = f" and {len(unknown) - _LISTED_IDS} more" if len(unknown) > _LISTED_IDS else ""
        raise RefusedError(
            "PIN_UNKNOWN",
            f"no pin has the id {', '.join(repr(each[:40]) for each in unknown[:_LISTED_IDS])}{more}",
            where="pinned_ids",
            hint="list the pins that are held, or pin the span first",
        )
    return [pins[each] for each in ids]


def link_pins(pins: Sequence[Pin]) -> tuple[Pin, ...]:
    """Name in each pin the others with the same text to match."""
    same: defaultdict[str, list[str]] = defaultdict(list)
    for entry in pins:
        same[entry.match_text].append(entry.id)
    return tuple(
        replace(entry, linked=tuple(each for each in same[entry.match_text] if each != entry.id))
        if len(same[entry.match_text]) > 1 or entry.linked
        else entry
        for entry in pins
    )


def _places(spans: Sequence[Span]) -> dict[str, tuple[SourceRole, tuple[int, ...]]]:
    """Return each distinct text in order with its positions and its role, the first one whose markers count."""
    positions: defaultdict[str, list[int]] = defaultdict(list)
    roles: dict[str, SourceRole] = {}
    for position, each in enumerate(spans):
        positions[each.text].append(position)
        if each.text not in roles or (is_trusted(each.role) and not is_trusted(roles[each.text])):
            roles[each.text] = each.role
    return {text: (roles[text], tuple(at)) for text, at in positions.items()}


def snapshot(
    event_id: str,
    spans: Sequence[str | Span],
    held: Iterable[Pin] = (),
    *,
    role: SourceRole = SourceRole.USER,
    pinned_ids: Sequence[str] = (),
    pins: Mapping[str, Pin] | None = None,
    profile: Profile = Profile.STANDARD,
) -> Snapshot:
    """Pin the spans of one event; plain texts are of `role`.

    `held` and the pins named by `pinned_ids` (looked up in `pins`) were made by hand before and keep their class. Equal
    texts collapse to one pin with all its positions. Raises `RefusedError` for an unknown id and `LimitError` past
    5,000 spans or 2,000,000 bytes in all.
    """
    before = {entry.text: replace(entry, positions=()) for entry in (*held, *_looked_up(pinned_ids, pins or {}))}
    given = [Span(each, role) if isinstance(each, str) else each for each in spans]
    check_limits([*(each.text for each in given), *before])
    refused: list[Refused] = []
    kept: list[Pin] = []
    for text, (source, positions) in _places(given).items():
        made = before.pop(text, None) or make_pin(text, source, by_hand=False, profile=profile)
        if isinstance(made, Code):
            refused.extend(Refused(position, made) for position in positions)
        else:
            kept.append(replace(made, positions=positions))
    all_pins = link_pins((*kept, *before.values()))
    refused.sort(key=lambda entry: entry.position)
    return Snapshot(event_id, all_pins, tuple(refused), uncovered_of(all_pins), profile)


def uncovered_of(pins: Sequence[Pin]) -> tuple[str, ...]:
    """Return the ids of pins without a verdict that look like a rule."""
    return tuple(entry.id for entry in pins if entry.cls is SpanClass.EPISODIC and looks_like_rule(entry.match_text))
