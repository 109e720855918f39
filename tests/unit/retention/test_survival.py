"""Survival and comparisons against an independent computation and tables worked by hand."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from lifelines import KaplanMeierFitter
from lifelines.statistics import logrank_test

from engine.retention.compare import Answer, compare, log_rank, mcnemar
from engine.retention.survival import Lifetime, Loss, first_losses, lifetimes, survival
from tests.support.retention import facts_for, rows_for

FATE = st.sampled_from(["L", "P", "PL", "PPL", "PPP", "PPPL", "PPPPP", "PPPPL", "DPP", "PD"])
FATES = st.lists(FATE, min_size=10, max_size=40)


def named(fates: list[str]) -> dict[str, str]:
    """Name each fate."""
    return {f"rule {number}": fate for number, fate in enumerate(fates)}


@seed(21)
@settings(deadline=None, max_examples=40)
@given(fates=FATES)
def test_the_curve_and_its_band_are_lifelines(fates: list[str]) -> None:
    """Share, band, at risk and losses, with ties and censoring, to nine digits."""
    rows = rows_for(named(fates))
    found, _ = lifetimes(rows)
    fitted = KaplanMeierFitter().fit([each.rounds for each in found], [each.lost for each in found])
    table, band = fitted.event_table, fitted.confidence_interval_survival_function_
    for step in survival(rows).steps:
        assert step.share == pytest.approx(fitted.predict(step.rounds), abs=1e-9)
        if step.rounds in table.index:
            assert (step.at_risk, step.lost, step.censored) == (
                table.at_risk[step.rounds],
                table.observed[step.rounds],
                table.censored[step.rounds],
            )
        if step.low is not None and step.high is not None:
            near = band[band.index <= step.rounds].iloc[-1]
            assert (step.low, step.high) == pytest.approx((near.iloc[0], near.iloc[1]), abs=1e-9)


@pytest.mark.filterwarnings("ignore:Starting with pandas version 4.0")
@seed(22)
@settings(deadline=None, max_examples=40)
@given(first=FATES, second=FATES)
def test_the_log_rank_p_is_lifelines(first: list[str], second: list[str]) -> None:
    """Equal to nine digits, whatever ties there are."""
    one, other = (lifetimes(rows_for(named(fates)))[0] for fates in (first, second))
    found = log_rank(one, other)
    if not any(each.lost for each in (*one, *other)):
        assert found is None
        return
    times, events = zip(*[([e.rounds for e in part], [e.lost for e in part]) for part in (one, other)], strict=True)
    expected = logrank_test(*times, *events).p_value
    if math.isnan(expected):
        assert found is None or math.isnan(found)
    else:
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_curve_worked_by_hand() -> None:
    """Ten pins: two lost in round 1, one last seen in 1, three lost in 2, the rest last seen in 3."""
    rows = rows_for(named(["L", "L", "P", "PL", "PL", "PD", "PPP", "PPP", "PPP", "PPP"]))
    found = survival(rows)
    assert [(s.rounds, s.at_risk, s.lost, s.censored) for s in found.steps] == [
        (1, 10, 2, 1),
        (2, 7, 3, 0),
        (3, 4, 0, 4),
    ]
    assert [s.share for s in found.steps] == pytest.approx([0.8, 0.8 * 4 / 7, 0.8 * 4 / 7], abs=1e-12)
    assert (found.half_life, found.pins, found.losses) == (2, 10, 5)
    assert found.worst is not None
    assert (found.worst.rounds, found.worst.hazard) == (2, 3 / 7)


def test_lifetimes_begin_when_a_pin_was_written() -> None:
    """Entered late, lost, last seen, came back, unverifiable in the middle and throughout."""
    rows = rows_for({"late": "--PL", "back": "PDP", "gap": "P?L", "end": "PP?", "dark": "??"})
    found, dark = lifetimes(rows)
    texts = {row.pin: row.text for row in rows}
    assert {texts[each.pin]: (each.rounds, each.lost) for each in found} == {
        "late": (2, True),
        "back": (2, True),
        "gap": (3, True),
        "end": (2, False),
    }
    assert dark == 1
    lost, _ = lifetimes(rows, Loss.LOST)
    assert {texts[each.pin]: each.lost for each in lost}["back"] is False


@pytest.mark.parametrize(("early", "late"), [(7, 2), (4, 7), (7, 5), (2, 4), (1, 9)])
def test_exactly_half_is_the_half_life(early: int, late: int) -> None:
    """Half of the pins are gone after round two, however the product of the fractions is rounded."""
    half = early + late
    assert survival(rows_for(named(["L"] * early + ["PL"] * late + ["PPP"] * half))).half_life == 2


def test_a_loss_is_counted_once_when_the_model_changes() -> None:
    """What one model lost is no loss of the next; what the next one lost is, and a pin seen through is censored."""
    rows = rows_for(named(["LLLL"] * 12 + ["PPPL"] * 11 + ["PPPP"]))
    parts = [[row for row in rows if (row.round <= 2) is early] for early in (True, False)]
    first, second = (lifetimes(part, gone=first_losses(rows))[0] for part in parts)
    assert ([(e.rounds, e.lost) for e in first].count((1, True)), sum(e.lost for e in first), len(first)) == (
        12,
        12,
        24,
    )
    assert sorted((e.rounds, e.lost) for e in second) == [(2, False), *[(2, True)] * 11]
    assert lifetimes(rows, gone=first_losses(rows)) == lifetimes(rows)


def test_few_pins_have_no_curve_and_all_kept_has_no_band() -> None:
    """Nine pins are counted only; without a loss the share is 1 and no band is drawn."""
    assert survival(rows_for(named(["PL"] * 9))).steps == ()
    assert survival(rows_for(named(["PL"] * 9))).losses == 9
    whole = survival(rows_for(named(["PPP"] * 12)))
    assert [(s.share, s.low, s.high) for s in whole.steps] == [(1.0, None, None)] * 3
    assert whole.half_life is None
    gone = survival(rows_for(named(["L"] * 12)))
    assert [(s.share, s.low, s.high) for s in gone.steps] == [(0.0, None, None)]
    assert survival([]).as_json()["steps"] == []


@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (5, 5), (10, 2), (0, 8), (12, 25)])
def test_mcnemar_is_the_binomial_sum(b: int, c: int) -> None:
    """Twice the smaller tail of fair coins, at most 1."""
    n = b + c
    tail = sum(math.comb(n, each) for each in range(min(b, c) + 1)) / 2**n
    assert mcnemar(b, c) == pytest.approx(min(1.0, 2 * tail), abs=1e-9)


def test_the_same_pins_are_compared_in_pairs() -> None:
    """Twelve pins under both: seven kept by the first alone, one by the second alone; worked by hand, p = 0.0703125."""
    first = named(["PP"] * 7 + ["PL"] + ["PP"] * 2 + ["PL"] * 2)
    second = named(["PL"] * 7 + ["PP"] + ["PP"] * 2 + ["PL"] * 2)
    one = rows_for(first)
    other = rows_for(second, session="s2", compactor="two")
    made = compare(("one", one), ("two", other), facts_for([*one, *other]))
    assert (made.test, made.round, made.only_first, made.only_second) == (Answer.MCNEMAR, 2, 7, 1)
    assert made.p == pytest.approx(0.0703125, abs=1e-12)
    assert (made.kept, made.pins, made.difference) == ((9, 3), (12, 12), 0.5)
    assert made.equal_budgets


def test_different_pins_are_compared_by_their_losses() -> None:
    """Log-rank and Newcombe; other budgets allow no ranking."""
    draw = random.Random(4)
    one = rows_for({f"a{n}": draw.choice(["PL", "PP", "L"]) for n in range(20)})
    other = rows_for({f"b{n}": draw.choice(["PP", "PPP", "PL"]) for n in range(20)}, session="s2", compactor="two")
    facts = [*facts_for(one, {1: (100, 90), 2: (100, 90)}), *facts_for(other)]
    made = compare(("one", one), ("two", other), facts)
    assert made.test is Answer.LOG_RANK
    assert made.p is not None
    assert made.difference is not None
    assert made.low is not None
    assert made.high is not None
    assert made.low <= made.difference <= made.high
    assert (made.budgets, made.equal_budgets) == ((0.9, 0.5), False)


def test_too_few_or_unread_pins_decide_nothing() -> None:
    """Counts stand, p does not; without a common round there is not even that."""
    one, other = rows_for({"a": "PL"}), rows_for({"b": "PP"}, session="s2", compactor="two")
    few = compare(("one", one), ("two", other), facts_for([*one, *other]))
    assert (few.test, few.p, few.kept, few.pins) == (Answer.NONE, None, (0, 1), (1, 1))
    dark = compare(("one", one), ("two", rows_for({"b": "??"}, session="s2")), [])
    assert (dark.test, dark.round, dark.equal_budgets) == (Answer.NONE, None, False)
    assert log_rank([Lifetime("s", "p", 3, lost=False)], [Lifetime("s", "q", 2, lost=False)]) is None
