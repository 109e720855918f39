"""Intervals against closed formulas and tables worked by hand."""

from __future__ import annotations

import math

import pytest

from engine.retention.intervals import BOOTSTRAP, WILSON, Counted, Share, bootstrap, figure, newcombe, wilson

Z = 1.959963984540054


def by_hand(k: int, n: int) -> tuple[float, float]:
    """Return Wilson's interval by his formula."""
    p, z2 = k / n, Z * Z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (1, 10), (5, 10), (9, 30), (15, 148), (81, 263), (4999, 5000)])
def test_wilson_is_the_closed_formula(k: int, n: int) -> None:
    """To nine digits, at the ends as well."""
    assert wilson(k, n) == pytest.approx(by_hand(k, n), abs=1e-9)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_printed_examples(k: int, n: int, low: float, high: float) -> None:
    """The four examples of Newcombe's comparison of methods (1998, table I, method 3)."""
    assert wilson(k, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 20), 0.6791, 1.0)],
)
def test_newcombe_gives_the_printed_examples(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    """Examples of Newcombe's second paper (1998, table II, method 10)."""
    assert newcombe(first, second) == pytest.approx((low, high), abs=5e-5)


def test_under_ten_pins_there_is_no_share() -> None:
    """The type cannot carry one."""
    few = figure([(3, 9)])
    assert few == Counted(3, 9)
    assert few.as_json()["share"] is None
    assert not hasattr(few, "value")
    assert figure([]) == figure([(0, 0)]) == Counted(0, 0)
    assert isinstance(figure([(3, 10)]), Share)
    assert isinstance(figure([(1, 5), (2, 5)]), Share)


def test_several_sessions_are_drawn_with_replacement() -> None:
    """Sessions that differ give a wider interval than pins alone would; the order of sessions does not matter."""
    found = figure([(10, 10), (0, 10), (9, 10), (1, 10)])
    assert isinstance(found, Share)
    assert (found.value, found.interval) == (0.5, BOOTSTRAP)
    low, high = wilson(20, 40)
    assert found.low < low
    assert found.high > high
    assert figure([(0, 10), (1, 10), (10, 10), (9, 10)]) == found
    assert bootstrap([(1, 10), (9, 10)]) == pytest.approx((0.1, 0.9))


def test_sessions_that_agree_do_not_look_certain() -> None:
    """Two sessions of one share have a bootstrap of no width; the interval is Wilson's and says so."""
    assert bootstrap([(6, 11), (6, 11)]) == pytest.approx((6 / 11, 6 / 11))
    found = figure([(6, 11), (6, 11)])
    assert isinstance(found, Share)
    assert ((found.low, found.high), found.interval) == (wilson(12, 22), WILSON)
