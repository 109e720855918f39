"""What do all figures of some audited sessions say together?

One value that the command prints and the page draws, so that both show the same numbers; nothing is computed later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from engine.retention.compare import Comparison, compare
from engine.retention.rows import RoundFacts, Row, distinct, facts_of, rows_of
from engine.retention.series import Flow, Gap, GroupBy, Line, Measure, Spent, gaps, grouped, lines, spent, transitions
from engine.retention.survival import Loss, Survival, first_losses, survival
from engine.spans.session import SessionAudit

MOST_GROUPS = 12
"""Groups that are compared with one another; more would be comparing at random."""


@dataclass(frozen=True, slots=True)
class Group:
    """All figures of one group of sessions."""

    name: str
    sessions: int
    rows: tuple[Row, ...]
    lines: tuple[Line, ...]
    gaps: tuple[Gap, ...]
    survival: Survival
    flows: tuple[Flow, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "name": self.name,
            "sessions": self.sessions,
            "lines": [each.as_json() for each in self.lines],
            "kept_and_present": [each.as_json() for each in self.gaps],
            "survival": self.survival.as_json(),
            "transitions": [each.as_json() for each in self.flows],
        }


@dataclass(frozen=True, slots=True)
class Retention:
    """Every figure over some sessions, by group."""

    by: GroupBy
    measure: Measure
    loss: Loss
    rows: tuple[Row, ...]
    facts: tuple[RoundFacts, ...]
    groups: tuple[Group, ...]
    budgets: tuple[Spent, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def unverifiable(self) -> int:
        """Return how many rows have no verdict."""
        return sum(row.verdict is None for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "by": self.by.value,
            "measure": self.measure.value,
            "loss": self.loss.value,
            "rows": len(self.rows),
            "unverifiable": self.unverifiable,
            "groups": [each.as_json() for each in self.groups],
            "budgets": [each.as_json() for each in self.budgets],
            "comparisons": [each.as_json() for each in self.comparisons],
        }


def retention(
    sessions: Sequence[SessionAudit],
    *,
    by: GroupBy = GroupBy.COMPACTOR,
    measure: Measure = Measure.KEPT,
    loss: Loss = Loss.NOT_KEPT,
) -> Retention:
    """Compute every figure of audited sessions; copies of a file count once."""
    counted = distinct(sessions)
    return figures(rows_of(counted), facts_of(counted), by=by, measure=measure, loss=loss)


def figures(
    rows: Iterable[Row],
    facts: Iterable[RoundFacts],
    *,
    by: GroupBy = GroupBy.COMPACTOR,
    measure: Measure = Measure.KEPT,
    loss: Loss = Loss.NOT_KEPT,
) -> Retention:
    """Compute every figure of rows and the facts of their rounds; a page gives those its filters leave."""
    all_rows, all_facts = tuple(rows), tuple(facts)
    parts = grouped(all_rows, by)
    gone = first_losses(all_rows, loss)
    unkept = gone if loss is Loss.NOT_KEPT else first_losses(all_rows)
    groups = tuple(
        _group(name, part, [fact for fact in all_facts if by.of(fact) == name], measure, survival(part, loss, gone))
        for name, part in parts.items()
    )
    pairs = list(combinations(parts.items(), 2)) if len(parts) <= MOST_GROUPS else []
    return Retention(
        by,
        measure,
        loss,
        all_rows,
        all_facts,
        groups,
        spent(all_rows, all_facts, by),
        tuple(compare(one, other, all_facts, unkept) for one, other in pairs),
    )


def _group(name: str, rows: tuple[Row, ...], facts: Iterable[RoundFacts], measure: Measure, curve: Survival) -> Group:
    return Group(
        name,
        len({row.session for row in rows}),
        rows,
        lines(rows, measure),
        gaps(rows, facts),
        curve,
        transitions(rows),
    )
