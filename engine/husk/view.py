"""Which parts of an event may an extractor read?

An extractor declares its paths and reaches the event through this view only. A read outside the declaration stops it,
so that a declaration can be relied on when the payload has left.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class UndeclaredReadError(Exception):
    """An extractor reached for a path that it did not declare."""


class PayloadView:
    """A reading of one event that is limited to declared paths; what it returns are copies."""

    def __init__(self, value: Mapping[str, Any], declared: Sequence[str]) -> None:
        self._value = value
        self._declared = tuple(declared)

    def get(self, path: str) -> Any:
        """Return the value at a JSON pointer, None when it is absent; raises `UndeclaredReadError`."""
        if not any(path == each or path.startswith(f"{each}/") for each in self._declared):
            raise UndeclaredReadError(path)
        found: Any = self._value
        for part in path.split("/")[1:]:
            if not isinstance(found, Mapping) or part not in found:
                return None
            found = found[part]
        return copy.deepcopy(found)


def texts_of(value: Any) -> Iterator[str]:
    """Yield every text in a value, keys left out, in order; the nesting was bounded when the event was admitted."""
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from texts_of(inner)
        case list():
            for inner in value:
                yield from texts_of(inner)
        case _:
            return
