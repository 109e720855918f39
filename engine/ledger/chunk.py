"""What does one stretch of a ledger say, before its neighbours are known?

Every row's check needs its own line and the claimed chain of the chained row before it, so a file splits into
chunks that are walked on their own (in other processes, or remembered from the last time) and merged afterwards.
What depends on the rows before a chunk is kept open here: rows without a chain at its start, and the link of its
first chained row. A chunk alone proves nothing about the ledger.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(slots=True)
class Event:
    """One finding inside a chunk: line, name of its code, claimed and recomputed text, detail, fork (row in chunk)."""

    line: int
    code: str
    claimed: str = ""
    found: str = ""
    note: str = ""
    declared_elsewhere: bool = False
    """A declaration names this line but pins other bytes."""
    fork_row: int | None = None


@dataclass(slots=True)
class FirstRow:
    """The first chained row of a chunk, whose link only the merge can check."""

    line: int
    body: str
    """Latin-1 reading of the body bytes, so that a chunk can be kept as JSON."""
    claimed: str
    why: str | None
    """Reason of the declaration that pins this row, or None."""
    declared_elsewhere: bool


@dataclass(slots=True)
class Chunk:
    """The walk over one stretch; see `engine.ledger.merge` for what the open parts mean."""

    first_line: int
    lines: int = 0
    rows: int = 0
    chained: int = 0
    lead_rows: int = 0
    """Rows without a chain before the first chained row of the chunk."""
    lead_breaks: int = 0
    lead_events: list[Event] = field(default_factory=list)
    lead_declared: list[tuple[int, str]] = field(default_factory=list)
    lead_resume: str | None = None
    """Where the last excused lead row resumes; only meant when the chain began in an earlier chunk."""
    first: FirstRow | None = None
    head: str | None = None
    """Claimed chain of the last chained row."""
    previous: str | None = None
    """What the next chained row must link to; None when the chunk has no chained row, or when it is not known."""
    unknown: bool = False
    """A line that was not looked at stands after the last chained row."""
    breaks: int = 0
    """Breaks in the reference's sense."""
    own_breaks: int = 0
    """Breaks of our own (invalid UTF-8)."""
    limits: int = 0
    events: list[Event] = field(default_factory=list)
    declared: list[tuple[int, str]] = field(default_factory=list)
    not_as_written: int | None = None
    """First line whose bytes are not those of the format's writer."""
    unfinished: int | None = None
    """Number of a last line without a line end that is no row."""
    ends_without_newline: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Chunk:
        """Rebuild a chunk; raises `TypeError` or `KeyError` for a value that is none."""
        if set(value) != {f.name for f in fields(cls)}:
            raise KeyError("not a chunk")
        copy = dict(value)
        for name in ("lead_events", "events"):
            copy[name] = [Event(**event) for event in copy[name]]
        for name in ("lead_declared", "declared"):
            copy[name] = [(int(line), str(why)) for line, why in copy[name]]
        copy["first"] = None if copy["first"] is None else FirstRow(**copy["first"])
        return cls(**copy)
