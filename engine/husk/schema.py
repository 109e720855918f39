"""Which tables does a store have?

Payloads lie in a table of their own, so that a plan over a million events reads columns only. The triggers repeat what
the gate and the executor promise, for whoever writes past them; someone who may drop a trigger is not stopped.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, MetaData, String, Table, Text, event
from sqlalchemy.engine import Connection

SCHEMA_VERSION = 1

METADATA = MetaData()

META = Table("meta", METADATA, Column("key", String, primary_key=True), Column("value", String, nullable=False))

EVENTS = Table(
    "events",
    METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("id", String, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("session", String, nullable=False),
    Column("occurred_at", Integer, nullable=False),  # microseconds since 1970, as the producer claims
    Column("ingested_at", Integer, nullable=False),  # microseconds since 1970, ours
    Column("class_at_ingest", String, nullable=False),
    Column("state", String, nullable=False),
    Column("row_version", Integer, nullable=False),
    Column("salt", LargeBinary, nullable=False),
    Column("commit_digest", LargeBinary, nullable=False),
    Column("link", LargeBinary, nullable=False),
    Column("raw_digest", String, nullable=False),
    Column("raw_bytes", Integer, nullable=False),
    Column("segment", String),
    Column("segment_n", Integer),
    Column("husk_segment", String),
    Column("husk_n", Integer),
    sqlite_autoincrement=True,
)
Index("events_by_session", EVENTS.c.session)
Index("events_by_state", EVENTS.c.state)

BODIES = Table(
    "bodies", METADATA, Column("seq", Integer, primary_key=True), Column("body", LargeBinary, nullable=False)
)

PROJECTIONS = Table(
    "projections",
    METADATA,
    Column("seq", Integer, primary_key=True),
    Column("projection", String, nullable=False),
    Column("core_digest", LargeBinary),  # empty when the event cannot be projected
    Column("core_bytes", Integer, nullable=False),
    Column("stripped", Text, nullable=False),  # JSON: [[path, bytes, why], …], or the path that cannot be projected
)

QUARANTINE = Table(
    "quarantine",
    METADATA,
    Column("n", Integer, primary_key=True, autoincrement=True),
    Column("raw", LargeBinary, nullable=False),
    Column("code", String, nullable=False),
    Column("detail", String, nullable=False),
    Column("channel", String, nullable=False),
    Column("at", Integer, nullable=False),
)

HOLDS = Table(
    "holds",
    METADATA,
    Column("id", String, primary_key=True),
    Column("target", String, nullable=False),  # event | session | kind
    Column("value", String, nullable=False),
    Column("why", String, nullable=False),  # legal | dataset | exemplars | dispute | audit
    Column("reason", String, nullable=False),
    Column("placed_by", String, nullable=False),
    Column("placed_at", Integer, nullable=False),
)

POLICIES = Table(
    "policies",
    METADATA,
    Column("version", Integer, primary_key=True),
    Column("body", Text, nullable=False),
    Column("digest", String, nullable=False),
    Column("saved_by", String, nullable=False),
    Column("saved_at", Integer, nullable=False),
)

JOBS = Table(
    "jobs",
    METADATA,
    Column("plan_id", String, primary_key=True),
    Column("verb", String, nullable=False),  # compact | unseal
    Column("mode", String, nullable=False),
    Column("state", String, nullable=False),
    Column("attempt", String, nullable=False),
    Column("executor", String, nullable=False),
    Column("started_at", Integer, nullable=False),
    Column("execute_before", Integer, nullable=False),
    Column("batches", Integer, nullable=False),
    Column("detail", Text, nullable=False),
)

BATCHES = Table(
    "batches",
    METADATA,
    Column("plan_id", String, primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("state", String, nullable=False),  # open | sealed | swapped | void
    Column("segment", String),
    Column("husk_segment", String),
    Column("detail", Text, nullable=False),
)

SPENT = Table(
    "spent",
    METADATA,
    Column("nonce", String, primary_key=True),
    Column("plan_id", String, nullable=False),
    Column("at", Integer, nullable=False),
)

VETOES = Table(
    "vetoes",
    METADATA,
    Column("plan_id", String, primary_key=True),
    Column("by", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("at", Integer, nullable=False),
)

LEASE = Table(
    "lease",
    METADATA,
    Column("name", String, primary_key=True),
    Column("token", Integer, nullable=False),
    Column("holder", String, nullable=False),
    Column("until", Integer, nullable=False),
)

CHANGES = Table("changes", METADATA, Column("name", String, primary_key=True), Column("count", Integer, nullable=False))
"""Counters that move with every change of events, holds and policies: equal counters mean nothing was touched."""

_TRIGGERS = (
    """CREATE TRIGGER events_come_whole BEFORE INSERT ON events
    WHEN NEW.state <> 'whole' OR NEW.segment IS NOT NULL OR NEW.husk_segment IS NOT NULL OR NEW.row_version <> 1
    BEGIN SELECT RAISE(ABORT, 'FORGED_STAMP'); END""",
    """CREATE TRIGGER events_keep_identity BEFORE UPDATE OF seq, id, kind, occurred_at, ingested_at, class_at_ingest,
    salt, commit_digest, link, raw_digest, raw_bytes ON events
    BEGIN SELECT RAISE(ABORT, 'EVENT_IMMUTABLE'); END""",
    "CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'EVENT_IMMUTABLE'); END",
    """CREATE TRIGGER bodies_carry_no_stamp BEFORE INSERT ON bodies
    WHEN EXISTS (SELECT 1 FROM json_each(CAST(NEW.body AS TEXT)) WHERE lower(key) IN ('husk','facts','payloadstate'))
    BEGIN SELECT RAISE(ABORT, 'FORGED_STAMP'); END""",
    "CREATE TRIGGER bodies_stay BEFORE DELETE ON bodies BEGIN SELECT RAISE(ABORT, 'EVENT_IMMUTABLE'); END",
    """CREATE TRIGGER count_events AFTER UPDATE ON events
    BEGIN UPDATE changes SET count = count + 1 WHERE name = 'events'; END""",
    """CREATE TRIGGER count_new_holds AFTER INSERT ON holds
    BEGIN UPDATE changes SET count = count + 1 WHERE name = 'holds'; END""",
    """CREATE TRIGGER count_gone_holds AFTER DELETE ON holds
    BEGIN UPDATE changes SET count = count + 1 WHERE name = 'holds'; END""",
    """CREATE TRIGGER count_policies AFTER INSERT ON policies
    BEGIN UPDATE changes SET count = count + 1 WHERE name = 'policies'; END""",
    "INSERT INTO changes (name, count) VALUES ('events', 0), ('holds', 0), ('policies', 0)",
)


@event.listens_for(METADATA, "after_create")
def _triggers(_target: MetaData, connection: Connection, **_: object) -> None:
    for statement in _TRIGGERS:
        connection.exec_driver_sql(statement)
