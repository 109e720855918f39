"""What was looked at, with which filter, and by which engine?

Every export carries this beside its rows. It names digests and counts so that another person can check the same
bytes; it is not signed, so it proves nothing by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine import __version__
from engine.clock import Clock, format_time, utc_now

SCHEMA = "winnow:export:v1"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Head of an export: kind, source digests, filter, count, heads and results."""

    kind: str
    sources: tuple[tuple[str, str, int], ...]
    """Name, SHA-256 and size in bytes of each file."""
    count: int
    filter: dict[str, str] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    stamp: str = ""
    """A sentence that must stand on every part of the export, such as that the ledger is broken."""
    made_at: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the manifest as plain values."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "engine": __version__,
            "made_at": self.made_at,
            "sources": [{"name": n, "sha256": s, "bytes": b} for n, s, b in self.sources],
            "filter": self.filter,
            "count": self.count,
            "results": self.results,
            "heads": self.heads,
            "stamp": self.stamp,
        }


def made_at(clock: Clock = utc_now) -> str:
    """Return the time of making as text."""
    return format_time(clock())
