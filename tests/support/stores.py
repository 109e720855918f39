"""Stores with events of real shape for the tests of the husk pipeline."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from engine.husk.admit import admit
from engine.husk.event import Channel, RawEvent
from engine.husk.kinds import EventKind
from engine.husk.plan import Asked, Outside, Scope
from engine.husk.plans import SavedPlan, drafting
from engine.husk.policy import DAY, Mode, Policy, save_policy
from engine.husk.rehearsal import OUR_READERS, Readers, plan
from engine.husk.store import HuskStore
from tests.support.events import event, raw

INGESTED = datetime(2026, 5, 1, tzinfo=UTC)
LATER = INGESTED + timedelta(days=3)
POLICY = Policy(
    horizons={EventKind.LIGHT_CALL: DAY, EventKind.AGENT_TURN: DAY, EventKind.TOOL_CALL: DAY, EventKind.VERDICT: DAY}
)


def admitted(value: dict[str, Any]) -> RawEvent:
    """Admit a value that is an event."""
    made = admit(raw(value), Channel.FILE)
    assert isinstance(made, RawEvent), made
    return made


def store_in(folder: Path, events: Iterable[dict[str, Any]], *, policy: Policy | None = POLICY) -> HuskStore:
    """Make a store that holds these events and a policy."""
    store = HuskStore.create(folder, now=INGESTED)
    store.ingest([admitted(each) for each in events], now=INGESTED)
    if policy is not None:
        save_policy(store, policy, by="tess", now=INGESTED)
    return store


def usual_events(count: int = 8) -> list[dict[str, Any]]:
    """Return model calls of two sessions, one marker and one heartbeat."""
    calls = [event(f"e-{number}", session=f"run-{number % 2}", text=2000 + number) for number in range(count)]
    return [*calls, event("m-1", "marker", session="run-0"), event("h-1", "heartbeat", session="run-1")]


def saved_plan(
    store: HuskStore,
    scope: Scope | None = None,
    mode: Mode = Mode.ARCHIVE,
    *,
    creator: str = "tess",
    as_of: datetime = LATER,
    readers: Readers = OUR_READERS,
) -> SavedPlan:
    """Plan and save."""
    with store.snapshot() as taken, drafting(store.folder) as draft:
        asked = Asked(scope or Scope(), mode, as_of)
        return draft.save(plan(taken, asked, Outside(creator), draft.sink, readers=readers))
