"""Bulk canonical bytes equal the recipe's, or the exact encoder made them."""

from __future__ import annotations

import enum
import random
import struct
import uuid
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from engine.digests import canonical_json
from engine.lines.plain import PlainItems, canonical_many, hold


class Colour(enum.Enum):
    """An enum the fast serialiser would write and the recipe refuses."""

    RED = "red"


class Word(enum.StrEnum):
    """An enum that is a text."""

    YES = "yes"


def value(rng: random.Random, depth: int = 0) -> Any:
    """Make a random JSON value with hard floats, integers and texts."""
    match rng.randrange(9 if depth < 4 else 6):
        case 0:
            return struct.unpack("<d", rng.randbytes(8))[0]
        case 1:
            return rng.choice((0, -1, 2**53, 2**64, -(2**63), 2**200, True, False, None, 1e16, 1e15, 1e-5, 1e-4, -0.0))
        case 2:
            return rng.uniform(-10, 10) * 10 ** rng.randrange(-8, 20)
        case 3 | 4 | 5:
            return "".join(
                chr(rng.choice((0, 31, 34, 47, 92, 127, 128, 0x2028, 0xFFFF, 0x1F600, 97))) for _ in range(3)
            )
        case 6:
            return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
        case _:
            return {str(value(rng, 9)): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def outcome(make: Any) -> bytes | type[Exception]:
    """Return what was made, or the kind of refusal."""
    try:
        made: bytes = make()
    except (ValueError, TypeError) as exc:
        return type(exc)
    return made


def test_random_values_give_the_recipes_bytes_or_its_refusal(sweep: Callable[[int], int]) -> None:
    """Over random values the bulk road and the exact one agree, refusals included."""
    rng = random.Random(11)
    for _ in range(sweep(6000)):
        item = value(rng)
        assert outcome(lambda item=item: canonical_many([item])[0]) == outcome(lambda item=item: canonical_json(item))


@pytest.mark.parametrize(
    "item",
    [
        Colour.RED,
        Word.YES,
        uuid.UUID(int=1),
        datetime(2026, 1, 1, tzinfo=UTC),
        {"a": [uuid.UUID(int=1)]},
        {"a": float("nan")},
        [1e16],
        (1, 2),
        {1: "a"},
        {Word.YES: 1},
        OrderedDict(b=1, a=2),
        {"a": b"x"},
        "\ud800",
        2**64,
    ],
    ids=repr,
)
def test_what_the_fast_serialiser_takes_otherwise_goes_the_exact_road(item: Any) -> None:
    """Types and numbers that the fast serialiser would write in its own way follow the recipe."""
    assert outcome(lambda: canonical_many(["plain", item])[1]) == outcome(lambda: canonical_json(item))


def test_values_that_hold_themselves_are_refused() -> None:
    """A circular value is refused as by the recipe, without endless work."""
    circular: list[Any] = []
    circular += [circular, circular]
    with pytest.raises(ValueError, match="ircular"):
        canonical_many([circular])


def test_held_values_are_proven_once_and_only_when_plain() -> None:
    """Plain JSON values are held; one value that the recipe writes otherwise, anywhere, holds none of them."""
    plain = [{"a": [1, 2.5, None, "x"]} for _ in range(600)]
    held = hold(plain)
    assert isinstance(held, PlainItems)
    assert hold(held) is held
    assert canonical_many(held[:3], plain=True) == [canonical_json(item) for item in plain[:3]]
    for odd in (1e-5, Colour.RED, float("nan"), (1,), "\ud800"):
        values = [*plain, {"deep": [odd]}]
        assert hold(values) is values
