"""The fingerprint of a Cline conversation is JavaScript's, to the letter."""

from __future__ import annotations

import pytest

from engine.transcripts.cline_prefix import Prefix, compare_prefix, js_json, js_number


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (1e-6, "0.000001"),
        (0.00001234, "0.00001234"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e21, "1e+21"),
        (1.25e25, "1.25e+25"),
        (-0.5, "-0.5"),
        (100.0, "100"),
        (0.0, "0"),
        (-0.0, "0"),
        (1 / 3, "0.3333333333333333"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (12345.678, "12345.678"),
    ],
)
def test_numbers_are_written_as_javascript_does(value: float, written: str) -> None:
    """Expected values were printed by Node.js."""
    assert js_number(value) == written


def test_values_are_written_as_javascript_does() -> None:
    """Whole-number keys come first, a lone surrogate is escaped, a line separator is not."""
    value = {"b": [None, True, 1.0, 2], "10": "\ud800", "2": '\u2028\x07"', "a": {}, "z": 10**400}
    assert js_json(value) == '{"2":"\u2028\\u0007\\"","10":"\\ud800","b":[null,true,1,2],"a":{},"z":null}'


def test_a_message_that_is_no_object_leaves_the_fingerprint_unchecked() -> None:
    """Damage is not a disagreement."""
    assert compare_prefix({"source_prefix_hash": "sha256:00"}, ["x"]) is Prefix.UNCHECKED
