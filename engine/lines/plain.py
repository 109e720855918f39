"""Canonical bytes of many values at once, exactly as the recipe `json-c14n:v1` gives them.

A fast serialiser is used only where its bytes are proven equal to the recipe's: the types of all values are looked at
one nesting level at a time, and every float is compared with Python's own text. Whatever is not proven goes through
the exact encoder. Nothing here says that two values with equal bytes were written by the same hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
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
_PROVEN = frozenset({str, int, bool, type(None), dict, list})


def canonical_many(values: Sequence[Any]) -> list[bytes]:
    """Serialise each value by `json-c14n:v1`; raises as `engine.digests.canonical_json`."""
    dumps = orjson.dumps
    try:
        written = [dumps(value, None, _OPTIONS) for value in values]
    except (TypeError, RecursionError):  # what the fast serialiser refuses, the recipe may still hold
        return [canonical_json(value) for value in values]
    return written if _is_proven(values) else [canonical_json(value) for value in values]


def _is_proven(values: Sequence[Any]) -> bool:
    """Tell whether values hold only exact JSON types whose fast text is the recipe's text.

    Must run after the serialiser has accepted the values: that bounds their depth and shows that keys are text.
    """
    level: Sequence[Any] = values
    while level:
        kinds = set(map(type, level))
        if kinds - _PROVEN and (kinds - _PROVEN != {float} or not all(map(_same_float, level))):
            return False
        lists = [value for value in level if type(value) is list] if list in kinds else ()
        dicts = [value for value in level if type(value) is dict] if dict in kinds else ()
        level = [*chain.from_iterable(map(dict.values, dicts)), *chain.from_iterable(lists)]
    return True


def _same_float(value: Any) -> bool:
    return type(value) is not float or orjson.dumps(value) == float.__repr__(value).encode("ascii")
