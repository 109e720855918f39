"""The fast parsers are believed only where their value gives the very bytes back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lines import fast
from engine.lines.canonical import chain_body

CANONICAL = [
    b'{"a": 1}',
    b'{"b": [1, 2], "a": {"d": "\xc3\xa9", "c": 0.5}}',
    b"{}",
    b'{"a": "\\u0000\\b\\f\\n\\r\\t\\\\\\""}',
    b"[]",
]
REFUSED = [
    b'{"a":1}', b'{"a": 1, "a": 1}', b'{"a": -0}', b'{"a": 1e5}', b'{"a": 0.00001}', b'{"a": "\\u0061"}', b'{"a": NaN}',
    b'{"a": 123456789012345678901234567890}', b'{"a": "\xff"}', b' {"a": 1}', b'{"a": 1} ', b"",
    b'{"a": "\\ud800"}',
]  # fmt: skip


@pytest.mark.parametrize("line", CANONICAL)
def test_canonical_lines_are_believed(line: bytes) -> None:
    """What Python's json would write is taken, alone and among others, with the same chain body."""
    value = fast.decode(line)
    assert value == json.loads(line)
    assert fast.decode_lines([b"{}", line, b"{}"]) == [{}, value, {}]
    if isinstance(value, dict):
        assert fast.bodies_of_proved([value, value], [len(chain_body(value))] * 2) == [chain_body(value)] * 2


@pytest.mark.parametrize("line", REFUSED)
def test_anything_else_is_left_to_the_exact_road(line: bytes) -> None:
    """Other spellings, duplicates, foreign floats, big integers and broken text are refused."""
    assert fast.decode(line) is None
    assert fast.decode_lines([b"{}", line]) is None


@pytest.mark.parametrize(
    "lines",
    [
        [b'{"a": 1', b'"b": 2}, {"c": 3}'],
        [b'{"a": [{}', b"{}]}", b'{"c": 1}, {"d": 2}'],
        [b'{"a": [{}', b'{}]}, "\x7f", {"c": 1}', b"{}"],
        [b'{"a": "\x7f"}', b"{}"],
    ],
)
def test_no_line_borrows_a_bracket_from_its_neighbour(lines: list[bytes]) -> None:
    """Lines that are only together JSON are not proved together."""
    assert fast.decode_lines(lines) is None


@pytest.mark.parametrize("deep", [fast.SERIALISER_DEPTH + 1, 600, 5000])
def test_a_value_past_the_serialisers_depth_is_refused(deep: int) -> None:
    """The round trip bounds the nesting."""
    assert fast.decode(b'{"a": ' + b"[" * deep + b"]" * deep + b"}") is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda c: st.lists(c) | st.dictionaries(st.text(), c),
    )
)
def test_a_believed_value_has_the_exact_body(value: object) -> None:
    """Whatever is believed serialises as the exact road does."""
    line = json.dumps({"v": value}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    row = fast.decode(line)
    if row is not None:
        (body,) = fast.bodies_of_proved([row], [len(line)])
        assert body == chain_body(json.loads(line))
