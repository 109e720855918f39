"""What does the store hold, and how is it read and written?

An embedded database in one folder. Writers take the write lock at the beginning of a transaction; a snapshot is opened
read-only and has no way to write. The event chain links commits, so it stays whole when a payload leaves. The chain
shows alteration and reordering of what is here; rows cut off the end show only against a head noted elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, create_engine, event, func, insert, select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.pool import NullPool

from engine.errors import BusyError, CannotLookError, RefusedError, UsageError
from engine.husk.admit import Refusal
from engine.husk.event import FIRST_LINK, SALT_BYTES, RawEvent, State, commit_of, link_of
from engine.husk.kinds import CLASSES, EventKind, RetentionClass
from engine.husk.project import Projection, project, projection_id
from engine.husk.schema import BODIES, CHANGES, EVENTS, META, METADATA, PROJECTIONS, QUARANTINE, SCHEMA_VERSION
from engine.storage.failpoints import reach

NAME = "store.db"
BUSY_SECONDS = 15
ID_BLOCK = 500
COLUMNS = tuple(EVENTS.c)


class Stored(StrEnum):
    """What became of one event handed in."""

    STORED = "stored"
    SAME = "same"
    ID_CONFLICT = "id_conflict"


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event without its payload; times are microseconds since 1970 (UTC), digests are raw bytes."""

    seq: int
    id: str
    kind: EventKind
    session: str
    occurred_at: int
    ingested_at: int
    class_at_ingest: RetentionClass
    state: State
    row_version: int
    salt: bytes
    commit: bytes
    link: bytes
    raw_digest: str
    raw_bytes: int
    segment: str | None
    segment_n: int | None
    husk_segment: str | None
    husk_n: int | None

    @property
    def age_from(self) -> int:
        """Return the later of claimed and ingest time: a back-dated event is not old."""
        return max(self.occurred_at, self.ingested_at)


def micros(moment: datetime) -> int:
    """Return microseconds since 1970."""
    return round(moment.timestamp() * 1_000_000)


def event_row(row: Sequence[Any]) -> EventRow:
    """Read one row of the events table."""
    values = list(row)
    values[2], values[6], values[7] = EventKind(values[2]), RetentionClass(values[6]), State(values[7])
    return EventRow(*values)


class Snapshot:
    """One consistent reading of a store; there is no method that writes, and the connection cannot."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def lineage(self) -> str:
        """Return the identity that the store got when it was made."""
        return self.meta("lineage")

    def meta(self, key: str) -> str:
        """Return one remembered value; empty when absent."""
        found = self._connection.execute(select(META.c.value).where(META.c.key == key)).scalar_one_or_none()
        return found or ""

    def rows(self, statement: Any) -> Iterator[Any]:
        """Stream the rows of a select."""
        yield from self._connection.execution_options(yield_per=2000).execute(statement)

    def events(self, *where: Any) -> Iterator[EventRow]:
        """Stream events in order, without payload."""
        statement = select(*COLUMNS).where(*where).order_by(EVENTS.c.seq)
        for row in self.rows(statement):
            yield event_row(row)

    def event(self, event_id: str) -> EventRow | None:
        """Return one event by its id."""
        row = self._connection.execute(select(*COLUMNS).where(EVENTS.c.id == event_id)).one_or_none()
        return None if row is None else event_row(row)

    def body(self, seq: int) -> bytes:
        """Return the stored bytes of one event: raw, or its husk."""
        return bytes(self._connection.execute(select(BODIES.c.body).where(BODIES.c.seq == seq)).scalar_one())

    def watermark(self) -> int:
        """Return the newest sequence number; 0 for an empty store."""
        return int(self._connection.execute(select(func.max(EVENTS.c.seq))).scalar_one() or 0)

    def changes(self) -> dict[str, int]:
        """Return the counters of change."""
        return {row[0]: row[1] for row in self._connection.execute(select(CHANGES.c.name, CHANGES.c.count))}

    def kinds(self) -> dict[str, int]:
        """Return how many events each kind has, also kinds this build does not know."""
        statement = select(EVENTS.c.kind, func.count()).group_by(EVENTS.c.kind).order_by(EVENTS.c.kind)
        return {row[0]: row[1] for row in self._connection.execute(statement)}


class HuskStore:
    """One store in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer = _engine(folder / NAME, read_only=False)
        self._reader = _engine(folder / NAME, read_only=True)

    @classmethod
    def create(cls, folder: Path, *, now: datetime) -> HuskStore:
        """Make an empty store; raises `UsageError` when there is one already."""
        if (folder / NAME).exists():
            raise UsageError("STORE_EXISTS", "there is a store already", where=str(folder), hint="open it")
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        store = cls(folder)
        with store.writing() as connection:
            METADATA.create_all(connection)
            values = {
                "lineage": f"store-{secrets.token_hex(16)}",
                "schema": str(SCHEMA_VERSION),
                "created": str(micros(now)),
            }
            connection.execute(insert(META), [{"key": key, "value": value} for key, value in values.items()])
        return store

    @classmethod
    def open(cls, folder: Path) -> HuskStore:
        """Open a store; raises `CannotLookError` when there is none or when it is of another version."""
        if not (folder / NAME).is_file():
            raise CannotLookError("NO_STORE", "there is no store here", where=str(folder), hint="ingest events first")
        store = cls(folder)
        with store.snapshot() as taken:
            version = taken.meta("schema")
        if version != str(SCHEMA_VERSION):
            raise CannotLookError("STORE_VERSION", f"a store of version {version or 'unknown'}", where=str(folder))
        return store

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Hold the write lock for one transaction: all of it is stored, or nothing.

        Raises `BusyError` when another writer holds the lock too long, `CannotLookError` when the disk refuses.
        """
        with _named(self.folder), self._writer.connect() as connection:
            reach("husk.begin")
            with connection.begin():
                yield connection
                reach("husk.commit")

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Read one consistent state."""
        with _named(self.folder), self._reader.connect() as connection, connection.begin():
            yield Snapshot(connection)

    def ingest(self, events: Sequence[RawEvent], *, now: datetime) -> tuple[Stored, ...]:
        """Store admitted events in one transaction, in order.

        The same id with the same bytes is stored once; with other bytes it is an ID_CONFLICT and changes nothing.
        """
        with self.writing() as connection:
            return _Ingest(connection, micros(now)).store(events)

    def quarantine(self, refusals: Iterable[tuple[bytes, Refusal]], *, channel: str, now: datetime) -> None:
        """Keep bytes of an unknown kind aside; they are no events and are never guessed into one."""
        rows = [
            {
                "raw": raw,
                "code": refusal.finding.code.name,
                "detail": refusal.finding.found,
                "channel": channel,
                "at": micros(now),
            }
            for raw, refusal in refusals
        ]
        if rows:
            with self.writing() as connection:
                connection.execute(insert(QUARANTINE), rows)


class _Ingest:
    """One transaction of new events: knows the end of the chain, and writes all rows at once."""

    def __init__(self, connection: Connection, at: int) -> None:
        self._connection = connection
        self._at = at
        newest = select(EVENTS.c.seq, EVENTS.c.link).order_by(EVENTS.c.seq.desc()).limit(1)
        last = connection.execute(newest).one_or_none()
        self._seq, self._link = (int(last[0]), bytes(last[1])) if last else (0, FIRST_LINK)
        self._projection = projection_id()
        self._taken: dict[str, str] = {}
        self._rows: tuple[list[dict[str, Any]], ...] = ([], [], [])

    def store(self, given: Sequence[RawEvent]) -> tuple[Stored, ...]:
        """Store events in order; an id that is taken is told apart by its bytes."""
        ids = [each.id for each in given]
        for first in range(0, len(ids), ID_BLOCK):
            held = select(EVENTS.c.id, EVENTS.c.raw_digest).where(EVENTS.c.id.in_(ids[first : first + ID_BLOCK]))
            self._taken.update((row[0], row[1]) for row in self._connection.execute(held))
        outcomes = tuple(self._one(each) for each in given)
        for table, rows in zip((EVENTS, BODIES, PROJECTIONS), self._rows, strict=True):
            if rows:
                self._connection.execute(insert(table), rows)
        return outcomes

    def _one(self, given: RawEvent) -> Stored:
        digest = given.digest
        if given.id in self._taken:
            return Stored.SAME if self._taken[given.id] == digest else Stored.ID_CONFLICT
        self._taken[given.id] = digest
        salt = secrets.token_bytes(SALT_BYTES)
        self._seq += 1
        commit = commit_of(salt, given.raw)
        self._link = link_of(self._link, self._seq, given.id, commit)
        events, bodies, projections = self._rows
        events.append(
            {
                "seq": self._seq,
                "id": given.id,
                "kind": given.kind.value,
                "session": given.session,
                "occurred_at": micros(given.occurred_at),
                "ingested_at": self._at,
                "class_at_ingest": CLASSES[given.kind].value,
                "state": State.WHOLE.value,
                "row_version": 1,
                "salt": salt,
                "commit_digest": commit,
                "link": self._link,
                "raw_digest": digest,
                "raw_bytes": len(given.raw),
            }
        )
        bodies.append({"seq": self._seq, "body": given.raw})
        projections.append({"seq": self._seq, "projection": self._projection, **_projected(given)})
        return Stored.STORED


def _projected(given: RawEvent) -> dict[str, Any]:
    made = project(given.value)
    if not isinstance(made, Projection):
        return {"core_digest": None, "core_bytes": 0, "stripped": json.dumps(made.path)}
    core = made.core_bytes()
    stripped = json.dumps([[each.path, each.size, each.why.value] for each in made.stripped], separators=(",", ":"))
    return {"core_digest": hashlib.sha256(core).digest(), "core_bytes": len(core), "stripped": stripped}


def _engine(path: Path, *, read_only: bool) -> Engine:
    """Open connections that begin explicitly: a writer takes the lock at once, a reader cannot write at all."""
    mode = "ro" if read_only else "rwc"
    engine = create_engine(f"sqlite:///file:{quote(str(path))}?mode={mode}&uri=true", poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def _connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        if read_only:
            connection.execute("PRAGMA query_only = ON")
            return
        # The answer is read: an unread failure to change the mode would go unnoticed.
        (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if journal != "wal":
            raise CannotLookError("STORE_JOURNAL", f"the store cannot keep a write-ahead log here ({journal})")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    return engine


@contextmanager
def _named(folder: Path) -> Iterator[None]:
    """Turn what the database says into a refusal with a name; nothing was stored."""
    try:
        yield
    except IntegrityError as error:
        raise RefusedError("STORE_REFUSED", str(error.orig), where=str(folder), hint="nothing was stored") from error
    except OperationalError as error:
        said = str(error.orig)
        if "locked" in said or "busy" in said:
            raise BusyError(
                "STORE_BUSY", "another writer holds the store", where=str(folder), hint="try again"
            ) from error
        raise CannotLookError("STORE_UNREADABLE", said, where=str(folder), hint="nothing was stored") from error
    except DBAPIError as error:
        raise CannotLookError("STORE_UNREADABLE", str(error.orig), where=str(folder)) from error
