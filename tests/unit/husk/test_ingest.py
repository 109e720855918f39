"""Events from files and sessions, all through the one gate."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.findings import CancelledError, Watch
from engine.husk.admit import MAX_EVENT_BYTES
from engine.husk.ingest import BATCH_LINES, events_of, ingest_lines, ingest_session, looks_like_events
from engine.husk.store import HuskStore
from engine.lines.source import MemorySource
from tests.support.events import event, raw
from tests.support.sessions import ClaudeSession

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> HuskStore:
    """Return an empty store."""
    return HuskStore.create(tmp_path / "husk", now=NOW)


def held(store: HuskStore) -> list[bytes]:
    """Return the bytes of every event in order."""
    with store.snapshot() as taken:
        return [taken.body(row.seq) for row in taken.events()]


def test_lines_are_stored_byte_for_byte_and_once(store: HuskStore) -> None:
    """Over several batches, with blank lines and both line ends; reading again stores nothing."""
    lines = [raw(event(f"e-{number}", text=10)) for number in range(BATCH_LINES + 40)]
    data = b"\n\n".join(lines[:5]) + b"\r\n" + b"\n".join(lines[5:])
    first = ingest_lines(store, MemorySource("f", data), now=NOW)
    assert first.as_json() | {"findings": []} == {
        "stored": len(lines),
        "same": 0,
        "conflicts": 0,
        "refused": 0,
        "quarantined": 0,
        "untimed": 0,
        "findings": [],
    }
    assert held(store) == lines
    again = ingest_lines(store, MemorySource("f", data), now=NOW)
    assert (again.as_json()["stored"], again.as_json()["same"]) == (0, len(lines))


def test_refused_lines_are_named_and_stop_nothing(store: HuskStore) -> None:
    """A forged stamp, no JSON, an unknown kind, other bytes under a known id, a line too long: each counted."""
    good = raw(event("e-1"))
    long = b'{"id": "' + b"x" * (MAX_EVENT_BYTES + 10) + b'"}'
    lines = [
        good,
        raw({**event("e-2"), "husk": {}}),
        b"no json",
        raw(event("e-3", "dream")),
        raw(event("e-1", text=1)),
        long,
        raw(event("e-4")),
    ]
    made = ingest_lines(store, MemorySource("f", b"\n".join(lines)), now=NOW)
    counts = made.as_json()
    assert (counts["stored"], counts["conflicts"], counts["refused"], counts["quarantined"]) == (2, 1, 3, 1)
    assert [(finding.code.name, finding.line) for finding in made.findings] == [
        ("FORGED_STAMP", 2),
        ("EVENT_NOT_JSON", 3),
        ("UNCLASSIFIED_KIND", 4),
        ("EVENT_TOO_LARGE", 6),
    ]
    assert held(store) == [good, lines[-1]]


def test_a_session_gives_calls_answers_and_turns(store: HuskStore) -> None:
    """One event a message, ids that stay the same on every reading, times from the file."""
    made = ClaudeSession()
    made.user("u1", "please look")
    made.calls("a1", "t1")
    made.answers("r1", "t1", "file content")
    made.says("a2", "done")
    told = ingest_session(store, made.read(), now=NOW)
    assert (told.as_json()["stored"], told.untimed) == (4, 0)
    values = [json.loads(body) for body in held(store)]
    assert [value["kind"] for value in values] == ["agent_turn", "light_call", "tool_call", "light_call"]
    assert values[3]["light"]["rawResponse"] == {"content": "done"}
    assert "file content" in json.dumps(values[2])
    assert {value["occurredAt"] for value in values} == {"2026-01-02T03:04:05.000Z"}
    assert ingest_session(store, made.read(), now=NOW).as_json()["same"] == 4


def test_a_message_without_a_time_makes_no_event() -> None:
    """A made-up time would decide when a payload may leave."""
    made = ClaudeSession()
    made.user("u1", "please look")
    del made.rows[0]["timestamp"]
    assert list(events_of(made.read())) == [None]


def test_a_file_of_events_is_told_from_a_session() -> None:
    """Also when its first line is damaged, and when an event looks like a chat."""
    assert looks_like_events(MemorySource("f", b"no json\n\xff\n" + raw(event()) + b"\n"))
    made = ClaudeSession()
    made.user("u1", "please look")
    for data in (made.data(), b"", b"[]", b"no json"):
        assert not looks_like_events(MemorySource("f", data))


def test_ingesting_can_be_stopped(store: HuskStore) -> None:
    """What was stored before stays; nothing half."""
    with pytest.raises(CancelledError):
        ingest_lines(store, MemorySource("f", raw(event())), now=NOW, watch=Watch(is_cancelled=lambda: True))
    assert held(store) == []
