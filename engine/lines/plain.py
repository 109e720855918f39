"""Canonical bytes of many values at once, exactly as the recipe `json-c14n:v1` gives them.

A fast serialiser is used only where its bytes are proven equal to the recipe's: the types of all values are looked at
one nesting level at a time, and every float is compared with Python's own text. Whatever is not proven goes through
the exact encoder. Nothing here says that two values with equal bytes were written by the same hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, compress, repeat
from operator import is_
from typing import Any

import orjson

from engine.digests import canonical_json

# Passing subclasses through makes them an error instead of another spelling; UUIDs and enums have no such switch, which
# is why the types are looked at afterwards.
_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_BLOCK = 256
_PROVEN = frozenset({str, int, bool, type(None), dict, list})


class PlainItems(tuple[Any, ...]):
    """Values that were proven plain once, so that they need not be looked at again each time they are serialised.

    Made by `hold`. The values must not be changed afterwards: a change could escape the proof.
    """

    __slots__ = ()


def hold(values: Sequence[Any]) -> Sequence[Any]:
    """Prove values plain once, for many uses; values that cannot be proven are given back as they are."""
    if isinstance(values, PlainItems):
        return values
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        if _written(block) is None or not _is_proven(block):
            return values
    return PlainItems(values)


def canonical_many(values: Sequence[Any], *, plain: bool = False) -> list[bytes]:
    """Serialise each value by `json-c14n:v1`; raises as `engine.digests.canonical_json`.

    `plain` says that the values come from `PlainItems`.
    """
    written = _written(values)
    if written is None or not (plain or _is_proven(values)):
        # What is refused, or written otherwise, by the fast serialiser may still be held by the recipe.
        return [canonical_json(value) for value in values]
    return written


def _written(values: Sequence[Any]) -> list[bytes] | None:
    dumps = orjson.dumps
    try:
        return [dumps(value, None, _OPTIONS) for value in values]
    except (TypeError, RecursionError):
        return None


def _is_proven(values: Sequence[Any]) -> bool:
    """Tell whether values hold only exact JSON types whose fast text is the recipe's text.

    Must run after the serialiser has accepted the values: that bounds their depth and shows that keys are text.
    """
    level: Sequence[Any] = values
    while level:
        types = list(map(type, level))
        kinds = set(types)
        if kinds - _PROVEN and (kinds - _PROVEN != {float} or not all(map(_same_float, level))):
            return False
        inside: list[Iterable[Any]] = []
        if dict in kinds:
            inside += map(dict.values, compress(level, map(is_, types, repeat(dict))))
        if list in kinds:
            inside += compress(level, map(is_, types, repeat(list)))
        level = list(chain.from_iterable(inside))
    return True


def _same_float(value: Any) -> bool:
    return type(value) is not float or orjson.dumps(value) == float.__repr__(value).encode("ascii")
