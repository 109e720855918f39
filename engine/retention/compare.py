"""Did one compactor keep more than another, and is that more than chance?

With the same pins under both, McNemar's exact test on those that only one of them kept; with different pins, the
log-rank test on first losses and Newcombe's interval of the difference. Without equal budgets there is no ranking:
whoever keeps more words keeps more rules. A small p says that chance is a poor explanation, not which cause is right.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from scipy import stats

from engine.retention.intervals import FEWEST_PINS, newcombe
from engine.retention.rows import RoundFacts, Row
from engine.retention.survival import Lifetime, Loss, PinOf, censored, lifetimes

EQUAL_BUDGETS = 0.05
"""Shares of words kept that differ by no more than this count as one budget."""


class Answer(StrEnum):
    """Which test answers."""

    MCNEMAR = "McNemar, exact"
    LOG_RANK = "log-rank"
    NONE = "too few pins"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two groups: the test, its p, what was counted, and whether the budgets allow a ranking.

    Paired: `only_first` and `only_second` are the pins of the last common round that one group alone kept. Unpaired:
    `difference` is first minus second of the shares kept in the last common round, with its 95 % interval.
    """

    first: str
    second: str
    test: Answer
    round: int | None
    p: float | None
    pins: tuple[int, int]
    kept: tuple[int, int]
    only_first: int = 0
    only_second: int = 0
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    budgets: tuple[float | None, float | None] = (None, None)

    @property
    def equal_budgets(self) -> bool:
        """Whether both kept about the same share of the words, so that one may be called better."""
        one, other = self.budgets
        return one is not None and other is not None and abs(one - other) <= EQUAL_BUDGETS

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "first": self.first,
            "second": self.second,
            "test": self.test.value,
            "round": self.round,
            "p": self.p,
            "pins": list(self.pins),
            "kept": list(self.kept),
            "only_first": self.only_first,
            "only_second": self.only_second,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "budgets": list(self.budgets),
            "equal_budgets": self.equal_budgets,
        }


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided exact p of the pins that one group alone kept (McNemar 1947, binomial form); 1 for none."""
    discordant = only_first + only_second
    return float(stats.binomtest(only_first, discordant).pvalue) if discordant else 1.0


def log_rank(first: Sequence[Lifetime], second: Sequence[Lifetime]) -> float | None:
    """Return the two-sided p of equal hazards (Mantel 1966); None without a single loss, which decides nothing.

    Losses that leave nothing to chance (all pins lost in one round) show no difference: 1.
    """
    if not any(each.lost for each in (*first, *second)):
        return None
    p = float(stats.logrank(censored(first), censored(second)).pvalue)
    return 1.0 if math.isnan(p) else p


def compare(
    first: tuple[str, Sequence[Row]],
    second: tuple[str, Sequence[Row]],
    facts: Iterable[RoundFacts],
    gone: Mapping[PinOf, int] | None = None,
) -> Comparison:
    """Compare two groups of rows in their last common round, paired when at least ten pins are the same in both.

    `gone` are the first losses over all groups, so that no loss is counted under two of them.
    """
    (one, rows), (other, others) = first, second
    known = list(facts)
    budgets = (_budget(rows, known), _budget(others, known))
    common = {row.round for row in rows if row.verdict} & {row.round for row in others if row.verdict}
    if not common:
        return Comparison(one, other, Answer.NONE, None, None, (0, 0), (0, 0), budgets=budgets)
    number = max(common)
    here, there = _by_pin(rows, number), _by_pin(others, number)
    same = sorted(here.keys() & there.keys())
    if len(same) >= FEWEST_PINS:
        return _paired((one, other), number, [(here[pin], there[pin]) for pin in same], budgets)
    return _unpaired((one, other), number, (rows, others), budgets, gone)


def _by_pin(rows: Iterable[Row], number: int) -> dict[str, bool]:
    """Return the pins that exactly one session of a group has verified in a round, and whether each was kept."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    for row in rows:
        if row.round == number and row.verdict is not None:
            found[row.pin].append(row.kept)
    return {pin: kept[0] for pin, kept in found.items() if len(kept) == 1}


def _paired(
    names: tuple[str, str], number: int, pairs: Sequence[tuple[bool, bool]], budgets: tuple[float | None, float | None]
) -> Comparison:
    seen = Counter(pairs)
    alone, alone_other = seen[True, False], seen[False, True]
    kept = (sum(one for one, _ in pairs), sum(other for _, other in pairs))
    size = (len(pairs), len(pairs))
    difference = (kept[0] - kept[1]) / len(pairs)
    p = mcnemar(alone, alone_other)
    return Comparison(
        *names, Answer.MCNEMAR, number, p, size, kept, alone, alone_other, difference=difference, budgets=budgets
    )


def _unpaired(
    names: tuple[str, str],
    number: int,
    both: tuple[Sequence[Row], Sequence[Row]],
    budgets: tuple[float | None, float | None],
    gone: Mapping[PinOf, int] | None,
) -> Comparison:
    counts = []
    for rows in both:
        there = [row for row in rows if row.round == number and row.verdict is not None]
        counts.append((sum(row.kept for row in there), len(there)))
    (kept, pins), (kept_other, pins_other) = counts
    first, second = (lifetimes(rows, Loss.NOT_KEPT, gone)[0] for rows in both)
    enough = min(pins, pins_other, len(first), len(second)) >= FEWEST_PINS
    made = Comparison(
        *names,
        Answer.LOG_RANK if enough else Answer.NONE,
        number,
        log_rank(first, second) if enough else None,
        (pins, pins_other),
        (kept, kept_other),
        budgets=budgets,
    )
    if not enough:
        return made
    low, high = newcombe(*counts)
    return Comparison(
        *names,
        made.test,
        number,
        made.p,
        made.pins,
        made.kept,
        difference=kept / pins - kept_other / pins_other,
        low=low,
        high=high,
        budgets=budgets,
    )


def _budget(rows: Iterable[Row], facts: Iterable[RoundFacts]) -> float | None:
    """Return the median share of words kept in the rounds of a group."""
    mine = {(row.session, row.round) for row in rows}
    shares = [fact.kept_share for fact in facts if (fact.session, fact.round) in mine and fact.kept_share is not None]
    return statistics.median(shares) if shares else None
