"""Would the simplest reading have called a span present?

Letters, digits and single spaces, found anywhere, also inside a longer word. A span that only this reading finds is
shown, since a reader who searches by eye or with a plain search finds it too. It changes no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import ahocorasick

from engine.findings import UNWATCHED, Watch

_OTHER = re.compile(r"[\W_]+")
WATCH_HITS = 20_000

HIT_CAP = 500_000
"""Hits in one pass of the automaton; it is then built again for what was not met yet."""


def simplest(text: str) -> str:
    """Return the letters and digits of a text in lower case, with one space for each run of anything else."""
    return _OTHER.sub(" ", text.lower()).strip()


def plainly_found(spans: Sequence[str], text: str, *, watch: Watch = UNWATCHED) -> frozenset[str]:
    """Return those spans whose simplest reading stands in that of the text; raises `CancelledError`."""
    whole = simplest(text)
    known = frozenset(whole.split())
    by_reading: dict[str, list[str]] = {}
    for span in spans:
        reading = simplest(span)
        # Only the first and the last word can stand inside a longer one.
        if reading and len(reading) <= len(whole) and known.issuperset(reading.split()[1:-1]):
            by_reading.setdefault(reading, []).append(span)
    found: set[str] = set()
    waiting = set(by_reading)
    while waiting:
        met, finished = _pass(waiting, whole, watch)
        found |= met
        waiting = set() if finished else waiting - met
    return frozenset(span for reading in found for span in by_reading[reading])


def _pass(readings: set[str], whole: str, watch: Watch) -> tuple[set[str], bool]:
    """Look for all readings at once; not finished when a repetitive text made too many hits, or all are found."""
    automaton = ahocorasick.Automaton()
    for reading in readings:
        automaton.add_word(reading, reading)
    automaton.make_automaton()
    met: set[str] = set()
    for hits, (_, reading) in enumerate(automaton.iter(whole)):
        met.add(reading)
        if hits % WATCH_HITS == 0:
            watch.step("reading plainly", len(met), len(readings), "spans")
        if len(met) == len(readings):
            return met, True
        if hits >= HIT_CAP:
            return met, False
    return met, True
