"""A text read once for many spans."""

from __future__ import annotations

import numpy as np

from engine.spans.judge import judge
from engine.spans.prepared import prepare
from tests.support.spans import pins_of


def test_features_stand_as_numbers_with_their_words() -> None:
    """Each number leads back to its feature, and to the words of the text it is made of."""
    text = prepare("Do not 不要删 it, do not")
    names = list(text.vocabulary)
    assert [names[number] for number in text.ids] == ["do", "not", "不要", "要删", "it", "do", "not"]
    assert [text.words.texts[number] for number in text.firsts] == ["do", "not", "不", "要", "it", "do", "not"]
    assert np.array_equal(text.lasts - text.firsts, [0, 0, 1, 1, 0, 0, 0])
    assert text.holds("要删")
    assert not text.holds("要")


def test_a_prepared_text_gets_the_verdicts_of_the_text() -> None:
    """Reading once and reading again is the same."""
    pins = pins_of("Never deploy on Fridays.", "Keep the logs.")
    text = "Deploy on fridays, keep the logs."
    assert judge(pins, prepare(text)) == judge(pins, text)


def test_an_empty_text_has_no_features() -> None:
    """Nothing is there, and nothing raises."""
    assert len(prepare("").ids) == 0
