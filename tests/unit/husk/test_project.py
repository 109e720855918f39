"""The projection: what stays, what leaves, and that both together are the event."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.husk.project import UNKNOWN_BYTES, Projection, Unprojectable, Why, project, projection_id, restore
from tests.support.events import event

RULE_PATHS = [
    "/error/message",
    "/light/error/message",
    "/light/rawRequest",
    "/light/rawResponse",
    "/light/reasoning",
    "/light/toolCalls",
    "/light/vendorMetadata",
    "/sideEffects/0/details",
    "/surface/dimensions/safety/rationale",
    "/surface/dimensions/style/rationale",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def taken(value: dict[str, object]) -> Projection:
    """Project an event that can be."""
    made = project(value)
    assert isinstance(made, Projection)
    return made


def test_the_named_bulk_leaves_and_everything_else_stays() -> None:
    """Exactly the paths that the product document names leave; the rest keeps its value."""
    made = taken(event())
    assert [each.path for each in made.stripped] == RULE_PATHS
    assert {each.why for each in made.stripped} == {Why.RULE}
    kept = json.loads(made.core_bytes())
    assert kept["light"]["cost"] == 0.0012
    assert kept["surface"]["dimensions"]["safety"] == {"score": 0.75}
    assert kept["substrate"] == event()["substrate"]
    assert b"rationale" not in made.core_bytes()
    assert b"null" not in made.core_bytes()


def test_the_input_is_not_changed() -> None:
    """Projecting works on a copy."""
    value = event()
    project(value)
    assert value == event()


def test_dimensions_as_a_list_are_known() -> None:
    """The rationale leaves from a list of dimensions too."""
    value = event(surface={"dimensions": [{"name": "safety", "score": 1, "rationale": "why"}, 3]})
    made = taken(value)
    assert "/surface/dimensions/0/rationale" in made.payload
    assert restore(made.core, made.payload) == value


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ({"light": "text"}, "/light"),
        ({"surface": {"dimensions": "good"}}, "/surface/dimensions"),
        ({"surface": {"dimensions": {"a/b": ["x"]}}}, "/surface/dimensions/a~1b"),
        ({"error": "broken"}, "/error"),
        ({"sideEffects": {"a": 1}}, "/sideEffects"),
        ({"sideEffects": ["wrote"]}, "/sideEffects/0"),
    ],
)
def test_a_shape_that_is_not_known_blocks_the_event(part: dict[str, object], path: str) -> None:
    """Nothing is guessed about a part of another shape: the event stays whole and the path is named."""
    made = project(event(**part))
    assert isinstance(made, Unprojectable)
    assert made.path == path


@pytest.mark.parametrize("part", ["light", "surface", "error", "sideEffects"])
def test_a_part_that_is_missing_or_null_is_nothing(part: str) -> None:
    """Absent and null parts project to themselves."""
    value = event(**{part: None})
    assert restore(taken(value).core, taken(value).payload) == value
    del value[part]
    assert restore(taken(value).core, taken(value).payload) == value


def test_oversized_unknown_keys_leave_and_small_ones_stay() -> None:
    """An unknown key of 1,024 canonical bytes leaves, one of 1,023 stays."""
    made = taken(event(big="x" * 1022, small="x" * 1021))
    assert made.payload["/big"] == "x" * 1022
    assert made.core["small"] == "x" * 1021


def test_many_small_unknown_keys_are_cut_in_a_fixed_order() -> None:
    """The total of unknown keys is capped: largest first, ties by path, the same whatever the order of keys."""
    keys = {f"k{number:05}": "v" * 1021 for number in range(200)}
    made = taken(event(**keys))
    shuffled = list(keys.items())
    random.Random(4).shuffle(shuffled)
    assert taken(event(**dict(shuffled))).stripped == made.stripped
    assert sum(len(v) + 2 for k, v in made.core.items() if k.startswith("k0")) <= UNKNOWN_BYTES
    assert next(each.path for each in made.stripped if each.why is Why.OVER_TOTAL) == "/k00000"


@given(st.dictionaries(st.text(max_size=9), JSON, max_size=6), JSON, JSON)
def test_core_and_payload_are_the_event(more: dict[str, object], inner: object, light: object) -> None:
    """Whatever the unknown parts hold: the projection is deterministic, and together both are the original."""
    value = event(**{"light": {"rawRequest": inner, "other": light}, **more})
    made = project(value)
    if isinstance(made, Unprojectable):
        assert made == project(value)
        return
    assert restore(made.core, made.payload) == value
    assert made.core_bytes() == taken(value).core_bytes()
    assert project(json.loads(made.core_bytes())) == Projection(made.core, {}, ())


def test_the_rules_have_one_name() -> None:
    """The id of the projection is stable within one build."""
    assert projection_id() == projection_id()
    assert projection_id().startswith("1:sha256:")
