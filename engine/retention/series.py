"""Which share of the pins was kept, round by round, class by class?

Four readings of "kept", never one pooled number: each class has its own line, critical pins apart. Pins of a round that
could not be read stand beside the count as unverifiable; they are neither kept nor lost. What a line does not prove:
that the pins are a fair sample of the rules, or that a kept rule was obeyed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.retention.intervals import Figure, Share, figure
from engine.retention.rows import RoundFacts, Row
from engine.spans.classify import SpanClass
from engine.spans.judge import Verdict

HALF = 0.5


class Measure(StrEnum):
    """What counts as kept."""

    KEPT = "kept"
    """PRESERVED outside a re-injected block: the headline."""
    KEPT_LOOSELY = "kept_loosely"
    """Kept, or DEGRADED with at least half of the words in one place."""
    LITERAL = "literal"
    """PRESERVED or DEGRADED, the letter of the policy; it flatters long texts."""
    PRESENT = "present"
    """Kept, or carried by a re-injected block: what the agent could read."""

    def holds(self, row: Row) -> bool:
        """Say whether a row counts."""
        return _READ[self](row)


_READ: Mapping[Measure, Callable[[Row], bool]] = {
    Measure.KEPT: lambda row: row.kept,
    Measure.KEPT_LOOSELY: lambda row: row.kept_loosely,
    Measure.LITERAL: lambda row: row.literal,
    Measure.PRESENT: lambda row: row.present,
}


class GroupBy(StrEnum):
    """What sessions are put together by."""

    NONE = "none"
    COMPACTOR = "compactor"
    METHOD = "method"
    MODEL = "model"
    SESSION = "session"

    def of(self, row: Row | RoundFacts) -> str:
        """Return the group of a row."""
        return "all" if self is GroupBy.NONE else str(getattr(row, self.value))


class LineOf(StrEnum):
    """Which pins a line counts."""

    CRITICAL = "critical"
    INVARIANT = "INVARIANT"
    FACT = "FACT"

    def holds(self, row: Row) -> bool:
        """Say whether a row belongs to the line; critical pins are INVARIANT as well."""
        return row.critical if self is LineOf.CRITICAL else row.cls is SpanClass(self.value)


@dataclass(frozen=True, slots=True)
class Point:
    """One round of one line: the figure, and how many pins could not be verified or were judged on part of a text."""

    round: int
    figure: Figure
    unverifiable: int
    bounded: int

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "round": self.round,
            **self.figure.as_json(),
            "unverifiable": self.unverifiable,
            "bounded": self.bounded,
        }


@dataclass(frozen=True, slots=True)
class Line:
    """One class over the rounds; `cliff` is the first round below half, None when there is none or too few pins."""

    of: LineOf
    measure: Measure
    points: tuple[Point, ...]

    @property
    def cliff(self) -> int | None:
        """Return the first round with a share below one half."""
        shares = ((each.round, each.figure) for each in self.points)
        return next((number for number, found in shares if isinstance(found, Share) and found.value < HALF), None)

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        points = [each.as_json() for each in self.points]
        return {"of": self.of.value, "measure": self.measure.value, "cliff": self.cliff, "points": points}


def grouped(rows: Iterable[Row], by: GroupBy) -> dict[str, tuple[Row, ...]]:
    """Return the rows of each group, groups in the order of their names."""
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[by.of(row)].append(row)
    return {name: tuple(groups[name]) for name in sorted(groups)}


def lines(rows: Sequence[Row], measure: Measure) -> tuple[Line, ...]:
    """Return a line for every class that has a pin, critical first."""
    made = []
    for of in LineOf:
        chosen = [row for row in rows if of.holds(row)]
        if chosen:
            made.append(Line(of, measure, points(chosen, measure)))
    return tuple(made)


def points(rows: Sequence[Row], measure: Measure) -> tuple[Point, ...]:
    """Return one point for each round that has a pin, verified or not."""
    by_round: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_round[row.round].append(row)
    return tuple(_point(number, by_round[number], measure) for number in sorted(by_round))


def _point(number: int, rows: Sequence[Row], measure: Measure) -> Point:
    verified = [row for row in rows if row.verdict is not None]
    pins = Counter(row.session for row in verified)
    kept = Counter(row.session for row in verified if measure.holds(row))
    counts = [(kept[session], pins[session]) for session in sorted(pins)]
    return Point(number, figure(counts), len(rows) - len(verified), sum(row.bounded for row in verified))


@dataclass(frozen=True, slots=True)
class Gap:
    """One round: what the compactor kept beside what the agent could read; the gap is what a block carries.

    `words` is what the block cost in the round, `carried` the pins that the compactor copied out of the last block.
    """

    round: int
    kept: Figure
    present: Figure
    block_only: int
    carried: int
    recovered: int
    words: int

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "round": self.round,
            "kept": self.kept.as_json(),
            "present": self.present.as_json(),
            "block_only": self.block_only,
            "carried_from_block": self.carried,
            "recovered": self.recovered,
            "block_words": self.words,
        }


def gaps(rows: Sequence[Row], facts: Iterable[RoundFacts]) -> tuple[Gap, ...]:
    """Return the two readings of every round side by side, over all classes."""
    cost: Counter[int] = Counter()
    for fact in facts:
        cost[fact.round] += fact.block_words
    back = Counter(flow.round for flow in transitions(rows) if flow.recovered for _ in range(flow.count))
    kept, present = points(rows, Measure.KEPT), points(rows, Measure.PRESENT)
    made = []
    for one, other in zip(kept, present, strict=True):
        there = [row for row in rows if row.round == one.round]
        only = sum(row.in_block and not row.kept for row in there)
        carried = sum(row.carried_from_block for row in there)
        made.append(Gap(one.round, one.figure, other.figure, only, carried, back[one.round], cost[one.round]))
    return tuple(made)


@dataclass(frozen=True, slots=True)
class Flow:
    """How many pins went from one verdict to another between a round and the one before; None is unverifiable.

    `recovered` says that a damaged pin stands whole again, `from_block` that the block of the round before held it.
    """

    round: int
    before: Verdict | None
    after: Verdict | None
    from_block: bool
    count: int

    @property
    def recovered(self) -> bool:
        """Whether it is a damaged pin that came back."""
        return self.before in {Verdict.DEGRADED, Verdict.LOST} and self.after is Verdict.PRESERVED

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "round": self.round,
            "before": self.before.value if self.before else "UNVERIFIABLE",
            "after": self.after.value if self.after else "UNVERIFIABLE",
            "recovered": self.recovered,
            "from_block": self.from_block,
            "count": self.count,
        }


def transitions(rows: Iterable[Row]) -> tuple[Flow, ...]:
    """Count what became of each pin from one round to the next."""
    last: dict[tuple[str, str], Row] = {}
    counts: Counter[tuple[int, str, str, bool]] = Counter()
    for row in sorted(rows, key=lambda each: (each.session, each.pin, each.round)):
        before = last.get((row.session, row.pin))
        if before is not None and before.round == row.round - 1:
            counts[row.round, _word(before.verdict), _word(row.verdict), row.carried_from_block] += 1
        last[row.session, row.pin] = row
    return tuple(
        Flow(number, Verdict(before) if before else None, Verdict(after) if after else None, block, count)
        for (number, before, after, block), count in sorted(counts.items())
    )


def _word(verdict: Verdict | None) -> str:
    return verdict.value if verdict else ""


@dataclass(frozen=True, slots=True)
class Spent:
    """One round of one session: the share of the words that was kept, beside how many pins were.

    Words of the context, not tokens: tokenisers differ by model, words do not.
    """

    session: str
    group: str
    round: int
    words_before: int
    words_after: int
    kept: int
    pins: int

    @property
    def words_share(self) -> float | None:
        """Return words after against words before; None without words before."""
        return self.words_after / self.words_before if self.words_before else None

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "session": self.session,
            "group": self.group,
            "round": self.round,
            "words_before": self.words_before,
            "words_after": self.words_after,
            "words_share": self.words_share,
            "kept": self.kept,
            "pins": self.pins,
        }


def spent(rows: Iterable[Row], facts: Iterable[RoundFacts], by: GroupBy) -> tuple[Spent, ...]:
    """Return a point for every round with a verified pin; two compactors compare fairly only at one budget."""
    pins: Counter[tuple[str, int]] = Counter()
    kept: Counter[tuple[str, int]] = Counter()
    for row in rows:
        if row.verdict is not None:
            pins[row.session, row.round] += 1
            kept[row.session, row.round] += row.kept
    return tuple(
        Spent(
            fact.session,
            by.of(fact),
            fact.round,
            fact.words_before,
            fact.words_after,
            kept[fact.session, fact.round],
            pins[fact.session, fact.round],
        )
        for fact in facts
        if pins[fact.session, fact.round]
    )
