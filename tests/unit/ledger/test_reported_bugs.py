"""Faults that users of hash-chained logs reported elsewhere: the input, and the verdict a reader is owed."""

from __future__ import annotations

import codecs
import json
from hashlib import sha256
from typing import Any

import pytest

from engine.findings import Result
from engine.ledger.report import ChainReport, Tail
from engine.ledger.verify import verify_chain
from engine.lines.source import MemorySource
from tests.support.ledgers import chain_of, chained, numbered

L = chained(numbered(4))


def verify(*lines: bytes, strict: bool = False) -> ChainReport:
    """Verify lines held in memory."""
    return verify_chain(MemorySource("m", b"".join(lines)), strict=strict)


def seen(report: ChainReport) -> list[tuple[str, int | None]]:
    """Return code and line of every finding."""
    return [(f.code.name, f.line) for f in report.findings]


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_a_raw_line_separator_inside_a_text_does_not_split_the_row(character: str) -> None:
    """Only LF, CRLF and CR end a line; the writer escapes control characters and leaves the others raw."""
    (line,) = chained([{"text": f"a{character}b"}])
    report = verify(line)
    assert (report.result, report.reference.rows, report.lines) == (Result.HOLDS, 1, 1)
    assert json.loads(line)["text"] == f"a{character}b"


@pytest.mark.parametrize(
    ("front", "key"), [(b'"i": 7, ', "i"), (b'"chain": "x", ', "chain"), (b'"o": {"k": 1, "k": 2}, ', "k")]
)
def test_a_key_said_twice_is_a_break_that_shows_both_values(front: bytes, key: str) -> None:
    """Two honest readers would see two rows: line, key and both values are named, at any depth."""
    report = verify(L[0], L[1].replace(b'{"ts"', b"{" + front + b'"ts"'), *L[2:])
    first = report.findings[0]
    assert (report.result, first.code.name, first.line, first.claimed) == (Result.FAILS, "duplicate_key", 2, key)
    assert "first " in first.note
    assert "last " in first.note


@pytest.mark.parametrize(("data", "word"), [(b"", "empty"), (b"\n \n\r\n", "empty"), (b'{"a": 1}\n', "prechain")])
@pytest.mark.parametrize("strict", [False, True])
def test_nothing_to_check_is_never_a_pass(data: bytes, word: str, strict: bool) -> None:
    """Empty, blank and unchained-only ledgers have no tick beside a zero."""
    report = verify(data, strict=strict)
    assert report.result in (Result.COULD_NOT_LOOK, Result.FAILS)
    assert report.reference.ok is not True
    assert strict or word in report.scope


def test_a_torn_row_is_unfinished_and_becomes_one_break_once_a_row_follows() -> None:
    """While it is last it accuses nobody; the next honest row links to the row before the torn one."""
    torn = L[3][:-9]
    alone = verify(*L[:3], torn)
    assert (alone.tail, alone.result, alone.breaks_total) == (Tail.UNFINISHED, Result.BOUNDED, 0)
    followed = verify(*L[:3], torn, b"\n", *chained([{"i": 9}], chain_of(L[2])))
    assert (followed.result, seen(followed)) == (Result.FAILS, [("unparseable", 4)])


def test_two_writers_are_called_two_writers() -> None:
    """Rows 3 and 4 both continue from row 2: a fork, not an edit."""
    report = verify(*L[:3], *chained([{"i": "other"}], chain_of(L[1])))
    assert seen(report) == [("chain_mismatch", 4)]
    assert report.findings[0].note.startswith("continues from row 2")


def test_a_fork_is_named_by_row_when_blank_lines_move_the_numbers() -> None:
    """Rows are counted, not lines."""
    report = verify(b"\n", *L[:2], b"\n\n", L[2], *chained([{"i": "other"}], chain_of(L[1])))
    assert [(f.line, f.note[:20]) for f in report.findings] == [(7, "continues from row 2")]


def test_a_second_beginning_is_named() -> None:
    """A row in the middle that continues from nothing starts a second chain."""
    report = verify(*L, *chained([{"i": "new"}]))
    assert [(f.line, f.note) for f in report.findings] == [(5, "starts a second chain")]


def test_rows_cut_off_the_end_stay_green_and_say_where_the_chain_ends() -> None:
    """A walk alone cannot see it: the report gives rows and head, which is what a pin is held against."""
    report = verify(*L[:2])
    assert (report.result, report.reference.rows, report.head) == (Result.HOLDS, 2, chain_of(L[1]))


@pytest.mark.parametrize("size", [9_000, 300_000, 2_000_000])
def test_a_long_row_links_and_its_loss_is_seen(size: int) -> None:
    """A long last row and one more are green; without the rows before them the first line is a break."""
    rows = chained([{"i": 0}, {"text": "x" * size}, {"i": 2}])
    assert verify(*rows).result is Result.HOLDS
    assert seen(verify(*rows[1:])) == [("chain_mismatch", 1)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"42\n", "not_an_object"),
        (b"[]\n", "not_an_object"),
        (b"null\n", "not_an_object"),
        (b'"text"\n', "not_an_object"),
        (b"{oops\n", "unparseable"),
        (b'{"a": %s}\n' % (b"9" * 4301), "unparseable"),
        (b'{"a": "\\x"}\n', "unparseable"),
        (b"[" * 100_000 + b"\n", "too_deep"),
        (b"{" * 100_000 + b"\n", "too_deep"),
        (b'{"a":' * 600 + b"1" + b"}" * 600 + b"\n", "too_deep"),
    ],
)
def test_a_line_that_is_no_row_is_named_once_and_the_sweep_goes_on(line: bytes, code: str) -> None:
    """One finding with line and class, no traceback, and the rows behind it are walked."""
    report = verify(*L[:2], line, *L[2:])
    assert seen(report)[0] == (code, 3)
    assert report.reference.rows == 4
    if code == "too_deep":
        assert report.result is Result.COULD_NOT_LOOK
        assert (report.findings[0].claimed, report.breaks_total) == ("512", 0)
    else:
        assert (len(report.findings), report.reference.breaks) == (1, 1)


@pytest.mark.parametrize("chain", [b"5", b'["a"]', b"true", b"{}", b"1.5"])
def test_a_chain_that_is_no_text_is_named(chain: bytes) -> None:
    """The row is named by its class; the honest row behind it cannot link either."""
    report = verify(L[0], b'{"i": 1, "chain": ' + chain + b"}\n", *L[2:])
    assert seen(report) == [("non_string_chain", 2), ("chain_mismatch", 3)]


NUMBERS: list[Any] = [float("nan"), float("inf"), 1.0, 1e-7, 1e16, 1e22, -0.0, 5e-324, 10**40, -(2**63)]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_every_number_of_the_writer_is_green_and_nan_is_noticed(number: Any) -> None:
    """Python's spelling is covered by the chain; what is not JSON elsewhere is said."""
    report = verify(*chained([{"v": number}, {"v": [number]}]))
    assert (report.result, report.bytes_as_written.yes) == (Result.HOLDS, True)
    odd = number != number or number == float("inf")  # noqa: PLR0124 - the test of NaN
    assert [name for name, _ in seen(report)] == (["nan_value", "nan_value"] if odd else [])


def test_other_spellings_of_the_same_value_are_green_but_not_as_written() -> None:
    """Reordered keys, other spacing and escapes keep the meaning; the second answer says that bytes moved."""
    (line,) = chained([{"z": 1.5, "a": "é"}])
    row = json.loads(line)
    for text in (
        json.dumps(row, ensure_ascii=False, sort_keys=True),
        json.dumps(row, ensure_ascii=True),
        json.dumps(row, ensure_ascii=False, separators=(",", ":")),
        line.decode().rstrip().replace("1.5", "1.50"),
        " " + line.decode().rstrip(),
    ):
        report = verify(text.encode() + b"\n")
        assert (report.result, report.bytes_as_written.first_line) == (Result.HOLDS, 1), text


def test_lone_carriage_returns_and_unicode_space_are_green_and_the_head_is_the_last_rows() -> None:
    """The head comes from the same walk as the verdict."""
    for data in (b"".join(L).replace(b"\n", b"\r"), b"".join("\u2003".encode() + x[:-1] + b"\xc2\x85\n" for x in L)):
        report = verify(data)
        assert (report.result, report.head, report.bytes_as_written.yes) == (Result.HOLDS, chain_of(L[3]), False)


def test_a_byte_order_mark_breaks_line_one_and_is_explained() -> None:
    """The reference's break stays, with the reason beside it."""
    report = verify(codecs.BOM_UTF8, *L)
    assert [(f.code.name, f.line) for f in report.findings] == [("unparseable", 1), ("chain_mismatch", 2)]
    assert "byte order mark" in report.findings[0].note


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_another_encoding_fails_and_says_so(encoding: str) -> None:
    """UTF-16 and UTF-32 are named when they carry their mark, and never pass."""
    report = verify(b"".join(L).decode().encode(encoding))
    assert report.result is Result.FAILS
    assert encoding == "utf-16-le" or "UTF-16" in report.findings[0].note


def test_keys_in_another_order_keep_the_chain_and_lose_the_bytes() -> None:
    """What a database gives back re-serialised is the same row in other bytes."""
    other = json.dumps(dict(sorted(json.loads(L[1]).items())), ensure_ascii=False).encode() + b"\n"
    report = verify(L[0], other, *L[2:])
    assert (report.result, report.bytes_as_written.first_line) == (Result.HOLDS, 2)


def test_an_edit_that_is_declared_is_never_green() -> None:
    """A declaration bounds the answer and is named; strict mode does not honour it."""
    edited = L[1].replace(b'"i": 1', b'"i": 9')

    declared = {
        "op": "chain_break_declared",
        "orphan_line": 2,
        "orphan_sha256": sha256(edited.rstrip()).hexdigest(),
        "why": "known",
    }
    lines = [L[0], edited, *L[2:], *chained([declared], chain_of(L[3]))]
    report = verify(*lines)
    assert (report.result, report.reference.ok, seen(report)) == (Result.BOUNDED, None, [("declared_break", 2)])
    assert verify(*lines, strict=True).result is Result.FAILS


def test_a_key_or_a_chain_as_long_as_a_line_is_cut_in_findings() -> None:
    """Only the reference's text of the first break quotes it whole."""
    key = b"k" * 5000
    line = b'{"%b": 1, "%b": 2}\n' % (key, key)
    report = verify(line, line, b'{"chain": "%b"}\n' % key)
    assert report.reference.first_break == f"line 1: duplicate key {key.decode()!r}"
    assert max(len(f.claimed) + len(f.note) for f in report.findings) < 500
