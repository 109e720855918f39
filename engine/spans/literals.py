"""Which numbers and names does a text hold that must be kept to the letter?

Numbers are read with their sign and with one unit or prefix on them; names are paths, hosts, addresses and words
joined by an underscore. No unit is converted, and a name made of plain words is not known as one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.spans.words import Words, fold, is_hidden

_NUMBER = re.compile(r"[^\W\d_]{0,2}\d+(?:\.\d+)*[^\W\d_]{0,3}")
_NAME = re.compile(r"[^\W_](?:[\w.@:/\\-]*\w)?|_\w+")
_NAME_JOINT = re.compile(r"\w[/\\@]\w|[^\W_]_[^\W_]|[^\W\d]{2,}\.[^\W\d]{2,}|\w::\w|[^\W\d]\.\d|\d\.[^\W\d]")
_MINUS = "-\u2212\uff0d"


def is_number(word: str) -> bool:
    """Tell whether a folded word is a number, with at most a short unit or prefix on it."""
    return _NUMBER.fullmatch(word) is not None


def numbers_in(text: str, words: Words, first: int, last: int, spelled: Mapping[str, str]) -> list[str]:
    """Return the numbers among words `first` to `last` of a text, with their sign; spelled ones as digits."""
    return [
        _signed(text, words, at) if is_number(words.texts[at]) else spelled[words.texts[at]]
        for at in range(first, last + 1)
        if is_number(words.texts[at]) or words.texts[at] in spelled
    ]


def _signed(text: str, words: Words, at: int) -> str:
    start = words.starts[at]
    minus = start > 0 and text[start - 1] in _MINUS and (start == 1 or not text[start - 2].isalnum())
    return "-" * minus + words.texts[at]


def names_in(text: str) -> list[str]:
    """Return the names of a text as they are spelt, hidden characters left out."""
    shown = "".join(char for char in text if not is_hidden(char)) if not text.isascii() else text
    return [match[0] for match in _NAME.finditer(shown) if _NAME_JOINT.search(match[0])]


def squashed(text: str) -> str:
    """Return the folded letters and digits of a text and nothing between them."""
    return "".join(char for char in fold(text) if char.isalnum())
