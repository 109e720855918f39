"""Receipt rows given as text: duplicate keys, no JSON, too deep."""

from __future__ import annotations

import pytest

from engine.findings import Result
from engine.receipts.ambiguity import verify_receipt_line
from tests.support.receipts import POST, PRE, as_line, receipt_row


def test_an_honest_line_is_checked_like_its_row() -> None:
    """A line with one meaning gives the report of its row."""
    line = as_line(receipt_row(PRE, POST))
    assert verify_receipt_line(line, PRE, POST).result is Result.HOLDS
    assert verify_receipt_line(b"  " + line + b"\r\n").result is Result.BOUNDED


@pytest.mark.parametrize("key", ["compactor", "dropped"])
def test_a_key_given_twice_is_refused_with_both_values(key: str) -> None:
    """A second value in front of the real one is refused although the last-wins reading holds in full."""
    line = as_line(receipt_row(PRE, POST)).replace(b"{", b'{"' + key.encode() + b'": "the other", ', 1)
    report = verify_receipt_line(line, PRE, POST, line=3)
    assert report.result is Result.FAILS
    assert report.reference["ok"] is True
    first = report.findings[0]
    assert (first.code.name, first.line, first.field, first.claimed) == ("receipt_ambiguous", 3, key, "the other")
    assert report.stricter == ("receipt_ambiguous",)


def test_a_nested_duplicate_is_refused_even_when_both_values_are_equal() -> None:
    """Depth and equality do not make a row with two readings acceptable."""
    line = as_line(receipt_row(PRE, POST)).replace(b'"pre": {', b'"pre": {"count": 3, ', 1)
    report = verify_receipt_line(line, PRE, POST)
    assert report.result is Result.FAILS
    assert (report.findings[0].field, report.findings[0].claimed, report.findings[0].found) == ("count", "3", "3")


def test_both_values_of_containers_are_shown() -> None:
    """Lists and objects given twice are shown as JSON."""
    report = verify_receipt_line('{"a": [1, 2], "a": {"b": null}}')
    assert (report.findings[0].claimed, report.findings[0].found) == ("[1, 2]", '{"b": null}')


@pytest.mark.parametrize(
    ("line", "result", "code"),
    [
        (b"{", Result.FAILS, "unparseable"),
        (b"", Result.FAILS, "unparseable"),
        (b'\xff\xfe{"a": 1}', Result.FAILS, "unparseable"),
        (b"[" * 100_000, Result.COULD_NOT_LOOK, "too_deep"),
        (b"42", Result.FAILS, "receipt_malformed"),
        (b'{"a": 1}', Result.COULD_NOT_LOOK, "receipt_unknown_schema"),
        (b'{"a":1,"a":2} x', Result.FAILS, "unparseable"),
    ],
)
def test_lines_that_are_no_receipt_get_a_verdict(line: bytes, result: Result, code: str) -> None:
    """No bytes raise; each kind of line has its own finding."""
    report = verify_receipt_line(line)
    assert report.result is result
    assert code in [finding.code.name for finding in report.findings]
