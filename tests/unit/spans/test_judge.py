"""Verdicts on single spans."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spans.judge import Exactness, judge
from engine.spans.search import find_runs
from engine.spans.snapshot import UNPINNABLE, snapshot
from tests.support.spans import CASES, pins_of, texts_of


@pytest.mark.parametrize("case", CASES["verdict"], ids=lambda case: case["id"])
def test_a_given_case_gets_its_verdict_containment_and_missing_words(case: dict[str, Any]) -> None:
    """Each given case has the stated verdict, fraction, missing words, exactness, class."""
    span, post = texts_of(case)
    expect = case["expect"]
    taken = snapshot("evt-1", [span])
    if expect["verdict"] == "UNPINNABLE":
        assert [entry.code for entry in taken.refused] == [UNPINNABLE]
        assert taken.pins == ()
        return
    (judged,) = judge(taken.pins, post)
    assert judged.verdict == expect["verdict"]
    assert f"{judged.found}/{judged.total}" == expect["containment"]
    assert list(judged.missing) == sorted(expect["missing"])
    assert {judged.exactness} - {None} == set(expect["flags"]) & set(Exactness)
    assert (judged.pin.cls, judged.pin.critical) == (case["cls"], case["critical"])


def test_all_places_of_a_span_are_listed_in_the_original_text() -> None:
    """A span found twice lists both places, which cut the words out of the original."""
    post = "Né. Never rotate logs by hand. Later: NEVER rotate\nlogs by hand."
    (judged,) = judge(pins_of("Never rotate logs by hand."), post)
    assert [post[start:end] for start, end in judged.places] == [
        "Never rotate logs by hand",
        "NEVER rotate\nlogs by hand",
    ]


def test_dropped_text_of_a_degraded_span_names_the_missing_pieces() -> None:
    """The pieces come from the original, neighbours together."""
    (judged,) = judge(
        pins_of("Always keep the Signed Receipt of every single deployment."), "always keep the of every single"
    )
    assert judged.verdict == "DEGRADED"
    assert judged.dropped_text == ("Signed Receipt", "deployment")


def test_nested_sequences_are_all_found() -> None:
    """Sequences that are ends of one another are found as a plain search finds them."""
    words = ["a"] * 300 + ["b"]
    sequences = [["a"] * n for n in range(1, 40)] + [["a", "b"], ["b", "a"], ["c"]]
    runs = find_runs(sequences, words)
    assert [bool(run.at) for run in runs] == [True] * 40 + [False, False]
    assert runs[0].cut
    for sequence, run in zip(sequences, runs, strict=True):
        assert all(words[at : at + len(sequence)] == sequence for at in run.at)
