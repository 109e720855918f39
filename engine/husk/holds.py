"""What must stay whole whatever its age, and who said so?

A hold covers one event, one session or one kind. It is placed and lifted by name; a plan binds the set of holds, and
the executor looks again inside its transaction. A hold does not protect against someone who may write the database.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import delete, insert, select

from engine.digests import canonical_json
from engine.errors import RefusedError, UsageError
from engine.husk.schema import HOLDS
from engine.husk.store import EventRow, HuskStore, Snapshot, micros


class Target(StrEnum):
    """What a hold covers."""

    EVENT = "event"
    SESSION = "session"
    KIND = "kind"


class HoldReason(StrEnum):
    """Why something is held."""

    LEGAL = "legal"
    DATASET = "dataset"
    EXEMPLARS = "exemplars"
    DISPUTE = "dispute"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Hold:
    """One hold; `placed_at` in microseconds since 1970."""

    id: str
    target: Target
    value: str
    why: HoldReason
    reason: str
    placed_by: str
    placed_at: int


@dataclass(frozen=True, slots=True)
class Holds:
    """All holds of one moment, found quickly by event."""

    all: tuple[Hold, ...]
    _by: dict[tuple[Target, str], Hold]

    @classmethod
    def of(cls, listed: Iterable[Hold]) -> Holds:
        """Index holds in the order of their ids."""
        held = tuple(sorted(listed, key=lambda each: each.id))
        return cls(held, {(each.target, each.value): each for each in reversed(held)})

    def covering(self, row: EventRow) -> Hold | None:
        """Return a hold that covers an event."""
        keys = ((Target.EVENT, row.id), (Target.SESSION, row.session), (Target.KIND, row.kind.value))
        return next((self._by[key] for key in keys if key in self._by), None)

    def digest(self) -> str:
        """Return the digest over all holds; another set is another digest."""
        body = [[h.id, h.target.value, h.value, h.why.value] for h in self.all]
        return f"sha256:{hashlib.sha256(canonical_json(body)).hexdigest()}"


def holds_in(taken: Snapshot) -> Holds:
    """Read the holds of a snapshot."""
    return Holds.of(
        Hold(row.id, Target(row.target), row.value, HoldReason(row.why), row.reason, row.placed_by, row.placed_at)
        for row in taken.rows(select(HOLDS))
    )


def place_hold(
    store: HuskStore, target: Target, value: str, why: HoldReason, *, reason: str, by: str, now: datetime
) -> Hold:
    """Hold an event, a session or a kind; raises `UsageError` without value, reason or name."""
    for name, text in (("value", value), ("reason", reason), ("by", by)):
        if not text.strip():
            raise UsageError("HOLD_INCOMPLETE", f"a hold needs a {name}", where=name)
    made = Hold(f"hold_{secrets.token_hex(8)}", target, value, why, reason, by, micros(now))
    with store.writing() as connection:
        connection.execute(
            insert(HOLDS), {**{n: getattr(made, n) for n in made.__slots__}, "target": target.value, "why": why.value}
        )
    return made


def lift_hold(store: HuskStore, hold_id: str) -> None:
    """Lift one hold; raises `RefusedError` when there is none of that id."""
    with store.writing() as connection:
        if connection.execute(delete(HOLDS).where(HOLDS.c.id == hold_id)).rowcount != 1:
            raise RefusedError("NO_SUCH_HOLD", f"no hold {hold_id}", hint="list the holds")
