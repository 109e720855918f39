"""What did the operator decide about age, approvals and grace?

Policies are versions, added and never edited; a plan binds one by digest. Without a policy nothing is eligible. It
only says what may be planned: a plan and an approval stand between it and any change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import insert, select

from engine.digests import canonical_json
from engine.errors import RefusedError
from engine.husk.kinds import EventKind, RetentionClass, retention_class
from engine.husk.schema import POLICIES
from engine.husk.store import HuskStore, Snapshot, micros

HOUR = 3600
DAY = 24 * HOUR
MAX_SECONDS = 100 * 365 * DAY


class Mode(StrEnum):
    """What becomes of a payload."""

    ARCHIVE = "archive"
    DELETE = "delete"


class Verb(StrEnum):
    """What a plan asks for."""

    COMPACT = "compact"
    UNSEAL = "unseal"


@dataclass(frozen=True, slots=True)
class Policy:
    """One version; all times in seconds. `horizons` is the least age by kind; a kind not named is never eligible.

    `grace` is how long a session must have been quiet before it counts as complete; `cooling_off` is how long a payload
    stays archived before it may be deleted.
    """

    horizons: Mapping[EventKind, int] = field(default_factory=dict)
    grace: int = HOUR
    cooling_off: int = 30 * DAY
    approvals_archive: int = 1
    approvals_delete: int = 2
    approvals_unseal: int = 1
    plan_expires: int = 7 * DAY
    execute_within: int = DAY
    version: int = 0

    def approvals(self, verb: Verb, mode: Mode) -> int:
        """Return how many distinct approvers a plan needs."""
        if verb is Verb.UNSEAL:
            return self.approvals_unseal
        return self.approvals_delete if mode is Mode.DELETE else self.approvals_archive

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form, without the version."""
        return {
            "horizons": {kind.value: seconds for kind, seconds in sorted(self.horizons.items())},
            "grace": self.grace,
            "cooling_off": self.cooling_off,
            "approvals_archive": self.approvals_archive,
            "approvals_delete": self.approvals_delete,
            "approvals_unseal": self.approvals_unseal,
            "plan_expires": self.plan_expires,
            "execute_within": self.execute_within,
        }

    def digest(self) -> str:
        """Return the digest of the machine form and the version."""
        body = {"version": self.version, **self.as_json()}
        return f"sha256:{hashlib.sha256(canonical_json(body)).hexdigest()}"


def read_policy(value: Any) -> Policy:
    """Read the machine form; raises `RefusedError` naming the field for anything malformed or contradicting."""
    if not isinstance(value, dict):
        raise _bad("", "an object")
    known = set(Policy().as_json())
    if unknown := sorted(set(value) - known):
        raise _bad(unknown[0], f"one of {', '.join(sorted(known))}")
    numbers = {key: inner for key, inner in value.items() if key != "horizons"}
    for key, number in numbers.items():
        least = 1 if key.startswith("approvals") or key in {"plan_expires", "execute_within"} else 0
        if type(number) is not int or not least <= number <= MAX_SECONDS:
            raise _bad(key, f"a whole number from {least} to {MAX_SECONDS}")
    made = Policy(horizons=_horizons(value.get("horizons", {})), **numbers)
    if made.approvals_delete < made.approvals_archive:
        raise _bad("approvals_delete", "at least approvals_archive: deleting is the stronger act")
    if made.execute_within > made.plan_expires:
        raise _bad("execute_within", "at most plan_expires")
    return made


def _horizons(value: Any) -> dict[EventKind, int]:
    if not isinstance(value, dict):
        raise _bad("horizons", "an object of kind and seconds")
    made: dict[EventKind, int] = {}
    kinds = {kind.value: kind for kind in EventKind}
    for name, seconds in value.items():
        if name not in kinds:
            raise _bad(f"horizons.{name}", "a kind of event")
        if retention_class(kinds[name]) is not RetentionClass.HUSK:
            raise _bad(f"horizons.{name}", "a kind whose payload may leave")
        if type(seconds) is not int or not 0 <= seconds <= MAX_SECONDS:
            raise _bad(f"horizons.{name}", f"seconds from 0 to {MAX_SECONDS}")
        made[kinds[name]] = seconds
    return made


def _bad(where: str, expected: str) -> RefusedError:
    return RefusedError("POLICY_REFUSED", f"expected {expected}", where=where, hint="nothing was saved")


def save_policy(store: HuskStore, policy: Policy, *, by: str, now: datetime) -> Policy:
    """Add a policy as the next version; earlier plans keep the version they were made under."""
    checked = read_policy(policy.as_json())
    with store.writing() as connection:
        last = connection.execute(select(POLICIES.c.version).order_by(POLICIES.c.version.desc()).limit(1)).scalar()
        saved = replace(checked, version=int(last or 0) + 1)
        row = {
            "version": saved.version,
            "body": json.dumps(saved.as_json()),
            "digest": saved.digest(),
            "saved_by": by,
            "saved_at": micros(now),
        }
        connection.execute(insert(POLICIES), row)
    return saved


def policy_in(taken: Snapshot) -> Policy:
    """Return the newest policy; without one, a policy under which nothing is eligible."""
    for row in taken.rows(select(POLICIES).order_by(POLICIES.c.version.desc()).limit(1)):
        return replace(read_policy(json.loads(row.body)), version=row.version)
    return Policy()
