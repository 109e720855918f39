"""Is each pinned span still in a text, by its words alone?

PRESERVED: its words stand there as a contiguous run. DEGRADED: at least three fifths of its distinct words occur
somewhere. LOST: fewer, that is, not found by word matching.
PRESERVED does not prove that the rule is in force, DEGRADED
does not prove that its words stand together, LOST does not prove that its meaning is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.findings import UNWATCHED, Watch
from engine.spans.prepared import PreparedText, prepare
from engine.spans.search import Runs, find_runs
from engine.spans.snapshot import Pin
from engine.spans.words import Words, read_words

WATCH_EVERY = 50
"""Spans judged between two looks at the caller's wish to stop."""


class Verdict(StrEnum):
    """What became of a span."""

    PRESERVED = "PRESERVED"
    DEGRADED = "DEGRADED"
    LOST = "LOST"


class Exactness(StrEnum):
    """How closely a PRESERVED span was met at its best listed place."""

    EXACT = "EXACT"
    WHITESPACE_ONLY = "WHITESPACE_ONLY"
    NORMALISED_MATCH = "NORMALISED_MATCH"


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one pin: distinct words found of the total, what is missing, and the places in the text.

    `places` are start and end in the original text, at most 20; `places_cut` says that there can be more.
    """

    pin: Pin
    verdict: Verdict
    found: int
    total: int
    missing: tuple[str, ...]
    dropped_text: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    places_cut: bool
    exactness: Exactness | None

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "id": self.pin.id,
            "cls": self.pin.cls.value,
            "critical": self.pin.critical,
            "verdict": self.verdict.value,
            "found": self.found,
            "total": self.total,
            "missing": list(self.missing),
            "dropped_text": list(self.dropped_text),
            "places": [list(place) for place in self.places],
            "places_cut": self.places_cut,
            "exactness": self.exactness.value if self.exactness else None,
        }


def _dropped(text: str, words: Words, missing: frozenset[str]) -> tuple[str, ...]:
    """Return the pieces of the original that cover the missing words, neighbours joined."""
    pieces: list[tuple[int, int]] = []
    for feature, first, last in words.placed_features():
        if feature not in missing:
            continue
        if pieces and first <= pieces[-1][1] + 1:
            pieces[-1] = (pieces[-1][0], last)
        else:
            pieces.append((first, last))
    return tuple(text[words.starts[first] : words.ends[last]] for first, last in pieces)


def _exactness(span: str, words: Words, text: str, places: Sequence[tuple[int, int]]) -> Exactness:
    lead, tail = words.starts[0], len(span) - words.ends[-1]
    slices = [text[max(0, start - lead) : end + tail] for start, end in places]
    if span in slices:
        return Exactness.EXACT
    if any(piece.split() == span.split() for piece in slices):
        return Exactness.WHITESPACE_ONLY
    return Exactness.NORMALISED_MATCH


def _judge_one(entry: Pin, words: Words, post: PreparedText, runs: Runs) -> Judged:
    wanted = frozenset(words.features())
    missing = frozenset() if runs.at else frozenset(each for each in wanted if not post.holds(each))
    found = len(wanted) - len(missing)
    last = len(words.texts) - 1
    places = tuple((post.words.starts[at], post.words.ends[at + last]) for at in runs.at)
    exactness: Exactness | None = None
    dropped: tuple[str, ...] = ()
    if places:
        verdict, exactness = Verdict.PRESERVED, _exactness(entry.match_text, words, post.text, places)
    elif 5 * found >= 3 * len(wanted):
        verdict, dropped = Verdict.DEGRADED, _dropped(entry.match_text, words, missing)
    else:
        verdict, dropped = Verdict.LOST, (entry.text,)
    return Judged(entry, verdict, found, len(wanted), tuple(sorted(missing)), dropped, places, runs.cut, exactness)


def judge(pins: Sequence[Pin], post: str | PreparedText, *, watch: Watch = UNWATCHED) -> tuple[Judged, ...]:
    """Judge each pin against the whole of a text, in order; a text prepared before is not read again.

    Pins hold at least one word (a snapshot refuses others). The same text and pins give the same verdicts. Raises
    `CancelledError`.
    """
    prepared = prepare(post) if isinstance(post, str) else post
    spans = [read_words(entry.match_text) for entry in pins]
    watch.step("searching", 0, len(pins), "spans")
    runs = find_runs([words.texts for words in spans], prepared.words.texts)
    judged: list[Judged] = []
    for done, (entry, words, run) in enumerate(zip(pins, spans, runs, strict=True)):
        if done % WATCH_EVERY == 0:
            watch.step("judging", done, len(pins), "spans")
        judged.append(_judge_one(entry, words, prepared, run))
    return tuple(judged)
