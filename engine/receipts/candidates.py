"""Which content could a receipt have been sealed on?

Digests every side of every round in every view, and every content file, so that a receipt finds its content by the
digest over the whole side. Equal digests prove equal items in equal order under that view; they do not prove that the
transcript is the session the receipt was sealed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.findings import UNWATCHED, Watch
from engine.lines.plain import hold
from engine.receipts.consistency import EMPTY_DIGEST
from engine.receipts.content import ContentError, SideSum, as_items, side_sum
from engine.transcripts.rounds import CompactionRound, Side, SideState, Transcript
from engine.transcripts.views import side_views

AS_GIVEN = "as-given"
"""The view of a content file: its items as they are."""


class SideName(StrEnum):
    """Which side of a compaction a candidate is."""

    BEFORE = "before"
    AFTER = "after"
    CONTENT = "content"
    """A content file: it may be either."""


@dataclass(frozen=True, slots=True)
class HeldContent:
    """A list of content items with a name, such as a content file."""

    name: str
    items: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One side in one view: where it stands and its sums. The items are made again when they are needed.

    `source` is a file name; `round_index` counts from 1 (0 for a content file).
    """

    source: str
    side: SideName
    round_index: int
    view: str
    state: SideState
    sums: SideSum
    order: int
    """Position of its transcript or content file among those given."""


class ContentIndex:
    """Every candidate by the digest over its items."""

    def __init__(self, transcripts: Iterable[Transcript], contents: Iterable[HeldContent] = ()) -> None:
        self._transcripts = tuple(transcripts)
        self._contents = tuple(contents)
        self._held: list[Sequence[Any]] = []
        self._by_digest: dict[str, list[Candidate]] = {}
        self._by_place: dict[tuple[int, int, SideName, str], Candidate] = {}
        self.undigestible: list[str] = []
        """Names of sides and files that hold an item no receipt can digest."""

    @classmethod
    def of(
        cls, transcripts: Iterable[Transcript], contents: Iterable[HeldContent] = (), *, watch: Watch = UNWATCHED
    ) -> ContentIndex:
        """Digest all sides and contents; raises `ContentError` for content that is no list, and `CancelledError`."""
        index = cls(transcripts, contents)
        for order, transcript in enumerate(index._transcripts):
            for compaction in transcript.rounds:
                index._add_side(order, transcript, compaction, SideName.BEFORE, watch)
                index._add_side(order, transcript, compaction, SideName.AFTER, watch)
        for order, content in enumerate(index._contents):
            # Proven plain once: a file is digested here and again for each receipt it belongs to.
            index._held.append(hold(as_items(content.items)))
            place = _Place(content.name, SideName.CONTENT, 0, AS_GIVEN, SideState.EXACT, order)
            index._add(place, index._held[order], watch)
        return index

    def __len__(self) -> int:
        return sum(len(candidates) for candidates in self._by_digest.values())

    def find(self, digest: object) -> Sequence[Candidate]:
        """Return the candidates with a digest; the empty list's digest finds none, it would fit everywhere."""
        if not isinstance(digest, str) or digest == EMPTY_DIGEST:
            return ()
        return self._by_digest.get(digest, ())

    def other_side(self, candidate: Candidate) -> Candidate | None:
        """Return the other side of a candidate's round in the same view."""
        other = {SideName.BEFORE: SideName.AFTER, SideName.AFTER: SideName.BEFORE}.get(candidate.side)
        if other is None:
            return None
        return self._by_place.get((candidate.order, candidate.round_index, other, candidate.view))

    def items(self, candidate: Candidate) -> Sequence[Any]:
        """Return the items of a candidate."""
        if candidate.side is SideName.CONTENT:
            return self._held[candidate.order]
        transcript = self._transcripts[candidate.order]
        compaction = next(each for each in transcript.rounds if each.index == candidate.round_index)
        return _views(transcript, compaction, candidate.side)[candidate.view]

    def _add_side(
        self, order: int, transcript: Transcript, compaction: CompactionRound, name: SideName, watch: Watch
    ) -> None:
        source = transcript.sources[0].name if transcript.sources else ""
        state = _side(compaction, name).state
        for view, items in _views(transcript, compaction, name).items():
            self._add(_Place(source, name, compaction.index, view, state, order), items, watch)

    def _add(self, place: _Place, items: Sequence[Any], watch: Watch) -> None:
        try:
            sums = side_sum(items, watch)
        except ContentError:
            self.undigestible.append(f"{place.source}, round {place.round_index}, {place.side.value}, {place.view}")
            return
        candidate = Candidate(place.source, place.side, place.round_index, place.view, place.state, sums, place.order)
        self._by_digest.setdefault(sums.digest, []).append(candidate)
        self._by_place[place.order, place.round_index, place.side, place.view] = candidate


@dataclass(frozen=True, slots=True)
class _Place:
    source: str
    side: SideName
    round_index: int
    view: str
    state: SideState
    order: int


def _side(compaction: CompactionRound, name: SideName) -> Side:
    return compaction.pre if name is SideName.BEFORE else compaction.post


def _views(transcript: Transcript, compaction: CompactionRound, name: SideName) -> Mapping[str, list[Any]]:
    return side_views(transcript, _side(compaction, name))
