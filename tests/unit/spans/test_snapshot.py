"""Pins and snapshots."""

from __future__ import annotations

import pytest

from engine.errors import LimitError, RefusedError
from engine.spans.snapshot import BYTE_LIMIT, SPAN_LIMIT, SPAN_NOT_UTF8, UNPINNABLE, pin, snapshot


def test_refused_and_uncovered_spans_are_listed() -> None:
    """Nothing that lacks a verdict disappears."""
    taken = snapshot("e", ["Goal: ship.", "---", "You must never touch it.", "Goal: ship.", "bad \ud800"])
    assert [(entry.position, entry.code) for entry in taken.refused] == [(1, UNPINNABLE), (4, SPAN_NOT_UTF8)]
    assert [entry.positions for entry in taken.pins] == [(0, 3), (2,)]
    assert taken.uncovered == (taken.pins[1].id,)
    assert taken.judged() == taken.pins[:1]


def test_a_pin_made_by_hand_keeps_its_class_in_a_snapshot() -> None:
    """A held pin is not classified again."""
    held = pin("The host is db-3.")
    assert snapshot("e", ["The host is db-3."], [held]).judged() == (held,)
    assert snapshot("e", [], [held]).judged() == (held,)


def test_a_span_without_a_word_cannot_be_pinned() -> None:
    """The refusal carries its code."""
    with pytest.raises(RefusedError) as caught:
        pin("🚫🔥")
    assert caught.value.code == "UNPINNABLE"


def test_the_limits_are_inclusive() -> None:
    """At the limit is taken, one past is refused."""
    assert len(snapshot("e", [f"w{n}" for n in range(SPAN_LIMIT)]).pins) == SPAN_LIMIT
    with pytest.raises(LimitError):
        snapshot("e", ["w"] * (SPAN_LIMIT + 1))
    assert snapshot("e", ["w" * BYTE_LIMIT]).pins
    with pytest.raises(LimitError):
        snapshot("e", ["w" * (BYTE_LIMIT - 1), "é"])


def test_the_digest_follows_the_pins() -> None:
    """Another span, another digest."""
    assert snapshot("e", ["Goal: a."]).digest() == snapshot("e", ["Goal: a."]).digest()
    assert snapshot("e", ["Goal: a."]).digest() != snapshot("e", ["Goal: b."]).digest()
