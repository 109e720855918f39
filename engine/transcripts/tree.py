"""Which rows lead from a leaf to its root?

An iterative walk over parent links that ends at a given set of ids, at a root, at a missing parent or when it would
turn in a circle. The links are what the file says; the walk does not prove that the tool sent these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from enum import StrEnum


class Stop(StrEnum):
    """Why a walk ended."""

    BASE = "base"
    ROOT = "root"
    MISSING = "missing"
    CYCLE = "cycle"


@dataclass(frozen=True, slots=True)
class Walk:
    """Ids from leaf upwards, why the walk ended, and the id it ended at (base, missing parent or repeated row)."""

    path: tuple[str, ...]
    stop: Stop
    at: str | None = None


def walk_up(leaf: str, parent_of: Callable[[str], str | None], known: Container[str], base: Container[str]) -> Walk:
    """Follow parents from `leaf` until `base`, a root, an unknown id or a repetition."""
    path: list[str] = []
    seen: set[str] = set()
    here: str | None = leaf
    while here is not None:
        if here in base:
            return Walk(tuple(path), Stop.BASE, here)
        if here in seen:
            return Walk(tuple(path), Stop.CYCLE, here)
        if here not in known:
            return Walk(tuple(path), Stop.MISSING, here)
        seen.add(here)
        path.append(here)
        here = parent_of(here)
    return Walk(tuple(path), Stop.ROOT)
