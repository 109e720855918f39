"""Every given pair of span and text gets its verdict, fraction, window and flags."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spans.audit import audit
from engine.spans.evidence import Flag
from engine.spans.snapshot import UNPINNABLE, Snapshot, pin, snapshot
from tests.support.spans import CASES, texts_of

JUDGED = [case for case in CASES["verdict"] if case["expect"]["verdict"] != "UNPINNABLE"]
REFUSED = [case for case in CASES["verdict"] if case["expect"]["verdict"] == "UNPINNABLE"]


def test_the_vectors_are_all_there() -> None:
    """None of the given cases was lost."""
    assert [case["id"] for case in CASES["verdict"]] == [f"V{number:02d}" for number in range(1, 61)]
    assert (len(CASES["classify"]), len(REFUSED)) == (24, 3)


@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case["id"])
def test_a_given_pair_gets_its_whole_answer(case: dict[str, Any]) -> None:
    """Verdict, containment, missing words, best window, exactness and flags are the stated ones."""
    span, post = texts_of(case)
    expect = case["expect"]
    (got,) = audit(Snapshot("evt-1", (pin(span.replace("[episodic]", "")),), (), ()), post).spans
    window = got.evidence.window
    answer = {
        "verdict": got.verdict.value,
        "flags": {flag.value for flag in got.evidence.flags}
        | ({got.judged.exactness.value} if got.judged.exactness else set()),
        "containment": f"{got.judged.found}/{got.judged.total}",
        "window": f"{window.found}/{window.total}" if window else f"0/{len(expect['missing'])}",
        "missing": list(got.judged.missing),
    }
    assert answer == {**expect, "flags": set(expect["flags"]), "missing": sorted(expect["missing"])}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["id"])
def test_a_span_without_a_word_is_refused(case: dict[str, Any]) -> None:
    """It gets no verdict, so it is never PRESERVED."""
    taken = snapshot("evt-1", [case["span"]])
    assert ([entry.code for entry in taken.refused], taken.pins) == ([UNPINNABLE], ())


def test_every_flag_is_in_a_given_case() -> None:
    """The cases leave out only the flags that their own tests show."""
    shown = {flag for case in CASES["verdict"] for flag in case["expect"]["flags"]} & {flag.value for flag in Flag}
    assert {flag.value for flag in Flag} - shown == {"NEGATION_ADDED", "INVISIBLE_CHARS_IN_SPAN"}
