"""The registry of kinds: exhaustive, and the stricter class wins."""

from __future__ import annotations

from enum import StrEnum

import pytest

from engine.husk.kinds import CLASSES, EventKind, RetentionClass, retention_class, stricter


def test_every_kind_has_a_class() -> None:
    """The registry names every kind once."""
    assert set(CLASSES) == set(EventKind)


def test_a_kind_without_a_class_is_an_error_and_no_guess() -> None:
    """A value that the match does not name raises; nothing falls through to a default."""

    class Other(StrEnum):
        NEW = "new"

    with pytest.raises(AssertionError):
        retention_class(Other.NEW)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [EventKind.EVIDENCE, EventKind.MARKER, EventKind.SEAL])
def test_evidence_markers_and_seals_are_never_compacted(kind: EventKind) -> None:
    """The product document names these three."""
    assert retention_class(kind) is RetentionClass.NEVER


def test_the_stricter_class_wins() -> None:
    """Never before summarise before husk, in both orders."""
    assert stricter(RetentionClass.HUSK, RetentionClass.NEVER) is RetentionClass.NEVER
    assert stricter(RetentionClass.SUMMARISE, RetentionClass.HUSK) is RetentionClass.SUMMARISE
