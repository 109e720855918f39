"""The exact parser answers the same on every interpreter and never raises."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lines.strict import TOO_DEEP, UNPARSEABLE, nesting_depth, parse_exact


@pytest.mark.parametrize(
    ("text", "keys"),
    [('{"a":1,"a":1}', ("a",)), ('{"b":{"c":1,"c":2}}', ("c",)), ('{"a":1,"\\u0061":2}', ("a",)), ('{"a":1}', ())],
)
def test_duplicate_keys_are_named_at_any_depth(text: str, keys: tuple[str, ...]) -> None:
    """Equal values and escaped spellings count as duplicates too."""
    assert parse_exact(text).duplicates == keys


def test_junk_after_a_duplicate_key_is_a_result() -> None:
    """The line that crashes the reference verifier is a duplicate and unparseable."""
    parsed = parse_exact('{"a":1,"a":1}x')
    assert (parsed.duplicates, parsed.problem) == (("a",), UNPARSEABLE)


@pytest.mark.parametrize("depth", [511, 512, 513, 100_000])
def test_nesting_is_counted_before_parsing(depth: int) -> None:
    """The limit decides, not the interpreter's stack; brackets in strings do not nest."""
    text = '{"k":"' + "[" * 2000 + '","v":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"
    assert (parse_exact(text, nesting=512).problem is TOO_DEEP) == (depth > 512)


@given(st.text(alphabet='[]{}",:\\ax1 ', max_size=60))
def test_no_text_raises_and_depth_is_right(text: str) -> None:
    """Any text gives a value or a problem; a parsed value is never deeper than counted."""
    parsed = parse_exact(text, nesting=3)
    if parsed.problem is None:
        assert json.loads(text) == parsed.value
        assert _depth(parsed.value) <= 3
    assert nesting_depth(text, 3) <= 4


def _depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max((_depth(v) for v in value.values()), default=0)
    if isinstance(value, list):
        return 1 + max((_depth(v) for v in value), default=0)
    return 0
