"""Walks over parent links."""

from __future__ import annotations

from engine.transcripts.tree import Stop, Walk, walk_up

PARENTS: dict[str, str | None] = {"a": None, "b": "a", "c": "b", "x": "gone", "p": "q", "q": "p"}


def walk(leaf: str, *base: str) -> Walk:
    """Walk the small tree."""
    return walk_up(leaf, PARENTS.__getitem__, PARENTS, frozenset(base))


def test_every_way_a_walk_can_end() -> None:
    """At a root, at the base, at a parent that is not there, and where it would turn in a circle."""
    assert walk("c") == Walk(("c", "b", "a"), Stop.ROOT)
    assert walk("c", "a") == Walk(("c", "b"), Stop.BASE, "a")
    assert walk("x") == Walk(("x",), Stop.MISSING, "gone")
    assert walk("p") == Walk(("p", "q"), Stop.CYCLE, "p")
    assert walk("a", "a") == Walk((), Stop.BASE, "a")
