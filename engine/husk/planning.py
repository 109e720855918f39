"""Which events may be compacted now, and what does the plan over them say?

Reads columns only, in one pass, whatever the number of events; the actions go to a sink line by line. Pure: the
snapshot cannot write, time and outside facts come in as values. What is decided here is eligibility under a policy, not
whether compacting is wise.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import func, select

from engine.digests import canonical_json
from engine.errors import RefusedError
from engine.findings import UNWATCHED, Severity, Watch
from engine.husk import merkle
from engine.husk.event import State
from engine.husk.holds import Holds, holds_in
from engine.husk.kinds import CLASSES, EventKind, RetentionClass
from engine.husk.plan import (
    BATCH_BYTES,
    BATCH_EVENTS,
    FUTURE_SECONDS,
    PLANNER,
    SAMPLE_IDS,
    SCHEMA,
    STAMP_BYTES,
    SUBSTRATE_LARGE,
    Act,
    Action,
    Asked,
    Batch,
    HuskPlan,
    Outside,
    Reason,
    Scope,
    Warned,
    effective_class,
    leaf_of,
)
from engine.husk.policy import Mode, Policy, Verb, policy_in
from engine.husk.project import projection_id
from engine.husk.schema import EVENTS, PROJECTIONS
from engine.husk.store import COLUMNS, EventRow, Snapshot, event_row, micros

SECOND = 1_000_000
Sink = Callable[[bytes], object]
"""Takes the sidecar: one JSON list a line, one event each."""


@dataclass(slots=True)
class _Sums:
    """What is counted while the events go by."""

    events: Counter[str] = field(default_factory=Counter)
    raw: Counter[str] = field(default_factory=Counter)
    husk: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    warned: dict[str, list[str]] = field(default_factory=dict)
    warned_count: Counter[str] = field(default_factory=Counter)

    def add(self, action: Action, stripped: str) -> None:
        """Count one action."""
        self.events[action.act.value] += 1
        self.raw[action.act.value] += action.raw_bytes
        self.husk[action.act.value] += action.core_bytes + STAMP_BYTES if action.act is not Act.KEEP else 0
        self.reasons[action.reason.value] += 1
        self.kinds[f"{action.kind.value}:{action.act.value}"] += 1
        if action.act is not Act.KEEP:
            for path, size, _ in json.loads(stripped):
                self.paths[_group(path)] += size

    def warn(self, code: str, event_id: str) -> None:
        """Count a warning, keeping the first ids."""
        self.warned_count[code] += 1
        listed = self.warned.setdefault(code, [])
        if len(listed) < SAMPLE_IDS:
            listed.append(event_id)


def _group(path: str) -> str:
    """Return a path with numbers and names of members left out, so that equal parts of events add up."""
    parts = path.split("/")
    return "/".join(
        "*" if number > 1 and parts[1] in {"sideEffects", "surface"} and _is_member(parts, number) else part
        for number, part in enumerate(parts)
    )


def _is_member(parts: list[str], number: int) -> bool:
    return (parts[1] == "sideEffects" and number == 2) or (parts[1] == "surface" and number == 3)  # noqa: PLR2004


@dataclass(frozen=True, slots=True)
class _Rules:
    """Everything that decides one event."""

    policy: Policy
    holds: Holds
    mode: Mode
    as_of: int
    active: dict[str, int]
    outside: Outside

    def decide(self, row: EventRow, core_digest: bytes | None, core_bytes: int) -> tuple[Act, Reason, str]:
        """Return what becomes of one event, and why; the first reason to keep it wins."""
        if (kept := self._kept(row)) is not None:
            return Act.KEEP, kept, ""
        if (hold := self.holds.covering(row)) is not None:
            return Act.KEEP, Reason.HELD, f"{hold.why.value} {hold.id}"
        if self.mode is Mode.DELETE:
            return self._deleting(row)
        if core_digest is None:
            return Act.KEEP, Reason.UNPROJECTABLE, ""
        if row.seq in self.outside.failed:
            return Act.KEEP, Reason.FACTS_FAILED, self.outside.failed[row.seq]
        if core_bytes + STAMP_BYTES >= row.raw_bytes:
            return Act.KEEP, Reason.NO_GAIN, ""
        return Act.ARCHIVE, Reason.OLD_ENOUGH, ""

    def _kept(self, row: EventRow) -> Reason | None:
        cls = effective_class(row)
        if cls is RetentionClass.NEVER:
            return Reason.CLASS_NEVER
        if cls is RetentionClass.SUMMARISE:
            return Reason.CLASS_SUMMARISE
        if self.mode is Mode.ARCHIVE and row.state is not State.WHOLE:
            return Reason.ALREADY_HUSK
        horizon = self.policy.horizons.get(row.kind)
        if horizon is None:
            return Reason.NO_HORIZON
        if row.age_from > self.as_of - horizon * SECOND:
            return Reason.TOO_YOUNG
        last = max(self.active.get(row.session, 0), row.age_from) if row.session else row.age_from
        return Reason.SESSION_OPEN if last > self.as_of - self.policy.grace * SECOND else None

    def _deleting(self, row: EventRow) -> tuple[Act, Reason, str]:
        if row.state is not State.ARCHIVED or row.segment is None:
            return Act.KEEP, Reason.NOT_ARCHIVED, ""
        sealed = self.outside.archived_at.get(row.segment)
        if sealed is None or sealed > self.as_of - self.policy.cooling_off * SECOND:
            return Act.KEEP, Reason.COOLING_OFF, ""
        return Act.DELETE, Reason.COOLED_OFF, ""


def make_plan(taken: Snapshot, asked: Asked, outside: Outside, sink: Sink, *, watch: Watch = UNWATCHED) -> HuskPlan:
    """Plan a compaction; the store is only read, and the sidecar goes line by line into `sink`.

    Raises `RefusedError` for a store that holds a kind this build does not know, `CancelledError`.
    """
    known = {kind.value for kind in EventKind}
    if unknown := sorted(set(taken.kinds()) - known):
        raise RefusedError(
            "UNCLASSIFIED_KIND", f"the store holds events of kind {unknown[0]!r}, unknown to this version"
        )
    policy = policy_in(taken)
    rules = _Rules(policy, holds_in(taken), asked.mode, micros(asked.as_of), _activity(taken), outside)
    sums, batches, leaves, digest = _Sums(), _Batches(taken.lineage, asked.mode), _Leaves(), hashlib.sha256()
    for number, (row, action, stripped) in enumerate(_decided(taken, asked.scope, rules, sums)):
        if number % 1000 == 0:
            watch.step("planning", number, 0, "events")
        placed = batches.place(action)
        line = canonical_json(placed.as_json()) + b"\n"
        digest.update(line)
        sink(line)
        sums.add(placed, stripped)
        leaves.add(leaf_of(row))
    root = leaves.root().hex()
    made = batches.named(root)
    body = _body(taken, asked.scope, rules, sums, made)
    body["binding"]["scope_root"] = root
    body["actions"] = {"sha256": digest.hexdigest(), "count": leaves.count}
    return HuskPlan(body, made)


def _decided(taken: Snapshot, scope: Scope, rules: _Rules, sums: _Sums) -> Iterator[tuple[EventRow, Action, str]]:
    """Yield every event in scope, session by session, with what is decided."""
    joined = EVENTS.join(PROJECTIONS, EVENTS.c.seq == PROJECTIONS.c.seq)
    statement = (
        select(*COLUMNS, PROJECTIONS.c.core_digest, PROJECTIONS.c.core_bytes, PROJECTIONS.c.stripped)
        .select_from(joined)
        .where(*scope.where())
        .order_by(EVENTS.c.session, EVENTS.c.seq)
    )
    width = len(COLUMNS)
    for found in taken.rows(statement):
        row = event_row(found[:width])
        core_digest, core_bytes, stripped = found[width:]
        act, reason, detail = rules.decide(row, core_digest, core_bytes)
        if reason is Reason.UNPROJECTABLE:
            detail = json.loads(stripped)
            sums.warn("SHAPE_UNPROJECTABLE", row.id)
        if row.occurred_at > row.ingested_at + FUTURE_SECONDS * SECOND:
            sums.warn("FUTURE_TIME", row.id)
        if act is not Act.KEEP and core_bytes > SUBSTRATE_LARGE:
            sums.warn("SUBSTRATE_LARGE", row.id)
        core = core_digest.hex() if core_digest else ""
        yield (
            row,
            Action(row.seq, row.id, row.kind, row.session, act, reason, row.raw_bytes, core_bytes, core, -1, detail),
            stripped,
        )


def _activity(taken: Snapshot) -> dict[str, int]:
    """Return, for every session, when it was last active, also by events outside the scope."""
    last = func.max(func.max(EVENTS.c.occurred_at), func.max(EVENTS.c.ingested_at))
    return {row[0]: int(row[1]) for row in taken.rows(select(EVENTS.c.session, last).group_by(EVENTS.c.session))}


class _Leaves:
    """A Merkle root of any number of leaves in the memory of its depth."""

    def __init__(self) -> None:
        self.count = 0
        self._peaks: list[tuple[int, bytes]] = []

    def add(self, leaf: bytes) -> None:
        """Add the next leaf."""
        self.count += 1
        height = 0
        while self._peaks and self._peaks[-1][0] == height:
            leaf = merkle.node(self._peaks.pop()[1], leaf)
            height += 1
        self._peaks.append((height, leaf))

    def root(self) -> bytes:
        """Return the root over all leaves so far."""
        if not self._peaks:
            return merkle.EMPTY_ROOT
        *rest, (_, found) = self._peaks
        for _, peak in reversed(rest):
            found = merkle.node(peak, found)
        return found


class _Batches:
    """Cuts the taken events into batches of bounded count and size."""

    def __init__(self, lineage: str, mode: Mode) -> None:
        self._lineage, self._mode = lineage, mode
        self._sizes: list[list[int]] = []

    def place(self, action: Action) -> Action:
        """Return the action with the batch it moves in."""
        if action.act is Act.KEEP:
            return action
        full = not self._sizes or self._sizes[-1][0] >= BATCH_EVENTS
        if full or self._sizes[-1][1] + action.raw_bytes > BATCH_BYTES:
            self._sizes.append([0, 0])
        self._sizes[-1][0] += 1
        self._sizes[-1][1] += action.raw_bytes
        return replace(action, batch=len(self._sizes) - 1)

    def named(self, root: str) -> tuple[Batch, ...]:
        """Return the batches with segment names that follow from the state alone."""
        return tuple(
            Batch(
                n,
                count,
                size,
                self._name("seg", root, n) if self._mode is Mode.ARCHIVE else "",
                self._name("hsg", root, n),
            )
            for n, (count, size) in enumerate(self._sizes)
        )

    def _name(self, prefix: str, root: str, n: int) -> str:
        digest = hashlib.sha256(f"{prefix}\x1f{self._lineage}\x1f{self._mode.value}\x1f{root}\x1f{n}".encode())
        return f"{prefix}_{digest.hexdigest()[:24]}"


def _body(taken: Snapshot, scope: Scope, rules: _Rules, sums: _Sums, batches: tuple[Batch, ...]) -> dict[str, Any]:
    policy, outside = rules.policy, rules.outside
    return {
        "schema": SCHEMA,
        "planner": PLANNER,
        "verb": Verb.COMPACT.value,
        "mode": rules.mode.value,
        "creator": outside.creator,
        "as_of": rules.as_of,
        "expires_at": rules.as_of + policy.plan_expires * SECOND,
        "execute_within": policy.execute_within * SECOND,
        "scope": scope.as_json(),
        "binding": {
            "lineage": taken.lineage,
            "watermark": taken.watermark(),
            "holds": rules.holds.digest(),
            "registry": registry_digest(),
            "policy": policy.digest(),
            "policy_version": policy.version,
            "projection": projection_id(),
            "extractors": outside.extractors,
            "consumers": outside.consumers_digest,
            "control_head": outside.control_head,
        },
        "totals": _totals(sums),
        "batches": [batch.as_json() for batch in batches],
        "consumers": [dict(each) for each in outside.consumers],
        "spans": [dict(each) for each in outside.spans],
        "warnings": [each.as_json() for each in _warnings(sums, rules)],
        "demands": {"approvals": policy.approvals(Verb.COMPACT, rules.mode), "cooling_off": policy.cooling_off},
    }


def registry_digest() -> str:
    """Return the digest of today's classes of all kinds."""
    body = {kind.value: cls.value for kind, cls in CLASSES.items()}
    return f"sha256:{hashlib.sha256(canonical_json(body)).hexdigest()}"


def _totals(sums: _Sums) -> dict[str, Any]:
    taken = [act.value for act in (Act.ARCHIVE, Act.DELETE)]
    raw, husk = (sum(counter[act] for act in taken) for counter in (sums.raw, sums.husk))
    return {
        "events": dict(sorted(sums.events.items())),
        "raw_bytes": dict(sorted(sums.raw.items())),
        "moved_raw_bytes": raw,
        "husk_bytes_estimate": husk,
        "logical_saving_estimate": max(0, raw - husk),
        "by_kind": dict(sorted(sums.kinds.items())),
        "by_reason": dict(sorted(sums.reasons.items())),
        "by_path": dict(sorted(sums.paths.items())),
    }


_WARNINGS = {
    "SHAPE_UNPROJECTABLE": "events have a shape that the projection does not know and stay whole",
    "FUTURE_TIME": "events claim a time that lies after they came in",
    "SUBSTRATE_LARGE": "events keep more than 64 KiB, since structured parts are kept whole",
    "NO_POLICY": "no policy is set, so nothing is eligible",
    "NOTHING_TO_DO": "no event in this scope is eligible",
}


def _warnings(sums: _Sums, rules: _Rules) -> list[Warned]:
    found = [
        Warned(code, Severity.NOTICE, _WARNINGS[code], count, tuple(sums.warned[code]))
        for code, count in sorted(sums.warned_count.items())
    ]
    if not rules.policy.version:
        found.append(Warned("NO_POLICY", Severity.BREAK, _WARNINGS["NO_POLICY"], 1))
    elif not sums.events[Act.ARCHIVE.value] + sums.events[Act.DELETE.value]:
        found.append(Warned("NOTHING_TO_DO", Severity.BREAK, _WARNINGS["NOTHING_TO_DO"], 1))
    order = {Severity.BREAK: 0, Severity.LIMIT: 1, Severity.NOTICE: 2}
    return sorted([*rules.outside.warnings, *found], key=lambda each: (order[each.severity], each.code))
