"""Content files give exact items, or say by line what is wrong."""

from __future__ import annotations

import pytest

from engine.errors import WinnowError
from engine.lines.source import MemorySource
from engine.transcripts.content import read_content


@pytest.mark.parametrize(
    ("data", "shape", "items"),
    [
        (b'["a", {"b": 1.0}]', "array", ("a", {"b": 1.0})),
        (b'\xef\xbb\xbf["a"]\n', "array", ("a",)),
        (b'{"a": "\xe2\x80\xa8"}\r\n\n"x"\n', "lines", ({"a": "\u2028"}, "x")),
        (b'["a"]\n["b"]\n', "array", (["a"], ["b"])),
        (b"plain\ntext", "text", ("plain\ntext",)),
        (b"\xff\x00", "text", (b"\xff\x00",)),
        (b"", "text", ()),
        (b"[]", "array", ()),
    ],
)
def test_every_shape_gives_its_items(data: bytes, shape: str, items: tuple[object, ...]) -> None:
    """Arrays, lines and plain text."""
    content = read_content(MemorySource("m", data))
    assert (content.shape, content.items) == (shape, items)


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b'{"a": 1}\n{"a": 1, "a": 2}\n', "content_ambiguous", "m:2"),
        (b'[{"a": 1, "a": 2}]', "content_ambiguous", "m"),
        (b'{"a": 1}\n{"b"\n', "content_damaged", "m:2"),
        (b'{"a": "\xff"}\n', "content_not_utf8", "m:1"),
        (b"[" * 100_000, "content_damaged", "m:1"),
    ],
)
def test_damage_is_refused_with_its_place(data: bytes, code: str, place: str) -> None:
    """Nothing is guessed: a digest over a guess would prove nothing."""
    with pytest.raises(WinnowError) as caught:
        read_content(MemorySource("m", data))
    assert (caught.value.code, caught.value.where) == (code, place)
