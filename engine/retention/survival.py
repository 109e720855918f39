"""How long does a pin last, and when is it first lost?

Time is counted in rounds since a pin was written. Kaplan and Meier's estimate (1958) of the share not yet lost, with
Greenwood's variance on the log-log scale for the bands. A pin that comes back stays "once lost" here; the shares per
round show it back. A pin whose loss falls behind rounds that could not be read counts as lost in the first round in
which that was seen, so curves are at best too kind there.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from scipy import stats

from engine.retention.intervals import FEWEST_PINS, LEVEL
from engine.retention.rows import Row
from engine.spans.judge import Verdict

HALF = 0.5
ROUNDING = 1e-12
"""A curve is a product of fractions: what is exactly one half can come out a last digit above it."""

PinOf = tuple[str, str, str]
"""Session, compactor and pin: what is followed from round to round."""


class Loss(StrEnum):
    """What counts as the loss of a pin."""

    NOT_KEPT = "not_kept"
    """The first round in which it is not PRESERVED in the body."""
    LOST = "lost"
    """The first round in which it is LOST."""

    def holds(self, row: Row) -> bool:
        """Say whether a verified row is a loss."""
        return row.verdict is Verdict.LOST if self is Loss.LOST else not row.kept


@dataclass(frozen=True, slots=True)
class Lifetime:
    """One pin of one session: rounds until its first loss, or until it was last seen (`lost` False)."""

    session: str
    pin: str
    rounds: int
    lost: bool


def first_losses(rows: Iterable[Row], loss: Loss = Loss.NOT_KEPT) -> dict[PinOf, int]:
    """Return the round of the first loss of every pin that was lost, over all the rows there are."""
    found: dict[PinOf, int] = {}
    for row in rows:
        if row.verdict is not None and loss.holds(row):
            pin = (row.session, row.compactor, row.pin)
            found[pin] = min(row.round, found.get(pin, row.round))
    return found


def lifetimes(
    rows: Iterable[Row], loss: Loss = Loss.NOT_KEPT, gone: Mapping[PinOf, int] | None = None
) -> tuple[tuple[Lifetime, ...], int]:
    """Return the lifetimes, and how many pins have none since no round of theirs could be read.

    `gone` are the first losses over all groups. Model and method can change within a session; a pin that was lost
    before is then no loss of the group that came after, and is not counted in it.
    """
    known = gone or {}
    by_pin: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.round <= known.get((row.session, row.compactor, row.pin), row.round):
            by_pin[row.session, row.pin].append(row)
    made, unverifiable = [], 0
    for (session, pin), each in sorted(by_pin.items()):
        first = min(row.round for row in each) - 1
        verified = sorted((row for row in each if row.verdict is not None), key=lambda row: row.round)
        if not verified:
            unverifiable += 1
            continue
        end = next((row.round for row in verified if loss.holds(row)), None)
        made.append(Lifetime(session, pin, (end or verified[-1].round) - first, end is not None))
    return tuple(made), unverifiable


@dataclass(frozen=True, slots=True)
class Step:
    """One round of a survival curve: pins at risk, lost in it, last seen in it; the share not yet lost, and its band.

    `low` and `high` are None where the band is not defined: before the first loss and once nothing is left.
    """

    rounds: int
    at_risk: int
    lost: int
    censored: int
    share: float
    low: float | None
    high: float | None

    @property
    def hazard(self) -> float:
        """Return the share lost in this round of those that were kept until it."""
        return self.lost / self.at_risk

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "rounds": self.rounds,
            "at_risk": self.at_risk,
            "lost": self.lost,
            "censored": self.censored,
            "share": self.share,
            "low": self.low,
            "high": self.high,
            "hazard": self.hazard,
        }


@dataclass(frozen=True, slots=True)
class Survival:
    """One curve: its steps, or none with fewer than ten pins; `pins` and `losses` are always counted."""

    pins: int
    losses: int
    unverifiable: int
    steps: tuple[Step, ...]

    @property
    def half_life(self) -> int | None:
        """Return the first round with at most half not yet lost; None when that is not reached."""
        return next((step.rounds for step in self.steps if step.share <= HALF + ROUNDING), None)

    @property
    def worst(self) -> Step | None:
        """Return the round with the highest hazard, the first of several: the cliff."""
        return max(self.steps, key=lambda step: (step.hazard, -step.rounds), default=None)

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        worst = self.worst
        return {
            "pins": self.pins,
            "losses": self.losses,
            "unverifiable": self.unverifiable,
            "half_life": self.half_life,
            "cliff": worst.rounds if worst and worst.lost else None,
            "steps": [step.as_json() for step in self.steps],
        }


def survival(rows: Iterable[Row], loss: Loss = Loss.NOT_KEPT, gone: Mapping[PinOf, int] | None = None) -> Survival:
    """Return the curve of some rows; `gone` as in `lifetimes`."""
    found, unverifiable = lifetimes(rows, loss, gone)
    losses = sum(each.lost for each in found)
    steps = _steps(found) if len(found) >= FEWEST_PINS else ()
    return Survival(len(found), losses, unverifiable, steps)


def censored(found: Sequence[Lifetime]) -> stats.CensoredData:
    """Return lifetimes as scipy takes them."""
    return stats.CensoredData(
        uncensored=[each.rounds for each in found if each.lost], right=[each.rounds for each in found if not each.lost]
    )


def _steps(found: Sequence[Lifetime]) -> tuple[Step, ...]:
    curve = stats.ecdf(censored(found)).sf
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        # The band has no value at shares of 1 and 0, which scipy answers with NaN and warns of.
        warnings.simplefilter("ignore", RuntimeWarning)
        band = curve.confidence_interval(LEVEL, method="log-log")
    made = []
    for number in range(1, max(each.rounds for each in found) + 1):
        at_risk = sum(each.rounds >= number for each in found)
        ended = [each for each in found if each.rounds == number]
        lost = sum(each.lost for each in ended)
        share = float(curve.evaluate(np.array([number]))[0])
        low, high = (_defined(side.evaluate(np.array([number]))[0], share) for side in (band.low, band.high))
        made.append(Step(number, at_risk, lost, len(ended) - lost, share, low, high))
    return tuple(made)


def _defined(value: float, share: float) -> float | None:
    return float(value) if 0 < share < 1 and np.isfinite(value) else None
