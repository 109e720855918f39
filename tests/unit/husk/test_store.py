"""The store: bytes in, the same bytes out, and what nobody may write."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import OperationalError

from engine.errors import BusyError, CannotLookError, RefusedError, UsageError
from engine.husk.admit import admit
from engine.husk.event import FIRST_LINK, Channel, RawEvent, State, commit_of, link_of
from engine.husk.schema import META
from engine.husk.store import NAME, HuskStore, Stored
from tests.support.events import event, raw

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def admitted(data: bytes) -> RawEvent:
    """Admit bytes that are an event."""
    made = admit(data, Channel.FILE)
    assert isinstance(made, RawEvent)
    return made


@pytest.fixture
def store(tmp_path: Path) -> HuskStore:
    """Return an empty store."""
    return HuskStore.create(tmp_path / "husk", now=NOW)


@pytest.fixture
def direct(store: HuskStore) -> Iterator[sqlite3.Connection]:
    """Return a connection past our own code."""
    connection = sqlite3.connect(store.folder / NAME)
    yield connection
    connection.close()


def test_bytes_come_back_as_they_went_in(store: HuskStore) -> None:
    """Odd whitespace, number spellings and escapes are kept; commit and chain follow from them."""
    data = raw(event("e-1")).replace(b'"id"', b' "\\u0069d"', 1) + b"  "
    assert store.ingest([admitted(data), admitted(raw(event("e-2")))], now=NOW) == (Stored.STORED, Stored.STORED)
    with store.snapshot() as taken:
        first, second = taken.events()
        assert taken.body(first.seq) == data
        assert first.commit == commit_of(first.salt, data)
        assert first.link == link_of(FIRST_LINK, 1, "e-1", first.commit)
        assert second.link == link_of(first.link, 2, "e-2", second.commit)
        assert first.state is State.WHOLE
        assert taken.watermark() == 2


def test_the_same_event_twice_is_stored_once(store: HuskStore) -> None:
    """Equal bytes are idempotent, in one batch and in two; other bytes under the same id are a conflict."""
    one = admitted(raw(event("e-1")))
    other = admitted(raw(event("e-1", note="changed")))
    assert store.ingest([one, one, other], now=NOW) == (Stored.STORED, Stored.SAME, Stored.ID_CONFLICT)
    assert store.ingest([one, other], now=NOW) == (Stored.SAME, Stored.ID_CONFLICT)
    with store.snapshot() as taken:
        assert [taken.body(each.seq) for each in taken.events()] == [one.raw]


def test_a_back_dated_event_is_not_old(store: HuskStore) -> None:
    """Age counts from the later of the claimed time and ours."""
    store.ingest([admitted(raw(event("e-1", occurredAt="1996-01-01T00:00:00Z")))], now=NOW)
    with store.snapshot() as taken:
        row = taken.event("e-1")
    assert row is not None
    assert row.age_from == row.ingested_at > row.occurred_at


@pytest.mark.parametrize(
    "statement",
    [
        """INSERT INTO bodies VALUES (99, CAST('{"husk":1}' AS BLOB))""",
        """INSERT INTO bodies VALUES (99, CAST('{"\\u0068usk":1}' AS BLOB))""",
        """INSERT INTO bodies VALUES (99, CAST('{"PayloadState":1}' AS BLOB))""",
        """INSERT INTO bodies VALUES (99, CAST('no json' AS BLOB))""",
        "UPDATE events SET state='archived', commit_digest=x'00'",
        "UPDATE events SET raw_digest='x'",
        "DELETE FROM events",
        "DELETE FROM bodies",
        """INSERT INTO events SELECT 99,'x',kind,session,0,0,class_at_ingest,'archived',1,salt,commit_digest,link,'',1,
        'seg',1,'hsg',1 FROM events""",
    ],
)
def test_a_writer_past_our_code_is_refused_by_the_triggers(
    store: HuskStore, direct: sqlite3.Connection, statement: str
) -> None:
    """Stamps, identities and rows cannot be made, changed or taken away by plain SQL."""
    store.ingest([admitted(raw(event("e-1")))], now=NOW)
    with pytest.raises((sqlite3.IntegrityError, sqlite3.OperationalError)):
        direct.execute(statement)


def test_a_snapshot_cannot_write(store: HuskStore) -> None:
    """The connection of a snapshot refuses, whatever is asked of it."""
    with pytest.raises(CannotLookError) as refused, store.snapshot() as taken:
        taken._connection.execute(insert(META), {"key": "x", "value": "y"})
    assert isinstance(refused.value.__cause__, OperationalError)
    assert "readonly" in str(refused.value)


def test_a_failed_transaction_leaves_nothing(store: HuskStore) -> None:
    """What was written before the failure is not there afterwards."""
    twice = [{"key": "x", "value": "y"}, {"key": "x", "value": "z"}]
    with pytest.raises(RefusedError), store.writing() as connection:
        connection.execute(insert(META), twice)
    with store.snapshot() as taken:
        assert taken.meta("x") == ""


def test_a_held_lock_is_said(store: HuskStore, direct: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another writer is a refusal by name after the stated wait; nothing is stored."""
    monkeypatch.setattr("engine.husk.store.BUSY_SECONDS", 0)
    direct.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError):
        store.ingest([admitted(raw(event("e-1")))], now=NOW)
    direct.execute("ROLLBACK")
    with store.snapshot() as taken:
        assert taken.watermark() == 0


def test_no_store_and_another_version_are_named(store: HuskStore, direct: sqlite3.Connection, tmp_path: Path) -> None:
    """A folder without a store, a second creation and a newer version each have their code."""
    with pytest.raises(CannotLookError, match="no store"):
        HuskStore.open(tmp_path / "none")
    with pytest.raises(UsageError):
        HuskStore.create(store.folder, now=NOW)
    direct.execute("UPDATE meta SET value='9' WHERE key='schema'")
    direct.commit()
    with pytest.raises(CannotLookError, match="version 9"):
        HuskStore.open(store.folder)


def test_a_broken_file_is_named(store: HuskStore) -> None:
    """Bytes that are no database are an answer, not a traceback."""
    (store.folder / NAME).write_bytes(b"not a database at all" * 300)
    with pytest.raises(CannotLookError):
        HuskStore.open(store.folder)
