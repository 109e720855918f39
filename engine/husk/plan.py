"""What would be compacted, what would stay and why, and what would still be answerable?

A dry run by construction: the planner gets a snapshot that has no way to write, and returns a value. The same state,
scope, mode and time give the same bytes; the digest of those bytes is what an approver signs. A plan is a statement
about one state and proves nothing about a store that has changed since: the executor compares every bound digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from engine.digests import canonical_json
from engine.findings import Severity
from engine.husk import merkle
from engine.husk.kinds import CLASSES, EventKind, RetentionClass, stricter
from engine.husk.policy import Mode
from engine.husk.schema import EVENTS
from engine.husk.store import EventRow

SCHEMA = "husk-plan/1"
PLANNER = "1"
BATCH_EVENTS = 512
BATCH_BYTES = 64 * 1024 * 1024
STAMP_BYTES = 900
"""What a stamp and its facts add to a core, as an estimate for "no gain"."""
SUBSTRATE_LARGE = 64 * 1024
FUTURE_SECONDS = 3600
SAMPLE_IDS = 5


class Act(StrEnum):
    """What a plan does to one event."""

    ARCHIVE = "archive"
    DELETE = "delete"
    KEEP = "keep"


class Reason(StrEnum):
    """Why an event is kept or taken; each has one sentence."""

    OLD_ENOUGH = "old_enough"
    COOLED_OFF = "cooled_off"
    CLASS_NEVER = "class_never"
    CLASS_SUMMARISE = "class_summarise"
    NO_HORIZON = "no_horizon"
    TOO_YOUNG = "too_young"
    SESSION_OPEN = "session_open"
    HELD = "held"
    ALREADY_HUSK = "already_husk"
    NOT_ARCHIVED = "not_archived"
    COOLING_OFF = "cooling_off"
    UNPROJECTABLE = "unprojectable"
    NO_GAIN = "no_gain"
    FACTS_FAILED = "facts_failed"

    @property
    def sentence(self) -> str:
        """Return the sentence shown to a reviewer."""
        return _SENTENCES[self]


_SENTENCES: Mapping[Reason, str] = {
    Reason.OLD_ENOUGH: "older than the policy's age for its kind, its session complete, nothing holds it",
    Reason.COOLED_OFF: "archived for longer than the cooling-off time",
    Reason.CLASS_NEVER: "events of this kind are never compacted",
    Reason.CLASS_SUMMARISE: "events of this kind may only go into lossless summaries, which this version does not make",
    Reason.NO_HORIZON: "the policy names no age for this kind",
    Reason.TOO_YOUNG: "younger than the policy's age for its kind",
    Reason.SESSION_OPEN: "its session was active too recently to count as complete",
    Reason.HELD: "a hold covers it",
    Reason.ALREADY_HUSK: "its payload has left already",
    Reason.NOT_ARCHIVED: "only an archived payload may be deleted",
    Reason.COOLING_OFF: "its archive is younger than the cooling-off time",
    Reason.UNPROJECTABLE: "a part of it has a shape that the projection does not know",
    Reason.NO_GAIN: "its husk would not be smaller than the event",
    Reason.FACTS_FAILED: "the facts of its payload could not be computed",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Which events are asked about; empty parts do not narrow. `before` is microseconds since 1970, 0 for no limit."""

    kinds: tuple[EventKind, ...] = ()
    sessions: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    before: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "kinds": sorted(kind.value for kind in self.kinds),
            "sessions": sorted(self.sessions),
            "ids": sorted(self.ids),
            "before": self.before,
        }

    def where(self) -> list[Any]:
        """Return the conditions of a select."""
        conditions: list[Any] = []
        if self.kinds:
            conditions.append(EVENTS.c.kind.in_([kind.value for kind in self.kinds]))
        if self.sessions:
            conditions.append(EVENTS.c.session.in_(self.sessions))
        if self.ids:
            conditions.append(EVENTS.c.id.in_(self.ids))
        if self.before:
            conditions.append(EVENTS.c.occurred_at < self.before)
        return conditions


@dataclass(frozen=True, slots=True)
class Asked:
    """What a plan is asked for, and for which moment."""

    scope: Scope
    mode: Mode
    as_of: datetime


@dataclass(frozen=True, slots=True)
class Action:
    """What the plan does to one event: sizes in bytes, the digest (hex) of the core that would stay."""

    seq: int
    id: str
    kind: EventKind
    session: str
    act: Act
    reason: Reason
    raw_bytes: int
    core_bytes: int
    core_digest: str
    batch: int = -1
    """The batch it moves in; -1 when it stays."""
    detail: str = ""

    def as_json(self) -> list[Any]:
        """Return the stable machine form, one line of the sidecar."""
        return [
            self.seq,
            self.id,
            self.kind.value,
            self.session,
            self.act.value,
            self.reason.value,
            self.raw_bytes,
            self.core_bytes,
            self.core_digest,
            self.batch,
            self.detail,
        ]

    @classmethod
    def from_json(cls, value: list[Any]) -> Action:
        """Read one line of the sidecar back."""
        seq, name, kind, session, act, reason, *rest = value
        return cls(seq, name, EventKind(kind), session, Act(act), Reason(reason), *rest)


@dataclass(frozen=True, slots=True)
class Batch:
    """Events that move together into one segment each of archive and husks."""

    n: int
    count: int
    raw_bytes: int
    segment: str
    husk_segment: str

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "n": self.n,
            "count": self.count,
            "raw_bytes": self.raw_bytes,
            "segment": self.segment,
            "husk_segment": self.husk_segment,
        }


@dataclass(frozen=True, slots=True)
class Warned:
    """One thing to read before deciding; severity BREAK makes the plan unapprovable."""

    code: str
    severity: Severity
    sentence: str
    count: int
    samples: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "sentence": self.sentence,
            "count": self.count,
            "samples": list(self.samples),
        }


@dataclass(frozen=True, slots=True)
class Outside:
    """What the planner takes from beyond the store: who asks, digests it binds, and what others found.

    `consumers` and `spans` are ready JSON of the fidelity and span checks; `failed` are events whose facts failed.
    """

    creator: str
    control_head: str = ""
    extractors: str = ""
    consumers_digest: str = ""
    consumers: tuple[Mapping[str, Any], ...] = ()
    spans: tuple[Mapping[str, Any], ...] = ()
    failed: Mapping[int, str] = field(default_factory=dict)
    warnings: tuple[Warned, ...] = ()
    archived_at: Mapping[str, int] = field(default_factory=dict)
    """By segment id, when it was sealed (microseconds since 1970), for the cooling-off time."""


@dataclass(frozen=True, slots=True)
class HuskPlan:
    """One plan: the signed body, and the batches. Its actions lie beside it in a sidecar that the body binds."""

    body: Mapping[str, Any] = field(repr=False)
    batches: tuple[Batch, ...] = field(repr=False)

    def data(self) -> bytes:
        """Return the exact bytes that the digest is over."""
        return canonical_json(self.body)

    @property
    def digest(self) -> str:
        """Return the SHA-256 (hex) of the body."""
        return hashlib.sha256(self.data()).hexdigest()

    @property
    def id(self) -> str:
        """Return the name of the plan, made from its digest."""
        return f"plan_{self.digest[:32]}"

    @property
    def short(self) -> str:
        """Return the short code that an approver types: eight characters of the digest, in two groups."""
        return f"{self.digest[:4]}-{self.digest[4:8]}"

    def warnings(self) -> tuple[Mapping[str, Any], ...]:
        """Return the warnings, errors first."""
        return tuple(self.body["warnings"])

    def errors(self) -> tuple[Mapping[str, Any], ...]:
        """Return the warnings that make the plan unapprovable."""
        return tuple(each for each in self.warnings() if each["severity"] == Severity.BREAK.value)


def effective_class(row: EventRow) -> RetentionClass:
    """Return the stricter of the class at ingest and today's."""
    return stricter(row.class_at_ingest, CLASSES[row.kind])


def leaf_of(row: EventRow) -> bytes:
    """Return the leaf that binds one event into a plan."""
    parts = [row.seq, row.id, row.row_version, row.commit.hex(), effective_class(row).value, row.state.value]
    return merkle.leaf(canonical_json(parts))
