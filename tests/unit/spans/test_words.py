"""The normal form of words."""

from __future__ import annotations

import pytest

from engine.spans.words import read_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don\u2019t stop.", ["dont", "stop"]),
        ("1,000 and 10,00 and 1,000,000", ["1000", "and", "10", "00", "and", "1000000"]),
        ("v3.10 at 10.0.0.5.", ["v3.10", "at", "10.0.0.5"]),
        ("> quoted\n> + item\n====\na > b", ["quoted", "item", "a", ">", "b"]),
        ("de\u00adploy \u200b\uff2eow ﬁne", ["deploy", "now", "fine"]),
        ("cafe\u0301 große", ["café", "grosse"]),
        ("$5 | €6 ~", ["$", "5", "€", "6"]),
        ("不要删。", ["不", "要", "删"]),
        ("snake_case 🚫", ["snake", "case"]),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    """The words are the stated ones."""
    assert list(read_words(text).texts) == words


def test_offsets_point_into_the_original() -> None:
    """Each word cuts its own characters out of the original, hidden ones included."""
    text = "Größe: 1,000 ﬁles, cafe\u0301 ne\u200bver"
    words = read_words(text)
    cut = [text[start:end] for start, end in zip(words.starts, words.ends, strict=True)]
    assert cut == ["Größe", "1,000", "ﬁles", "cafe\u0301", "ne\u200bver"]


def test_characters_without_spaces_count_as_pairs() -> None:
    """Pairs overlap, separators do not break them, a lone character stands alone."""
    assert read_words("不要。删 x 好").features() == ("不要", "要删", "x", "好")
