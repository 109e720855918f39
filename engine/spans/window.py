"""Which passage of a text holds most of a span's features in one place?

A passage of one and a half times the span's length slides over the text; matches count as a bag, and of equally good
passages the first is taken. Only places of the span's own features are visited, the rarest first. That words stand
close together does not prove that they say the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.spans.prepared import Ids, PreparedText

FIRST_ANCHORS = 32
ANCHOR_GROWTH = 4
FIRST_PART = 1 << 16
"""Places of the text scanned before the first look at whether more is needed."""
ROUND_SHARE = 16
"""A round over more than this part of all places of the span's features costs more than looking at them all."""
EXTRA_FEATURES = 4
_NEVER = np.int32(2**31 - 1)


def window_size(features: int) -> int:
    """Return how many features the sliding passage holds for a span of so many."""
    return max((3 * features + 1) // 2, features + EXTRA_FEATURES)


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of features of the text, `first` to `last` inclusive, and how many of the span's it holds."""

    found: int
    total: int
    first: int
    last: int


@dataclass(slots=True)
class _Best:
    """The best score so far and the earliest place at which a passage reaches it."""

    score: int = 0
    end: int = 0

    def see(self, score: int, end: int) -> None:
        if score > self.score or (score == self.score and end < self.end):
            self.score, self.end = score, end


class WindowIndex:
    """The places of every feature of one text, ready to be asked for many spans; not for use in two threads at once."""

    def __init__(self, text: PreparedText) -> None:
        """Sort the places of a text by feature once."""
        self._text = text
        ids = text.ids
        self._order: Ids = np.argsort(ids, kind="stable").astype(np.int32)
        self._bounds: Ids = np.zeros(len(text.vocabulary) + 1, np.int32)
        np.cumsum(np.bincount(ids, minlength=len(text.vocabulary)), out=self._bounds[1:])
        self._slot: Ids = np.empty(len(ids), np.int32)
        self._slot[self._order] = np.arange(len(ids), dtype=np.int32)
        self._need: Ids = np.zeros(len(text.vocabulary), np.int32)

    def best(self, features: Sequence[str]) -> Passage | None:
        """Return the first of the best passages for a span's features; None when the text holds no word."""
        size = len(self._text.ids)
        if not size:
            return None
        width = window_size(len(features))
        vocabulary = self._text.vocabulary
        wanted = Counter(vocabulary[each] for each in features if each in vocabulary)
        for number, count in wanted.items():
            self._need[number] = count
        try:
            best = self._search(wanted, width)
        finally:
            for number in wanted:
                self._need[number] = 0
        first = max(0, best.end - width + 1)
        return Passage(best.score, len(features), first, min(size, first + width) - 1)

    def _search(self, wanted: Mapping[int, int], width: int) -> _Best:
        """Look round the rarest features first, and stop when no passage without them can be as good."""
        best = _Best()
        places = {number: int(self._bounds[number + 1] - self._bounds[number]) for number in wanted}
        everywhere = sum(places.values())
        reach = sum(min(count, places[number]) for number, count in wanted.items())
        most = reach
        rarest = sorted(wanted, key=lambda number: (places[number], number))
        budget, at = FIRST_ANCHORS, 0
        while at < len(rarest) and reach >= best.score and reach:
            group: list[int] = []
            anchors = 0
            while at < len(rarest) and (not group or anchors + places[rarest[at]] <= budget):
                group.append(rarest[at])
                anchors += places[rarest[at]]
                at += 1
            if anchors * 2 * width * ROUND_SHARE >= everywhere:
                return self._scan_all(wanted, width, most)
            self._scan_round(group, width, best)
            reach -= sum(min(wanted[number], places[number]) for number in group)
            budget *= ANCHOR_GROWTH
        return best

    def _scan_round(self, group: Sequence[int], width: int, best: _Best) -> None:
        """Score every passage that holds a feature of the group."""
        spots = [self._order[self._bounds[number] : self._bounds[number + 1]] for number in group]
        anchors = np.sort(np.concatenate(spots))
        starts = np.maximum(anchors - (width - 1), 0)
        stops = np.minimum(anchors + width, len(self._text.ids))
        starts[1:] = np.maximum(starts[1:], stops[:-1])
        lengths = stops - starts
        keep = lengths > 0
        starts, lengths = starts[keep], lengths[keep]
        shift = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        region = (shift + np.arange(len(shift))).astype(np.int32)
        self._score(region[self._need[self._text.ids[region]] > 0], width, best)

    def _scan_all(self, wanted: Mapping[int, int], width: int, most: int) -> _Best:
        """Score every passage from the left in growing parts, until one holds all that the text can give."""
        best = _Best()
        start, step = 0, FIRST_PART
        while start < len(self._text.ids) and best.score < most:
            self._scan_part(wanted, width, (start, start + step), best)
            start, step = start + step, step * ANCHOR_GROWTH
        return best

    def _scan_part(self, wanted: Mapping[int, int], width: int, part: tuple[int, int], best: _Best) -> None:
        """Score the passages that end in a part of the text.

        A place that follows the wanted number of its kind within one passage changes no score, which leaves few events
        in a text that repeats itself.
        """
        events: list[Ids] = []
        reach = (part[0] - width + 1, part[1])
        for number, wish in wanted.items():
            places = self._order[self._bounds[number] : self._bounds[number + 1]]
            first, last = np.searchsorted(places, reach)
            places = places[first:last]
            count = min(wish, len(places))
            fresh = np.flatnonzero(places[count:] - places[: len(places) - count] >= width)
            events += [2 * places[:count] + 1, 2 * places[count:][fresh] + 1]
            events += [2 * (places[fresh] + width), 2 * (places[len(places) - count :] + width)]
        every = np.concatenate(events)
        if not len(every):
            return
        every.sort()
        rises = every & 1
        rises *= 2
        rises -= 1
        scores = np.cumsum(rises, dtype=np.int32)
        at = int(np.argmax(scores))
        best.see(int(scores[at]), int(every[at]) >> 1)

    def _score(self, places: npt.NDArray[np.int32], width: int, best: _Best) -> None:
        """Score the passages that end at the given places of wanted features, all there are round the ones meant.

        A place counts from itself on, until it has left the passage or as many later ones as are wanted have come.
        """
        if not len(places):
            return
        numbers = self._text.ids[places]
        later = self._slot[places] + self._need[numbers]
        beyond = later >= self._bounds[numbers + 1]
        ends = np.where(beyond, _NEVER, self._order[np.minimum(later, len(self._order) - 1)])
        ends = np.sort(np.minimum(ends, places + width))
        scores = np.arange(1, len(places) + 1) - np.searchsorted(ends, places, side="right")
        at = int(np.argmax(scores))
        best.see(int(scores[at]), int(places[at]))
