"""Which words and features does one text hold, read once and shared by every span that is looked for in it?

The features stand as numbers in arrays, so that a search over them costs little a span. Nothing here says whether a
span was found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.spans.words import Words, read_words

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedText:
    """A text with its words, and its features as numbers into `vocabulary`.

    `ids` has the number of the feature at each place; `firsts` and `lasts` the numbers of its first and last word.
    """

    text: str
    words: Words
    vocabulary: dict[str, int]
    ids: Ids
    firsts: Ids
    lasts: Ids

    def holds(self, feature: str) -> bool:
        """Tell whether the text holds a feature anywhere."""
        return feature in self.vocabulary


def prepare(text: str) -> PreparedText:
    """Read a text once; time and memory grow with its length, and no text is refused."""
    words = read_words(text)
    vocabulary: dict[str, int] = {}
    placed = words.placed_features()
    numbers = (vocabulary.setdefault(feature, len(vocabulary)) for feature, _, _ in placed)
    ids = np.fromiter(numbers, np.int32, len(placed))
    firsts = np.fromiter((first for _, first, _ in placed), np.int32, len(placed))
    lasts = np.fromiter((last for _, _, last in placed), np.int32, len(placed))
    return PreparedText(text, words, vocabulary, ids, firsts, lasts)
