"""Which rows do the figures count?

One row per session, compactor, method, model, round and pin, made from audited sessions. A round that could not be
read gives rows without a verdict: unverifiable, never LOST. Rows say what stood in a text, not what a model obeyed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from engine.spans.classify import SpanClass
from engine.spans.evidence import Flag, FoundIn
from engine.spans.judge import Verdict
from engine.spans.session import RoundAudit, SessionAudit

DIGITS = 8
"""Of a file's digest, behind the id of sessions that share one."""


@dataclass(frozen=True, slots=True)
class Row:
    """One pin after one round; `verdict` is that on the body (None: unverifiable)."""

    session: str
    compactor: str
    method: str
    model: str
    round: int
    pin: str
    text: str
    cls: SpanClass
    critical: bool
    verdict: Verdict | None
    window_found: int = 0
    window_total: int = 0
    in_block: bool = False
    carried_from_block: bool = False
    """In the body, and in the block of the round before: the compactor may only have copied it from there."""
    bounded: bool = False
    """The text that was judged may not be all that the model saw."""
    flags: tuple[Flag, ...] = ()
    found_in: tuple[FoundIn, ...] = ()

    @property
    def kept(self) -> bool:
        """PRESERVED in the body: the headline measure."""
        return self.verdict is Verdict.PRESERVED

    @property
    def kept_loosely(self) -> bool:
        """Kept, or DEGRADED with at least half of its features in one place."""
        return self.kept or (self.verdict is Verdict.DEGRADED and 2 * self.window_found >= self.window_total)

    @property
    def literal(self) -> bool:
        """PRESERVED or DEGRADED, the widest reading; misleading for long texts."""
        return self.verdict in {Verdict.PRESERVED, Verdict.DEGRADED}

    @property
    def present(self) -> bool:
        """PRESERVED in anything the model sees, a re-injected block included."""
        return self.kept or self.in_block


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """One round of one session beside its rows: words before and after, words of the block, and why it is unread."""

    session: str
    compactor: str
    method: str
    model: str
    round: int
    words_before: int
    words_after: int
    block_words: int
    unverifiable: str = ""

    @property
    def kept_share(self) -> float | None:
        """Return words after against words before; None without words before."""
        return self.words_after / self.words_before if self.words_before else None


def distinct(sessions: Iterable[SessionAudit]) -> tuple[SessionAudit, ...]:
    """Return sessions that can be counted side by side: of equal files the first, and no name twice.

    A session that was resumed can lie in two files under one id; these stay two, told apart by their digests.
    """
    by_file = {session.digest or session.source: session for session in reversed(tuple(sessions))}
    kept = tuple(reversed(by_file.values()))
    names = Counter(session.session for session in kept)
    return tuple(
        replace(session, session=f"{session.session} {session.digest[:DIGITS]}")
        if names[session.session] > 1
        else session
        for session in kept
    )


def rows_of(sessions: Iterable[SessionAudit]) -> tuple[Row, ...]:
    """Return the rows of audited sessions, in order of session, round and pin."""
    return tuple(row for session in sessions for each in session.rounds for row in _rows(session, each))


def facts_of(sessions: Iterable[SessionAudit]) -> tuple[RoundFacts, ...]:
    """Return what is known of each round beside its rows."""
    return tuple(
        RoundFacts(
            session.session,
            session.compactor,
            each.method,
            each.model,
            each.index,
            each.words_before,
            each.words_after,
            each.block_words,
            each.why_not,
        )
        for session in sessions
        for each in session.rounds
    )


def _rows(session: SessionAudit, each: RoundAudit) -> Iterator[Row]:
    head = (session.session, session.compactor, each.method, each.model, each.index)
    judged = {entry.pin.id: entry for entry in each.audit.spans} if each.audit else {}
    before = _in_block(session, each.index - 1)
    for pin in session.pins_in(each.index):
        found = judged.get(pin.id)
        if found is None:
            yield Row(*head, pin.id, pin.text, pin.cls, pin.critical, None)
            continue
        window = found.evidence.window
        yield Row(
            *head,
            pin.id,
            pin.text,
            pin.cls,
            pin.critical,
            found.body,
            window.found if window else 0,
            window.total if window else 0,
            found.in_block,
            carried_from_block=found.body is Verdict.PRESERVED and pin.id in before,
            bounded=bool(each.bounded),
            flags=found.evidence.flags,
            found_in=found.evidence.found_in,
        )


def _in_block(session: SessionAudit, number: int) -> frozenset[str]:
    """Return the pins that the block of a round carried."""
    for each in session.rounds:
        if each.index == number and each.audit is not None:
            return frozenset(entry.pin.id for entry in each.audit.spans if entry.in_block)
    return frozenset()
