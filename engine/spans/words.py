"""Which words does a text hold, and where in the original do they stand?

The normal form of the policy `lexical-1`: folded (NFKC and case), hidden characters removed, line heads and
punctuation taken as white space, currency and comparison signs kept as words, scripts without spaces read character by
character. Equal words do not prove an equal meaning, and look-alike letters of other scripts stay other words.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

POLICY = "lexical-1"
FOLD_PASSES = 4

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3040-\u30fa\u30fc-\u30ff\u3100-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_LINE_HEAD = re.compile(r"(?:^|(?<=[\r\n]))[ \t]*(?:>[ \t]*)*(?:[-*+](?=[ \t]))?")
_RULE_LINE = re.compile(r"(?:^|(?<=[\r\n]))[ \t]*=+[ \t]*(?=[\r\n]|$)")
_GROUPED = re.compile(r"(?<!\d)(?<!\d[.,])\d{1,3}(?:,\d{3})+(?!,?\d)")
_DROPPED_INSIDE = re.compile("['\u2019\u02bc\ue000]")
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:(?:'|\ue000|(?<=[0-9])\.(?=[0-9]))[a-z0-9]+)*|[$<>+=]")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text in order, each with its start and end in the original text."""

    texts: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def features(self) -> tuple[str, ...]:
        """Return what containment counts, in order: words, and overlapping pairs in scripts without spaces."""
        return tuple(feature for feature, _, _ in self.placed_features())

    def placed_features(self) -> list[tuple[str, int, int]]:
        """Return each feature with the numbers of its first and last word."""
        placed: list[tuple[str, int, int]] = []
        last = len(self.texts) - 1
        joined_before = False
        for number, text in enumerate(self.texts):
            unspaced = _IS_UNSPACED.match(text) is not None
            joined = unspaced and number < last and _IS_UNSPACED.match(self.texts[number + 1]) is not None
            if joined:
                placed.append((text + self.texts[number + 1], number, number + 1))
            elif not (unspaced and joined_before):
                placed.append((text, number, number))
            joined_before = joined
        return placed


def _ranges(keep: Callable[[str, str], bool]) -> str:
    """Return the inside of a character class for all characters that `keep(character, category)` accepts."""
    parts: list[str] = []
    start: int | None = None
    for point in range(sys.maxunicode + 2):
        kept = point <= sys.maxunicode and keep(chr(point), unicodedata.category(chr(point)))
        if kept and start is None:
            start = point
        elif not kept and start is not None:
            parts.append(f"\\U{start:08x}-\\U{point - 1:08x}")
            start = None
    return "".join(parts)


@cache
def _wide_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the pattern of folding clusters and of words for text beyond ASCII; built once, under a second."""
    extend = _ranges(lambda _, category: category in {"Mn", "Mc", "Me", "Cf"}) + "\u1160-\u11ff\uff9e\uff9f"
    marks = _ranges(lambda _, category: category[0] == "M")
    letters = _ranges(lambda char, category: category[0] in "LMN" and _IS_UNSPACED.match(char) is None)
    signs = _ranges(lambda char, category: category in {"Sc", "Sm"} and char not in "|~")
    cluster = re.compile(f"[\\x00-\\x7f]+(?![{extend}])|.[{extend}]*", re.DOTALL)
    word = re.compile(
        f"[{_UNSPACED}](?:(?![{_UNSPACED}])[{marks}]|[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
        f"\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d"
        f"\u17b4-\u17d3\u17dd\u3099\u309a])*"
        f"|[{letters}]+(?:(?:['\u2019\u02bc\ue000]|(?<=\\d)\\.(?=\\d))[{letters}]+)*|[{signs}]"
    )
    return cluster, word


def is_hidden(char: str) -> bool:
    """Tell whether a character is removed before words are read (format characters, variation selectors, U+034F)."""
    return (
        unicodedata.category(char) == "Cf"
        or char == "\u034f"
        or "\ufe00" <= char <= "\ufe0f"
        or "\U000e0100" <= char <= "\U000e01ef"
    )


def is_unspaced(word: str) -> bool:
    """Tell whether a word is a character of a script that is written without spaces."""
    return _IS_UNSPACED.match(word) is not None


def fold(text: str) -> str:
    """Fold a short text: hidden characters out, NFKC and case folding until stable, U+2212 as a hyphen."""
    if text.isascii():
        return text.lower()
    folded = "".join(char for char in text if not is_hidden(char))
    for _ in range(FOLD_PASSES):
        again = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold())
        if again == folded:
            break
        folded = again
    return folded.replace("\u2212", "-")


def _fold_placed(text: str) -> tuple[str, list[int], list[int]]:
    """Fold a text cluster by cluster; each folded character knows the start and end of its origin."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    folded_of: dict[str, str] = {}
    for match in _wide_patterns()[0].finditer(text):
        cluster, start, end = match[0], match.start(), match.end()
        if cluster.isascii():
            pieces.append(cluster.lower())
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            continue
        folded = folded_of.get(cluster)
        if folded is None:
            folded = folded_of[cluster] = fold(cluster)
        pieces.append(folded)
        starts.extend([start] * len(folded))
        ends.extend([end] * len(folded))
    return "".join(pieces), starts, ends


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _join_groups(match: re.Match[str]) -> str:
    return match[0].replace(",", "\ue000")


def read_words(text: str) -> Words:
    """Read the words of a text; time grows with its length, and no text is refused."""
    ascii_only = text.isascii()
    if ascii_only:
        folded, places, ends = text.lower(), None, None
    else:
        folded, places, ends = _fold_placed(text.replace("\ue000", " "))
    folded = _RULE_LINE.sub(_blank, _LINE_HEAD.sub(_blank, folded))
    folded = _GROUPED.sub(_join_groups, folded)
    pattern = _ASCII_WORD if ascii_only else _wide_patterns()[1]
    texts: list[str] = []
    word_starts: list[int] = []
    word_ends: list[int] = []
    for match in pattern.finditer(folded):
        texts.append(_DROPPED_INSIDE.sub("", match[0]))
        start, end = match.span()
        word_starts.append(start if places is None else places[start])
        word_ends.append(end if ends is None else ends[end - 1])
    return Words(tuple(texts), tuple(word_starts), tuple(word_ends))
