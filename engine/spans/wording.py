"""Which words and phrases negate, cancel, bind or soften, by the lists of all languages at once?

The lists are data, one file a language, checked when loaded. No language is guessed: every list is applied to every
text, so a word can count that means something else in the text's language. A word on no list is not seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from engine.spans.words import is_unspaced, read_words

SCHEMA = "winnow:wordlist:v1"
_LISTS = ("negations", "not_negations", "cancelling", "strong", "weak")
_FIELDS = frozenset({"schema", "language", "numbers", *_LISTS})


def canonical(words: Sequence[str]) -> str:
    """Join words so that phrases can be looked for: spaces between words, none between unspaced characters."""
    parts = [" "]
    for number, word in enumerate(words):
        parts.append(word)
        following = words[number + 1] if number + 1 < len(words) else ""
        if not (following and is_unspaced(word) and is_unspaced(following)):
            parts.append(" ")
    return "".join(parts)


class Phrases:
    """A set of phrases; `other` holds longer ones that contain such a phrase and mean something else."""

    def __init__(self, phrases: Iterable[str], other: Iterable[str] = ()) -> None:
        """Build one pattern; the longest phrase at a place counts, and places do not overlap."""
        self._mean = frozenset(canonical(read_words(each).texts).strip() for each in phrases)
        known = self._mean | {canonical(read_words(each).texts).strip() for each in other}
        longest = sorted(known, key=lambda phrase: (-len(phrase), phrase))
        self._pattern = re.compile("|".join(_bounded(phrase) for phrase in longest)) if known else None

    def found(self, words: Sequence[str]) -> list[str]:
        """Return the phrases met in a run of words, in order."""
        if self._pattern is None or not words:
            return []
        return [hit for hit in self._pattern.findall(canonical(words)) if hit in self._mean]

    def count(self, words: Sequence[str]) -> int:
        """Return how many phrases a run of words holds."""
        return len(self.found(words))


def _bounded(phrase: str) -> str:
    """Return the pattern of a phrase; spaced words are met whole, unspaced ones anywhere in a run."""
    head = "" if is_unspaced(phrase[0]) else "(?<= )"
    tail = "" if is_unspaced(phrase[-1]) else "(?= )"
    return head + re.escape(phrase) + tail


@dataclass(frozen=True, slots=True)
class Wording:
    """The phrases of all loaded languages; `numbers` maps a number word to its digits."""

    languages: tuple[str, ...]
    negations: Phrases
    cancelling: Phrases
    strong: Phrases
    weak: Phrases
    numbers: Mapping[str, str]


def checked_list(name: str, data: Any) -> dict[str, Any]:
    """Return a word list as read; raises `ValueError` that names the file and what is wrong with it."""
    if not isinstance(data, dict) or set(data) != _FIELDS or data["schema"] != SCHEMA:
        raise ValueError(f"{name}: a word list has the fields {sorted(_FIELDS)} and the schema {SCHEMA}")
    if data["language"] != name:
        raise ValueError(f"{name}: the file is named after its language, found {data['language']!r}")
    for field in _LISTS:
        phrases = data[field]
        if not isinstance(phrases, list) or not all(isinstance(each, str) for each in phrases):
            raise ValueError(f"{name}: {field} is a list of phrases")
        if len({read_words(each).texts for each in phrases} - {()}) != len(phrases):
            raise ValueError(f"{name}: {field} holds a phrase twice or one without a word")
    numbers = data["numbers"]
    if not isinstance(numbers, dict) or not all(_is_number(*pair) for pair in numbers.items()):
        raise ValueError(f"{name}: numbers maps one word to digits")
    return data


def _is_number(word: str, digits: Any) -> bool:
    return len(read_words(word).texts) == 1 and isinstance(digits, str) and digits.isascii() and digits.isdigit()


def joined(lists: Sequence[Mapping[str, Any]]) -> Wording:
    """Join checked lists into one; raises `ValueError` when a number word means two numbers."""
    numbers: dict[str, str] = {}
    for each in lists:
        for word, digits in each["numbers"].items():
            (folded,) = read_words(word).texts
            if numbers.setdefault(folded, digits) != digits:
                raise ValueError(f"{each['language']}: the number word {word!r} means {numbers[folded]} elsewhere")

    def phrases(field: str) -> list[str]:
        return [phrase for each in lists for phrase in each[field]]

    return Wording(
        tuple(each["language"] for each in lists),
        Phrases(phrases("negations"), phrases("not_negations")),
        Phrases(phrases("cancelling")),
        Phrases(phrases("strong")),
        Phrases(phrases("weak")),
        numbers,
    )


@cache
def wording() -> Wording:
    """Return the lists that come with the program, read and checked once."""
    found = sorted(
        (entry for entry in files("engine.spans.wordlists").iterdir() if entry.name.endswith(".json")),
        key=lambda entry: entry.name,
    )
    return joined(
        [checked_list(each.name.removesuffix(".json"), json.loads(each.read_text(encoding="utf-8"))) for each in found]
    )
