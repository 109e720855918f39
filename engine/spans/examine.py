"""What speaks beside each verdict of one text?

Everything that is the same for all spans of a text is made once: the index of its features, its code fences, the
lists of words, the plain search. It changes no verdict.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.findings import UNWATCHED, Watch
from engine.spans.difference import COMPARED_WORDS, difference
from engine.spans.evidence import Change, Evidence, FoundIn, Piece, Window
from engine.spans.flags import Sight, flags_of
from engine.spans.judge import Judged, Verdict
from engine.spans.plain import plainly_found
from engine.spans.prepared import PreparedText
from engine.spans.surroundings import NOWHERE, Stretch, cut, fences, inside, stretch_at, widened
from engine.spans.window import Passage, WindowIndex
from engine.spans.wording import wording
from engine.spans.words import Words, read_words


class Examiner:
    """Gathers the evidence beside the verdicts on one text."""

    def __init__(
        self,
        text: PreparedText,
        judged: Sequence[Judged],
        *,
        tail_start: int | None = None,
        in_block: frozenset[str] = frozenset(),
        watch: Watch = UNWATCHED,
    ) -> None:
        """Prepare the text; `in_block` are the ids of pins that a block carries. Raises `CancelledError`."""
        self._text = text
        self._tail_start = tail_start
        self._in_block = in_block
        self._fences = fences(text.text)
        self._windows = WindowIndex(text)
        damaged = [each.pin.match_text for each in judged if each.verdict is not Verdict.PRESERVED]
        self._plain = plainly_found(damaged, text.text, watch=watch)

    def evidence(self, judged: Judged) -> Evidence:
        """Return all that speaks beside one verdict."""
        words = read_words(judged.pin.match_text)
        preserved = judged.verdict is Verdict.PRESERVED
        stands = tuple(stretch_at(self._text, place) for place in judged.places)
        passage = None if preserved else self._windows.best(words.features())
        near = self._near(words, passage)
        plain = judged.pin.match_text in self._plain
        sight = Sight(judged, words, self._text, passage, near, stands, wording(), plain)
        return Evidence(
            window=self._place(judged, words) if preserved else self._window(passage),
            flags=flags_of(sight),
            found_in=self._found_in(judged),
            diff=self._diff(judged, words, near),
            diff_cut=len(words.texts) > COMPARED_WORDS,
        )

    def _place(self, judged: Judged, words: Words) -> Window:
        """Return the window of a span that stands in the text: its first place, which holds all of it."""
        total = len(words.features())
        start, end = judged.places[0]
        return Window(total, total, start, end, self._text.text[start:end])

    def _near(self, words: Words, passage: Passage | None) -> Stretch:
        """Return the part of a passage from its first to its last match, and the words round it."""
        if passage is None or not passage.found:
            return NOWHERE
        wanted = [number for each in set(words.features()) if (number := self._text.vocabulary.get(each)) is not None]
        ids = self._text.ids[passage.first : passage.last + 1]
        met = np.flatnonzero(np.isin(ids, wanted)) + passage.first
        return widened(self._text, Stretch(int(self._text.firsts[met[0]]), int(self._text.lasts[met[-1]])))

    def _window(self, passage: Passage | None) -> Window | None:
        if passage is None:
            return None
        stretch = Stretch(int(self._text.firsts[passage.first]), int(self._text.lasts[passage.last]))
        start, end = self._text.words.starts[stretch.first], self._text.words.ends[stretch.last]
        return Window(passage.found, passage.total, start, end, cut(self._text, stretch))

    def _found_in(self, judged: Judged) -> tuple[FoundIn, ...]:
        places = {self._kind(start) for start, _ in judged.places}
        if judged.pin.id in self._in_block:
            places.add(FoundIn.BLOCK)
        return tuple(kind for kind in FoundIn if kind in places)

    def _kind(self, start: int) -> FoundIn:
        if inside(self._fences, start):
            return FoundIn.CODE_FENCE
        if self._tail_start is not None and start >= self._tail_start:
            return FoundIn.KEPT_TAIL
        return FoundIn.BODY

    def _diff(self, judged: Judged, words: Words, near: Stretch) -> tuple[Piece, ...]:
        span = judged.pin.match_text
        if judged.verdict is Verdict.PRESERVED:
            return (Piece(Change.SAME, span),)
        if near.last < near.first:
            return (Piece(Change.REMOVED, span),)
        part = slice(near.first, near.last + 1)
        inner = self._text.words
        passage = Words(inner.texts[part], inner.starts[part], inner.ends[part])
        return difference(span, words, self._text.text, passage)
