"""Class and critical of a span."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spans.classify import SourceRole, SpanClass, classify, looks_like_rule
from tests.support.spans import CASES


@pytest.mark.parametrize("case", CASES["classify"], ids=lambda case: case["id"])
def test_a_given_case_gets_its_class(case: dict[str, Any]) -> None:
    """Each given case has the stated class and critical mark."""
    got = classify(case["text"], by_hand=case["write_time_pin"])
    assert (got.cls, got.critical) == (case["expect"]["cls"], case["expect"]["critical"])


def test_text_pinned_by_hand_without_a_shape_is_a_fact() -> None:
    """A pin by hand gets a verdict."""
    assert classify("The host is db-3.", by_hand=True).cls is SpanClass.FACT


def test_markers_of_a_tool_are_not_honoured() -> None:
    """A tool cannot hide a rule with a marker, nor force a halt."""
    assert classify("[episodic] Never wire money.", role=SourceRole.TOOL).cls is SpanClass.INVARIANT
    assert not classify("[critical] Buy now.", role=SourceRole.TOOL).critical


def test_disagreeing_markers_are_reported() -> None:
    """Several class markers, or critical on a fact, are a conflict."""
    assert classify("[fact][invariant] Region is eu-west.").conflict
    assert classify("[fact][critical] Region is eu-west.").conflict
    assert not classify("[invariant][critical] Region is eu-west.").conflict


@pytest.mark.parametrize("text", ["You must never touch it.", "Acceptance criteria: green.", "Please do not ask."])
def test_a_rule_without_the_shape_looks_like_one(text: str) -> None:
    """Rules the shapes miss are named."""
    assert classify(text).cls is SpanClass.EPISODIC
    assert looks_like_rule(text)


def test_plain_talk_does_not_look_like_a_rule() -> None:
    """A statement is not listed."""
    assert not looks_like_rule("Nevertheless the build was fine.")
