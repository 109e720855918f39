"""Snapshots given as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from engine.errors import LimitError, RefusedError
from engine.spans.classify import Profile, SourceRole
from engine.spans.inline import read_snapshot
from engine.spans.snapshot import SPAN_LIMIT, Snapshot, Span, pin, snapshot

Edit = Callable[[dict[str, Any]], object]


def _snapshot(profile: Profile = Profile.STANDARD) -> Snapshot:
    spans = [
        "Goal: ship.",
        "---",
        Span("[critical] buy", SourceRole.TOOL),
        "- Goal: ship.",
        "Goal: ship.",
        "You must never stop.",
        "Acceptance criteria: green.",
        "[fact][invariant] Region is eu-west.",
        "bad \ud800",
    ]
    return snapshot(
        "evt-1", spans, [pin("The host is db-3."), pin("Hard constraint: x", profile=profile)], profile=profile
    )


def _written(profile: Profile = Profile.STANDARD) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(json.dumps(_snapshot(profile).as_json()))
    return value


@pytest.mark.parametrize("profile", Profile)
def test_a_snapshot_reads_back_equal(profile: Profile) -> None:
    """Pins by hand, linked pins, refused and uncovered spans included."""
    assert read_snapshot(_written(profile)) == _snapshot(profile)


def test_an_empty_snapshot_reads_back() -> None:
    """No pins are a snapshot too."""
    assert read_snapshot(snapshot("", []).as_json()) == snapshot("", [])


ALTERED: dict[str, Edit] = {
    "pins[0].sha": lambda value: value["pins"][0].update(sha="0" * 64),
    "pins[0].id": lambda value: value["pins"][0].update(id="pin-0000000000000000"),
    "pins[0].cls": lambda value: value["pins"][0].update(cls="EPISODIC"),
    "pins[0].critical": lambda value: value["pins"][0].update(critical=True),
    "pins[0].linked": lambda value: value["pins"][0].update(linked=[]),
    "pins[1].ignored_markers": lambda value: value["pins"][1].update(ignored_markers=[]),
    "pins[5].conflict": lambda value: value["pins"][5].update(conflict=False),
    "uncovered": lambda value: value.update(uncovered=[]),
}
MALFORMED: dict[str, Edit] = {
    "snapshot": lambda value: value.pop("event_id"),
    "event_id": lambda value: value.update(event_id=5),
    "profile": lambda value: value.update(profile="wide"),
    "pins": lambda value: value.update(pins={}),
    "pins[0]": lambda value: value["pins"][0].update(more=1),
    "pins[0].text": lambda value: value["pins"][0].update(text=None),
    "pins[1].text": lambda value: value["pins"][1].update(text="..."),
    "pins[2].text": lambda value: value["pins"][2].update(text="x \ud800"),
    "pins[0].cls": lambda value: value["pins"][0].update(cls="RULE"),
    "pins[0].critical": lambda value: value["pins"][0].update(critical=1),
    "pins[0].source_role": lambda value: value["pins"][0].update(source_role="root"),
    "pins[0].positions": lambda value: value["pins"][0].update(positions=[4, 0]),
    "pins[1].positions": lambda value: value["pins"][1].update(positions=[True]),
    "refused[0].code": lambda value: value["refused"][0].update(code="NO"),
    "refused[0].position": lambda value: value["refused"][0].update(position=-1),
    "refused": lambda value: value["refused"].reverse(),
}


@pytest.mark.parametrize("where", ALTERED)
def test_a_field_that_disagrees_with_the_text_is_refused_by_name(where: str) -> None:
    """Whatever is computed from the text is computed again."""
    value = _written()
    ALTERED[where](value)
    with pytest.raises(RefusedError) as caught:
        read_snapshot(value)
    assert (caught.value.code, caught.value.where) == ("SNAPSHOT_ALTERED", where)


@pytest.mark.parametrize("where", MALFORMED)
def test_a_field_that_cannot_be_is_refused_by_name(where: str) -> None:
    """Wrong types, unknown words, missing and unknown fields."""
    value = _written()
    MALFORMED[where](value)
    with pytest.raises(RefusedError) as caught:
        read_snapshot(value)
    assert (caught.value.code, caught.value.where) == ("SNAPSHOT_MALFORMED", where)


@pytest.mark.parametrize("value", [None, [], "x", 1])
def test_what_is_no_object_is_refused(value: object) -> None:
    """Nothing raises anything else."""
    with pytest.raises(RefusedError, match="an object expected"):
        read_snapshot(value)


def test_another_policy_is_refused() -> None:
    """A snapshot of other rules is not judged by these."""
    with pytest.raises(RefusedError) as caught:
        read_snapshot({**_written(), "policy": "lexical-2"})
    assert caught.value.code == "SNAPSHOT_OTHER_POLICY"


def test_one_text_twice_and_one_position_twice_are_refused() -> None:
    """No snapshot writes that."""
    twice = _written()
    twice["pins"].append({**twice["pins"][6], "linked": [twice["pins"][6]["id"]]})
    with pytest.raises(RefusedError):
        read_snapshot(twice)
    shared = _written()
    shared["pins"][1]["positions"] = [0]
    with pytest.raises(RefusedError, match="two spans claim one position"):
        read_snapshot(shared)


def test_the_limits_hold_for_a_given_snapshot() -> None:
    """One pin past the limit, or one byte."""
    value = snapshot("e", ["word"]).as_json()
    with pytest.raises(RefusedError, match="at most 5000"):
        read_snapshot({**value, "pins": value["pins"] * (SPAN_LIMIT + 1)})
    with pytest.raises(LimitError):
        read_snapshot({**value, "pins": [{**value["pins"][0], "text": "w" * 2_000_001}]})
