"""How sure is a share that was counted?

Wilson's score interval for one count, a bootstrap over sessions where there are several (spans of one session stand or
fall together, so they are no independent draws), Newcombe's interval for a difference. Under ten pins there is no
share, only a count: the type cannot carry one. An interval speaks of chance alone, not of how the pins were chosen.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

FEWEST_PINS = 10
LEVEL = 0.95
RESAMPLES = 2_000
WILSON = "Wilson 95 %"
BOOTSTRAP = "bootstrap over sessions 95 %"


@dataclass(frozen=True, slots=True)
class Counted:
    """So many of so many, too few for a share."""

    k: int
    n: int

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {"k": self.k, "n": self.n, "share": None, "low": None, "high": None, "interval": None}


@dataclass(frozen=True, slots=True)
class Share:
    """A share from 0 to 1 with its interval, and the counts it comes from; `interval` names how it was made."""

    k: int
    n: int
    low: float
    high: float
    interval: str

    @property
    def value(self) -> float:
        """Return the share."""
        return self.k / self.n

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "k": self.k,
            "n": self.n,
            "share": self.value,
            "low": self.low,
            "high": self.high,
            "interval": self.interval,
        }


Figure = Share | Counted


def wilson(k: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of k in n (Wilson 1927); n is at least 1."""
    interval = stats.binomtest(k, n).proportion_ci(LEVEL, method="wilson")
    return float(interval.low), float(interval.high)


def figure(counts: Sequence[tuple[int, int]]) -> Figure:
    """Return the share over sessions, each given as (k, n); with fewer than ten pins the counts only.

    One session gives Wilson's interval. Two or more give a percentile bootstrap over sessions, unless that is narrower
    than Wilson's: few sessions that agree by chance must not look certain. The same counts give the same interval: the
    draws follow from the data.
    """
    known = [(k, n) for k, n in counts if n]
    k, n = sum(k for k, _ in known), sum(n for _, n in known)
    if n < FEWEST_PINS:
        return Counted(k, n)
    low, high = wilson(k, n)
    if len(known) > 1:
        drawn_low, drawn_high = bootstrap(known)
        if drawn_high - drawn_low > high - low:
            return Share(k, n, drawn_low, drawn_high, BOOTSTRAP)
    return Share(k, n, low, high, WILSON)


def bootstrap(counts: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the percentile interval of the pooled share when sessions are drawn with replacement (Efron 1979)."""
    ordered = sorted(counts)
    kept, pins = (np.array(column, dtype=float) for column in zip(*ordered, strict=True))
    seed = int.from_bytes(hashlib.sha256(repr(ordered).encode("ascii")).digest()[:8], "big")
    with warnings.catch_warnings():
        # Sessions with one and the same share have an interval of no width, which scipy warns of.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        drawn = stats.bootstrap(
            (kept, pins),
            lambda k, n, axis: k.sum(axis) / n.sum(axis),
            paired=True,
            vectorized=True,
            n_resamples=RESAMPLES,
            confidence_level=LEVEL,
            method="percentile",
            rng=np.random.default_rng(seed),
        )
    return float(drawn.confidence_interval.low), float(drawn.confidence_interval.high)


def newcombe(first: tuple[int, int], second: tuple[int, int]) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two shares of different pins (Newcombe 1998, method 10)."""
    (k, n), (j, m) = first, second
    p, q = k / n, j / m
    (low_p, high_p), (low_q, high_q) = wilson(k, n), wilson(j, m)
    low = p - q - ((p - low_p) ** 2 + (high_q - q) ** 2) ** 0.5
    high = p - q + ((high_p - p) ** 2 + (q - low_q) ** 2) ** 0.5
    return low, high
