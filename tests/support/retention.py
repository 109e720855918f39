"""Rows for the tests of retention figures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from engine.retention.rows import RoundFacts, Row
from engine.spans.classify import SpanClass
from engine.spans.judge import Verdict

LETTERS: Mapping[str, Verdict | None] = {
    "P": Verdict.PRESERVED,
    "D": Verdict.DEGRADED,
    "L": Verdict.LOST,
    "B": Verdict.LOST,
    "?": None,
}


def rows_for(
    fates: Mapping[str, str],
    *,
    session: str = "s1",
    compactor: str = "one",
    cls: SpanClass = SpanClass.INVARIANT,
    critical: bool = False,
) -> list[Row]:
    """Return rows from a letter for each round: P, D, L, B (lost, but in a block), ? (unverifiable), - (not yet)."""
    made = []
    for name, fate in fates.items():
        pin = "pin-" + hashlib.sha256(name.encode()).hexdigest()[:16]
        for number, letter in enumerate(fate, 1):
            if letter == "-":
                continue
            made.append(
                Row(
                    session,
                    compactor,
                    "summary",
                    "model",
                    number,
                    pin,
                    name,
                    cls,
                    critical,
                    LETTERS[letter],
                    in_block=letter == "B",
                    carried_from_block=letter == "P" and number > 1 and fate[number - 2] == "B",
                )
            )
    return made


def facts_for(rows: list[Row], shares: Mapping[int, tuple[int, int]] | None = None) -> list[RoundFacts]:
    """Return facts for every session and round; `shares` gives words before and after of a round."""
    places = sorted({(row.session, row.compactor, row.round) for row in rows})
    known = shares or {}
    return [
        RoundFacts(session, compactor, "summary", "model", number, *known.get(number, (1000, 500)), block_words=7)
        for session, compactor, number in places
    ]
