"""Which hints stand beside a verdict, by which rule?

Each rule looks at words near the best passage or the places of a span. A flag is a hint: it can be wrong both ways, and
no rule reads meaning.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from engine.spans.difference import COMPARED_WORDS, common_length
from engine.spans.evidence import Flag
from engine.spans.judge import Judged, Verdict
from engine.spans.literals import is_number, names_in, numbers_in, squashed
from engine.spans.prepared import PreparedText
from engine.spans.surroundings import Stretch, after, before, cut, words_of
from engine.spans.window import Passage
from engine.spans.wording import Wording
from engine.spans.words import Words

NEGATED_WITHIN = 3
CANCELLED_WITHIN = 8
_HIDDEN = re.compile(
    "[\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
    "|(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f])"
)
"""Characters that hide something. A soft hyphen, and joiners inside scripts that need them, only shape the line."""
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_LOOKALIKE = re.compile("[\u0370-\u03ff\u0400-\u052f\u1f00-\u1fff]")


@dataclass(frozen=True, slots=True)
class Sight:
    """All that the rules look at: the verdict, the span's words, and where in the text they are looked for.

    `near` is the part of the passage that holds the span's features and up to four words on both sides, in the same
    sentence; it is empty when the passage holds none. `stands` are the places of a PRESERVED span, as words.
    """

    judged: Judged
    words: Words
    text: PreparedText
    passage: Passage | None
    near: Stretch
    stands: tuple[Stretch, ...]
    wording: Wording
    plainly_found: bool

    @property
    def half(self) -> bool:
        """Tell whether the passage holds at least half of the span."""
        return self.passage is not None and 2 * self.passage.found >= self.passage.total

    @property
    def preserved(self) -> bool:
        """Tell whether the span stands in the text as a run."""
        return self.judged.verdict is Verdict.PRESERVED


def flags_of(sight: Sight) -> tuple[Flag, ...]:
    """Return the flags of one span in the order of the closed set."""
    rules = (_shape, _negation, _number, _spelling, _force, _hidden)
    fired = {flag for rule in rules for flag in rule(sight)}
    return tuple(flag for flag in Flag if flag in fired)


def _shape(sight: Sight) -> Iterator[Flag]:
    """Yield what is known of the order and the spread of the words."""
    if sight.preserved:
        return
    if sight.judged.verdict is Verdict.DEGRADED:
        if not sight.half:
            yield Flag.SCATTERED
        if sight.judged.found == sight.judged.total:
            yield Flag.ALL_TOKENS_PRESENT
    if sight.plainly_found:
        yield Flag.SUBSTRING_ONLY_MATCH
    if sight.half and sight.passage and len(sight.words.texts) <= COMPARED_WORDS:
        span, passage = sight.words.features(), _passage_features(sight.text, sight.passage)
        if 2 * common_length(span, passage) <= sight.passage.found:
            yield Flag.ORDER_SCRAMBLED


def _passage_features(text: PreparedText, passage: Passage) -> list[str]:
    texts = text.words.texts
    places = range(passage.first, passage.last + 1)
    return ["".join(texts[text.firsts[at] : text.lasts[at] + 1]) for at in places]


def _negation(sight: Sight) -> Iterator[Flag]:
    """Yield negations gone or come; for a PRESERVED span, what stands round it."""
    if sight.preserved:
        if any(_is_suspect(sight, stand) for stand in sight.stands):
            yield Flag.CONTEXT_SUSPECT
        return
    wanted = sight.wording.negations.count(sight.words.texts)
    there = sight.wording.negations.count(words_of(sight.text, sight.near))
    if there < wanted:
        yield Flag.NEGATION_LOST
    if there > wanted and sight.half:
        yield Flag.NEGATION_ADDED


def _is_suspect(sight: Sight, stand: Stretch) -> bool:
    """Tell whether a negation stands before a place, or a cancelling phrase on either side, in its sentence."""
    text, wording = sight.text, sight.wording
    if wording.negations.count(words_of(text, before(text, stand.first, NEGATED_WITHIN))):
        return True
    sides = (before(text, stand.first, CANCELLED_WITHIN), after(text, stand.last, CANCELLED_WITHIN))
    return any(wording.cancelling.count(words_of(text, side)) for side in sides)


def _number(sight: Sight) -> Iterator[Flag]:
    """Yield numbers that are nowhere, and numbers that others have replaced."""
    span, words, text = sight.judged.pin.match_text, sight.words, sight.text
    wanted = Counter(numbers_in(span, words, 0, len(words.texts) - 1, sight.wording.numbers))
    if not wanted:
        return
    if not sight.preserved and any(is_number(word) and not text.holds(word) for word in words.texts):
        yield Flag.NUMBER_MISSING
    if not sight.preserved and not sight.half:
        return
    readings = [
        Counter(numbers_in(text.text, text.words, each.first, each.last, sight.wording.numbers))
        for each in (sight.stands if sight.preserved else (sight.near,))
    ]
    if all((wanted - there) and (there - wanted) for there in readings):
        yield Flag.NUMBER_CHANGED


def _spelling(sight: Sight) -> Iterator[Flag]:
    """Yield signs that are gone from the passage, and names that are spelt differently there."""
    if not sight.preserved and sight.half:
        there = Counter(words_of(sight.text, sight.near))
        signs = Counter(word for word in sight.words.texts if _is_sign(word))
        if any(there[sign] < count for sign, count in signs.items()):
            yield Flag.SYMBOL_CHANGED
    names = names_in(sight.judged.pin.match_text)
    pieces = [cut(sight.text, each) for each in (sight.stands if sight.preserved else (sight.near,))]
    if names and pieces and all(_is_respelt(names, piece) for piece in pieces):
        yield Flag.IDENTIFIER_RESPELLED


def _is_sign(word: str) -> bool:
    return len(word) == 1 and unicodedata.category(word) in {"Sc", "Sm"}


def _is_respelt(names: list[str], piece: str) -> bool:
    """Tell whether a name is there by its letters and digits, but not as it was spelt."""
    spelt, letters = set(names_in(piece)), squashed(piece)
    return any(name not in spelt and name not in piece and squashed(name) in letters for name in names)


def _force(sight: Sight) -> Iterator[Flag]:
    """Yield when a binding word is gone from the passage and a softer one has come."""
    if sight.preserved or not sight.half:
        return
    near, wording = words_of(sight.text, sight.near), sight.wording
    gone = wording.strong.count(near) < wording.strong.count(sight.words.texts)
    if gone and Counter(wording.weak.found(near)) - Counter(wording.weak.found(sight.words.texts)):
        yield Flag.FORCE_WEAKENED


def _hidden(sight: Sight) -> Iterator[Flag]:
    """Yield hidden characters in or round the passage, and words of mixed scripts."""
    if _HIDDEN.search(sight.judged.pin.text):
        yield Flag.INVISIBLE_CHARS_IN_SPAN
    near = sight.stands if sight.preserved else (sight.near,)
    pieces = [_with_edges(sight.text, each) for each in near]
    if any(_HIDDEN.search(piece) for piece in pieces):
        yield Flag.INVISIBLE_CHARS_IN_POST
    if any(_is_mixed(word) for word in sight.words.texts) or any(
        _is_mixed(word) for each in near for word in words_of(sight.text, each)
    ):
        yield Flag.MIXED_SCRIPT_TOKEN


def _with_edges(text: PreparedText, stretch: Stretch) -> str:
    """Return a stretch with all that lies between it and the next words."""
    if stretch.last < stretch.first:
        return ""
    start = text.words.ends[stretch.first - 1] if stretch.first else 0
    end = text.words.starts[stretch.last + 1] if stretch.last + 1 < len(text.words.texts) else len(text.text)
    return text.text[start:end]


def _is_mixed(word: str) -> bool:
    return not word.isascii() and _LATIN.search(word) is not None and _LOOKALIKE.search(word) is not None
