"""Which words of a span are the same in a passage, in order, which are gone and which are new?

The longest common subsequence, by bit vectors, so that its cost is bounded by the words times the machine's width. A
difference shows words; it does not know which of several equal words was meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.spans.evidence import Change, Piece
from engine.spans.words import Words

COMPARED_WORDS = 2_000
"""Words of a span that are compared; the rest of a longer span is left out, and `Evidence.diff_cut` says so."""


def _rows(left: Sequence[str], right: Sequence[str]) -> list[int]:
    """Return for each prefix of `right` a bit vector over `left`; a zero bit is one more word in common."""
    mask = (1 << len(left)) - 1
    spots: dict[str, int] = {}
    for at, word in enumerate(left):
        spots[word] = spots.get(word, 0) | (1 << at)
    row = mask
    rows = [row]
    for word in right:
        hit = row & spots.get(word, 0)
        row = ((row + hit) | (row - hit)) & mask
        rows.append(row)
    return rows


def common_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    return len(left) - _rows(left, right)[-1].bit_count()


def matches(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of places of one longest common subsequence, in order."""
    rows = _rows(left, right)
    pairs: list[tuple[int, int]] = []
    i, j = len(left), len(right)
    while i and j:
        if left[i - 1] == right[j - 1]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif _common(rows[j - 1], i) >= _common(rows[j], i):
            j -= 1
        else:
            i -= 1
    return pairs[::-1]


def _common(row: int, prefix: int) -> int:
    """Return the common length with the first `prefix` words of `left`."""
    return prefix - (row & ((1 << prefix) - 1)).bit_count()


def difference(span: str, words: Words, passage: str, near: Words) -> tuple[Piece, ...]:
    """Return the word difference of a span against a passage, in pieces cut from the two original texts."""
    left, right = words.texts[:COMPARED_WORDS], near.texts[: 2 * COMPARED_WORDS]
    return tuple(
        Piece(change, text[source.starts[first] : source.ends[last]])
        for change, first, last in _stretches(left, right)
        for text, source in [(passage, near) if change is Change.ADDED else (span, words)]
    )


def _stretches(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[Change, int, int]]:
    """Yield runs of one change with the numbers of their first and last word."""
    i = j = 0
    same: tuple[int, int] | None = None
    for at, other in [*matches(left, right), (len(left), len(right))]:
        gap = at > i or other > j
        if same and gap:
            yield (Change.SAME, *same)
            same = None
        if at > i:
            yield Change.REMOVED, i, at - 1
        if other > j:
            yield Change.ADDED, j, other - 1
        if at < len(left):
            same = (same[0] if same else at, at)
        i, j = at + 1, other + 1
    if same:
        yield (Change.SAME, *same)
