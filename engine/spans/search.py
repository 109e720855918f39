"""Where do many word sequences occur in one text, in bounded time?

One automaton over words looks for all sequences at once (Aho-Corasick). Each state knows the nearest shorter sequence
that ends there too, and a sequence that has all its places is taken out of these links. So the work grows with the
words of the text plus those of the sequences plus the places listed, also where sequences nest in a repetitive text.
The places are the first ones in the text; `cut` says that there is at least one more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.findings import UNWATCHED, Watch

PLACE_CAP = 20
WATCH_EVERY = 50_000
"""Words read between two looks at the caller's wish to stop: some hundredths of a second."""


@dataclass(slots=True)
class Runs:
    """The first word of each listed occurrence of one sequence, and whether there are more."""

    at: list[int] = field(default_factory=list)
    cut: bool = False


@dataclass(slots=True)
class _Trie:
    """The sequences as a tree of states; state 0 is the root.

    `step` maps state * width + word to the next state; `fails` leads to the longest proper end of a state that is a
    state too; `outs` leads to the nearest state, itself included, where a sequence ends (0: none).
    """

    width: int
    step: dict[int, int]
    depths: list[int]
    edges: list[int]
    fails: list[int]
    outs: list[int]
    ends: dict[int, Runs]


def _grow(numbered: Sequence[Sequence[int]], runs: Sequence[Runs], width: int) -> _Trie:
    """Make the tree; `edges` has for each state the key that led there."""
    step: dict[int, int] = {}
    depths, edges = [0], [0]
    ends: dict[int, Runs] = {}
    for sequence, found in zip(numbered, runs, strict=True):
        state = 0
        for depth, word in enumerate(sequence, start=1):
            key = state * width + word
            following = step.get(key)
            if following is None:
                following = step[key] = len(depths)
                depths.append(depth)
                edges.append(key)
            state = following
        ends[state] = found
    return _Trie(width, step, depths, edges, [0] * len(depths), [0] * len(depths), ends)


def _link(trie: _Trie, watch: Watch) -> None:
    """Fill `fails` and `outs`, shorter states first."""
    width, get, fails, outs, ends = trie.width, trie.step.get, trie.fails, trie.outs, trie.ends
    order = sorted(range(1, len(fails)), key=trie.depths.__getitem__)
    for done, state in enumerate(order):
        if done % WATCH_EVERY == 0:
            watch.step("searching", done, len(order), "states")
        parent, word = divmod(trie.edges[state], width)
        if parent:
            shorter = fails[parent]
            following = get(shorter * width + word)
            while following is None and shorter:
                shorter = fails[shorter]
                following = get(shorter * width + word)
            fails[state] = following or 0
        outs[state] = state if state in ends else outs[fails[state]]


class _Listing:
    """The sequences still in want of places; those that have all of them are skipped from then on."""

    def __init__(self, trie: _Trie) -> None:
        self._trie = trie
        self._after: dict[int, int] = {}
        self.wanting = len(trie.ends)

    def _next(self, state: int) -> int:
        """Return the nearest end that still wants places, and shorten the way to it for the next time."""
        after = self._after
        while (following := after.get(state)) is not None:
            if (further := after.get(following)) is not None:
                after[state] = further
            state = following
        return state

    def note(self, state: int, place: int) -> None:
        """Note all wanted sequences that end with the word at `place`; `state` is the longest of them."""
        trie = self._trie
        state = self._next(state)
        while state:
            found, shorter = trie.ends[state], trie.outs[trie.fails[state]]
            if len(found.at) < PLACE_CAP:
                found.at.append(place - trie.depths[state] + 1)
            else:
                found.cut = True
                self._after[state] = shorter
                self.wanting -= 1
            state = self._next(shorter)


def _scan(trie: _Trie, numbers: Sequence[int | None], watch: Watch) -> None:
    """Read the text once, up to the place where no sequence wants more places."""
    width, get, fails, outs = trie.width, trie.step.get, trie.fails, trie.outs
    listing = _Listing(trie)
    state = 0
    for begin in range(0, len(numbers), WATCH_EVERY):
        watch.step("searching", begin, len(numbers), "words")
        if not listing.wanting:
            return
        for place, word in enumerate(numbers[begin : begin + WATCH_EVERY], start=begin):
            if word is None:
                state = 0
                continue
            following = get(state * width + word)
            while following is None and state:
                state = fails[state]
                following = get(state * width + word)
            state = following or 0
            if outs[state]:
                listing.note(outs[state], place)


def find_runs(sequences: Sequence[Sequence[str]], words: Sequence[str], *, watch: Watch = UNWATCHED) -> list[Runs]:
    """Return for each non-empty sequence where it stands in `words` as a contiguous run of whole words.

    Raises `CancelledError`.
    """
    runs: dict[tuple[str, ...], Runs] = {tuple(sequence): Runs() for sequence in sequences}
    held = set(words)
    possible = [sequence for sequence in runs if len(sequence) <= len(words) and held.issuperset(sequence)]
    vocabulary: dict[str, int] = {}
    numbered = [[vocabulary.setdefault(word, len(vocabulary)) for word in sequence] for sequence in possible]
    if possible:
        trie = _grow(numbered, [runs[sequence] for sequence in possible], len(vocabulary))
        _link(trie, watch)
        _scan(trie, [vocabulary.get(word) for word in words], watch)
    return [runs[tuple(sequence)] for sequence in sequences]
