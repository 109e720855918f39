"""What was found, where, and how far does the answer reach?

A check answers with a `Result` and a scope (a stable word). A `Finding` is one thing seen at one place; its text is
made at the edge from its `Code`. Results never average: the worst one counts, and "could not look" is never a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from engine.errors import EXIT_CANNOT_LOOK, EXIT_FAILS, EXIT_HOLDS


class Result(StrEnum):
    """The answer of one check."""

    HOLDS = "HOLDS"
    """Everything in the scope was recomputed and agrees."""
    BOUNDED = "BOUNDED"
    """True within the named scope, which is smaller than the question."""
    FAILS = "FAILS"
    """At least one recomputed value disagrees with the claim."""
    COULD_NOT_LOOK = "COULD_NOT_LOOK"
    """Nothing was checked, or the check could not be finished; never a pass, never an accusation."""


_WORST_FIRST = (Result.FAILS, Result.COULD_NOT_LOOK, Result.BOUNDED, Result.HOLDS)


def worst(results: Iterable[Result]) -> Result:
    """Return the worst of several results; of none, COULD_NOT_LOOK (nothing checked is not a pass)."""
    seen = set(results)
    return next((result for result in _WORST_FIRST if result in seen), Result.COULD_NOT_LOOK)


def exit_code(result: Result) -> int:
    """Return the process exit code: 0 holds in full scope, 1 fails, 3 bounded or could not look."""
    match result:
        case Result.HOLDS:
            return EXIT_HOLDS
        case Result.FAILS:
            return EXIT_FAILS
        case Result.BOUNDED | Result.COULD_NOT_LOOK:
            return EXIT_CANNOT_LOOK
        case _:
            assert_never(result)


class Severity(StrEnum):
    """How a finding bears on the result of its check."""

    BREAK = "break"
    """Makes the result FAILS."""
    LIMIT = "limit"
    """A place that could not be looked at; makes the result at best COULD_NOT_LOOK."""
    NOTICE = "notice"
    """Worth reading; leaves the result as it is, or bounds it when the check says so."""


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding: stable name, severity, one plain sentence, and what to do.

    Subjects declare theirs as module constants beside the check that uses them; names are unique in the engine.
    """

    name: str
    severity: Severity
    sentence: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing seen: kind, place, what was claimed and what was recomputed.

    `line` is 1-based; `field` is a dotted path; `claimed` and `found` are short texts, already cut to a displayable
    length by the check, still foreign text that a screen must treat as hostile. `note` carries foreign detail.
    """

    code: Code
    line: int | None = None
    field: str = ""
    claimed: str = ""
    found: str = ""
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form (`code, severity, line, field, claimed, found, note, sentence`)."""
        return {
            "code": self.code.name,
            "severity": self.code.severity.value,
            "line": self.line,
            "field": self.field,
            "claimed": self.claimed,
            "found": self.found,
            "note": self.note,
            "sentence": self.code.sentence,
        }


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long check has come: a step name, done and total in `unit` (total 0 when unknown)."""

    step: str
    done: int
    total: int
    unit: str = "bytes"


OnProgress = Callable[[Progress], None]
IsCancelled = Callable[[], bool]


class CancelledError(Exception):
    """Raised inside a check when its caller cancelled it; holds no partial result on purpose."""


def ignore_progress(_: Progress) -> None:
    """Take a progress report and do nothing."""


def never_cancelled() -> bool:
    """Answer that nobody cancelled."""
    return False


@dataclass(frozen=True, slots=True)
class Watch:
    """How a long check tells its caller where it is, and how the caller stops it."""

    on_progress: OnProgress = ignore_progress
    is_cancelled: IsCancelled = never_cancelled

    def step(self, name: str, done: int, total: int, unit: str = "bytes") -> None:
        """Report progress; raises `CancelledError` when the caller cancelled."""
        if self.is_cancelled():
            raise CancelledError
        self.on_progress(Progress(name, done, total, unit))


UNWATCHED = Watch()
