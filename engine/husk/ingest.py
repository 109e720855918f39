"""How do events come into a store from a file, and from a session?

Every line goes through the one gate, and a batch of lines is one transaction: after a crash a file is read again, and
what is stored already is told apart from what is new. A session's events are made from what its file records; where it
records no time, no event is made, since a made-up time would decide when a payload may leave.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engine.digests import canonical_json
from engine.findings import UNWATCHED, Finding, Watch
from engine.husk.admit import MAX_EVENT_BYTES, Refusal, admit
from engine.husk.event import Channel, RawEvent
from engine.husk.kinds import EventKind
from engine.husk.store import HuskStore, Stored
from engine.lines.source import Source
from engine.lines.strict import parse_exact
from engine.transcripts.item import ContextItem, Kind, Role, readable
from engine.transcripts.rounds import Transcript

BATCH_LINES = 512
BATCH_BYTES = 8 * 1024 * 1024
KEPT_FINDINGS = 200
HEAD_BYTES = 256 * 1024
HEAD_LINES = 20


@dataclass(slots=True)
class Ingested:
    """What became of the lines of a file or the messages of a session."""

    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    """Refused lines with their reasons, the first 200; `refused` counts them all."""
    refused: int = 0
    quarantined: int = 0
    untimed: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "stored": self.outcomes[Stored.STORED.value],
            "same": self.outcomes[Stored.SAME.value],
            "conflicts": self.outcomes[Stored.ID_CONFLICT.value],
            "refused": self.refused,
            "quarantined": self.quarantined,
            "untimed": self.untimed,
            "findings": [finding.as_json() for finding in self.findings],
        }

    def refuse(self, refusal: Refusal) -> None:
        """Count a refusal."""
        self.quarantined += refusal.quarantine
        self.refused += not refusal.quarantine
        if len(self.findings) < KEPT_FINDINGS:
            self.findings.append(refusal.finding)


def looks_like_events(source: Source) -> bool:
    """Say whether one of the first lines is an object with the fields that every event has; the gate decides later."""
    with source.open() as stream:
        head = stream.read(HEAD_BYTES)
    for line in head.split(b"\n")[:HEAD_LINES]:
        try:
            value = parse_exact(line.decode("utf-8")).value
        except UnicodeDecodeError:
            continue
        if isinstance(value, dict) and {"id", "kind", "occurredAt"} <= value.keys():
            return True
    return False


def ingest_lines(store: HuskStore, source: Source, *, now: datetime, watch: Watch = UNWATCHED) -> Ingested:
    """Store the events of a JSON Lines file; a refused line changes nothing and stops nothing.

    Raises `CancelledError`, `BusyError`, and `CannotLookError` when file or store cannot be read or written.
    """
    return _ingest(store, _lines(source, watch), Channel.FILE, now)


def ingest_session(store: HuskStore, transcript: Transcript, *, now: datetime, watch: Watch = UNWATCHED) -> Ingested:
    """Store the model calls, tool results and turns of a session; raises as `ingest_lines`."""
    made = Ingested()
    events = []
    for event in events_of(transcript):
        if event is None:
            made.untimed += 1
        else:
            events.append((None, canonical_json(event)))
    watch.step("ingesting", 0, len(events), "events")
    return _ingest(store, events, Channel.TRANSCRIPT, now, made)


def _ingest(
    store: HuskStore,
    lines: Iterable[tuple[int | None, bytes]],
    channel: Channel,
    now: datetime,
    made: Ingested | None = None,
) -> Ingested:
    told = made or Ingested()
    batch: list[RawEvent] = []
    aside: list[tuple[bytes, Refusal]] = []
    size = 0

    def write() -> None:
        nonlocal size
        if batch:
            told.outcomes.update(outcome.value for outcome in store.ingest(batch, now=now))
        store.quarantine(aside, channel=channel.value, now=now)
        batch.clear()
        aside.clear()
        size = 0

    for number, data in lines:
        admitted = admit(data, channel, line=number)
        if isinstance(admitted, RawEvent):
            batch.append(admitted)
        else:
            told.refuse(admitted)
            if admitted.quarantine:
                aside.append((data, admitted))
        size += len(data)
        if len(batch) + len(aside) >= BATCH_LINES or size >= BATCH_BYTES:
            write()
    write()
    return told


def _lines(source: Source, watch: Watch) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank without their ends; of one that is too long only enough to refuse it."""
    total, done, number = source.size(), 0, 0
    with source.open() as stream:
        while line := stream.readline(MAX_EVENT_BYTES + 2):
            number += 1
            done += len(line)
            whole = line.endswith(b"\n")
            while not whole and (rest := stream.readline(1 << 20)):
                done += len(rest)
                whole = rest.endswith(b"\n")
            if number % BATCH_LINES == 1:
                watch.step("ingesting", done, total)
            if line.strip():
                yield number, line.rstrip(b"\r\n")


def events_of(transcript: Transcript) -> Iterator[dict[str, Any] | None]:
    """Yield the events of a session in the order of its file; None for a message without a time.

    An assistant message is a model call, a tool's answer a tool call, a prompt a turn. Ids are made of the session and
    the message, so that reading a file again stores nothing twice.
    """
    session = transcript.session or transcript.sources[0].sha256[:16]
    groups: dict[str, list[ContextItem]] = {}
    for item in transcript.items.values():
        groups.setdefault(item.message, []).append(item)
    for key, items in groups.items():
        when = next((item.time for item in items if item.time), None)
        if when is None:
            yield None
            continue
        name = hashlib.sha256(f"{session}\n{key}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        base = {"id": f"msg-{name}", "occurredAt": when, "session": readable(session)}
        yield {**base, **_body(items)}


def _body(items: list[ContextItem]) -> dict[str, Any]:
    match items[0].role:
        case Role.ASSISTANT:
            light = {
                "rawResponse": {"content": _text(items, Kind.REPLY)},
                "reasoning": _text(items, Kind.THINKING),
                "toolCalls": [readable(item.text) for item in items if item.kind is Kind.TOOL_CALL],
            }
            return {"kind": EventKind.LIGHT_CALL.value, "light": {key: each for key, each in light.items() if each}}
        case Role.TOOL:
            effects = [{"kind": "tool", "id": item.key, "details": readable(item.text)} for item in items]
            return {"kind": EventKind.TOOL_CALL.value, "sideEffects": effects}
        case _:
            kind = EventKind.TOOL_CALL if items[0].kind is Kind.TOOL_RESULT else EventKind.AGENT_TURN
            return {
                "kind": kind.value,
                "role": items[0].role.value,
                "text": "\n\n".join(readable(i.text) for i in items),
            }


def _text(items: list[ContextItem], kind: Kind) -> str:
    return "\n\n".join(readable(item.text) for item in items if item.kind is kind)
