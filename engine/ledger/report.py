"""What does a walk over a ledger report?

Values only. `reference` carries exactly the fields of the format's reference verifier; everything else is ours. A
green report proves that the rows read are the rows chained, in order; it does not prove that no rows were cut off
the end (that takes a pin), nor that what the rows say is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.findings import Finding, Result

GENESIS = "genesis"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds counted before parsing; a line past one is reported as could-not-look, never as tampering."""

    nesting: int = 512
    line_bytes: int = 16 * 1024 * 1024
    findings: int = 4096
    """Findings kept in full; `ChainReport.breaks_total` keeps counting."""


@dataclass(frozen=True, slots=True)
class Rules:
    """By which rules a ledger is walked: strict accepts no skipped row and honours no declaration."""

    strict: bool = False
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class ReferenceFields:
    """The reference verifier's answer, field by field."""

    ok: bool | None
    rows: int
    chained: int
    prechain: int
    first_break: str | None
    breaks: int
    verified_scope: str
    declared_breaks: int
    declared: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the fields as the reference prints them."""
        return {
            "ok": self.ok,
            "rows": self.rows,
            "chained": self.chained,
            "prechain": self.prechain,
            "first_break": self.first_break,
            "breaks": self.breaks,
            "verified_scope": self.verified_scope,
            "declared_breaks": self.declared_breaks,
            "declared": list(self.declared),
        }


class Tail(StrEnum):
    """How the file ends."""

    COMPLETE = "complete"
    """The last line ends with a newline, or the file is empty."""
    NO_NEWLINE = "no_newline"
    """The last line is a whole row without a newline."""
    UNFINISHED = "unfinished"
    """The last line has no newline and is no row: perhaps still being written, not proof of tampering."""


@dataclass(frozen=True, slots=True)
class BytesAsWritten:
    """Whether every line holds the very bytes the format's writer would have written for its row.

    `yes` is None when nothing was compared. A "no" with an intact chain means same meaning, other bytes.
    """

    yes: bool | None
    first_line: int | None = None


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The whole answer of one walk.

    `result` folds everything: FAILS with any break, COULD_NOT_LOOK when a limit stopped the look at a line or there
    is nothing to check, BOUNDED when rows were skipped or excused, else HOLDS. `head` is the claimed chain of the last
    chained row as this walk saw it (`genesis` when there is none), `lines` counts blank ones too.
    """

    name: str
    sha256: str
    size: int
    strict: bool
    result: Result
    scope: str
    reference: ReferenceFields
    findings: tuple[Finding, ...]
    breaks_total: int
    lines: int
    head: str
    tail: Tail
    bytes_as_written: BytesAsWritten
    limits: Limits
