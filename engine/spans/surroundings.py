"""Which words stand round a passage, within its sentence, and what kind of text is a place in?

Sentence ends are guessed from punctuation and line heads; an abbreviation can end one too early.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from engine.spans.prepared import PreparedText

NEAR_WORDS = 4
_SENTENCE_END = re.compile(
    "[.!?\u2026\u061f\u06d4][\"'\u201d\u2019\u00bb)\\]*_`]*\\s|[\u3002\uff01\uff1f\uff61]"
    r"|\n[ \t>]*\n|\n[ \t>]*(?:[-*+•][ \t]|#|\||`{3}|~{3})|[\u2028\u2029]"
)
_NUMBERED = re.compile(r"\d{1,3}[.)]\s")
_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})[^\n]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Words `first` to `last` inclusive of a prepared text; empty when `last` is before `first`."""

    first: int
    last: int


NOWHERE = Stretch(0, -1)


def words_of(text: PreparedText, stretch: Stretch) -> tuple[str, ...]:
    """Return the words of a stretch."""
    return text.words.texts[stretch.first : stretch.last + 1]


def cut(text: PreparedText, stretch: Stretch) -> str:
    """Return a stretch as it stands in the original text."""
    if stretch.last < stretch.first:
        return ""
    return text.text[text.words.starts[stretch.first] : text.words.ends[stretch.last]]


def _ends_sentence(text: PreparedText, word: int) -> bool:
    """Tell whether a sentence ends between a word and the next."""
    end, start = text.words.ends[word], text.words.starts[word + 1]
    gap = text.text[end:start]
    if _SENTENCE_END.search(gap):
        return True
    return "\n" in gap and _NUMBERED.match(text.text, start) is not None


def before(text: PreparedText, word: int, most: int) -> Stretch:
    """Return up to so many words before a word, within its sentence."""
    first = word
    while first > 0 and word - first < most and not _ends_sentence(text, first - 1):
        first -= 1
    return Stretch(first, word - 1)


def after(text: PreparedText, word: int, most: int) -> Stretch:
    """Return up to so many words after a word, within its sentence."""
    last, end = word, len(text.words.texts) - 1
    while last < end and last - word < most and not _ends_sentence(text, last):
        last += 1
    return Stretch(word + 1, last)


def widened(text: PreparedText, inner: Stretch, most: int = NEAR_WORDS) -> Stretch:
    """Return a stretch with up to so many words on both sides, not past the sentence."""
    return Stretch(before(text, inner.first, most).first, after(text, inner.last, most).last)


def stretch_at(text: PreparedText, place: tuple[int, int]) -> Stretch:
    """Return the words that stand at a place of the original text."""
    return Stretch(bisect_left(text.words.starts, place[0]), bisect_left(text.words.ends, place[1]))


def fences(text: str) -> tuple[list[int], list[int]]:
    """Return starts and ends of the fenced code blocks; one that is never closed reaches the end of the text."""
    starts: list[int] = []
    ends: list[int] = []
    opened = ""
    for line in _FENCE.finditer(text):
        if not opened:
            opened = line[1]
            starts.append(line.end())
        elif line[1][0] == opened[0] and len(line[1]) >= len(opened) and line[0].strip() == line[1]:
            opened = ""
            ends.append(line.start())
    if opened:
        ends.append(len(text))
    return starts, ends


def inside(ranges: tuple[Sequence[int], Sequence[int]], at: int) -> bool:
    """Tell whether a place stands inside one of the ranges."""
    number = bisect_right(ranges[0], at) - 1
    return number >= 0 and at < ranges[1][number]
