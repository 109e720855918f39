"""Rows of damaged transcript files."""

from __future__ import annotations

import json

import pytest

from engine.errors import LimitError
from engine.lines.source import MemorySource
from engine.transcripts import notices
from engine.transcripts.item import Flag
from engine.transcripts.notices import Notices
from engine.transcripts.options import ReadOptions, TranscriptLimits
from engine.transcripts.rows import Row, Rows


def read(data: bytes, limits: TranscriptLimits | None = None) -> tuple[list[Row], Notices]:
    """Read rows and notices of bytes."""
    found = Notices()
    options = ReadOptions(limits or TranscriptLimits())
    return list(Rows(MemorySource("t.jsonl", data), options, found)), found


def names(found: Notices) -> list[str]:
    """List the notice names."""
    return [finding.code.name for finding in found.findings()]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c"])
def test_unicode_line_separators_inside_a_string_do_not_split_a_row(separator: str) -> None:
    """Only LF separates rows: a reader that used text lines would find two."""
    rows, _ = read(json.dumps({"text": f"a{separator}b"}, ensure_ascii=False).encode() + b'\n{"n":2}\n')
    assert [row.value for row in rows] == [{"text": f"a{separator}b"}, {"n": 2}]


@pytest.mark.parametrize("text", [b'"\\ud83d"', b'"\\udc80"', b'"\xed\xa0\xbd"'])
def test_lone_surrogates_load(text: bytes) -> None:
    """An escaped or raw lone surrogate is a value, not a failure."""
    rows, found = read(b'{"text":' + text + b"}\n")
    assert len(rows[0].value["text"]) == 1
    assert names(found) == []


def test_nul_runs_are_noted_and_neighbours_kept() -> None:
    """A run of NUL bytes is named with its line; the rows around it stay."""
    rows, found = read(b'{"n":1}\n' + b"\0" * 500 + b'\n{"n":3}\n' + b"\0" * 9 + b'{"n":4}\n')
    assert [row.value["n"] for row in rows] == [1, 3, 4]
    assert [(f.code.name, f.line) for f in found.findings()] == [("transcript_nul_run", 2), ("transcript_nul_run", 4)]


def test_nul_run_over_the_middle_of_a_row_loses_only_that_row() -> None:
    """NUL bytes written over half a row make that row unreadable and no other."""
    rows, found = read(b'{"n":1}\n{"text":' + b"\0" * 40 + b'\n{"n":3}\n')
    assert [row.value for row in rows] == [{"n": 1}, {"n": 3}]
    assert "transcript_line_unreadable" in names(found)


def test_a_cut_last_line_is_unfinished_and_a_cut_middle_line_unreadable() -> None:
    """Cut lines are left out with the right word and never fail the file."""
    rows, found = read(b'{"n":1}\n{"n":2,"te\n{"n":3}\n{"n":4,"message":{"k":1}')
    assert [row.value["n"] for row in rows] == [1, 3]
    assert [(f.code.name, f.line) for f in found.findings()] == [
        ("transcript_line_unreadable", 2),
        ("transcript_line_unfinished", 4),
    ]


@pytest.mark.parametrize(
    "first",
    [
        b'{"type":"a","text":"cut here',
        b'{"type":"a","text":"cut<truncated>',
        b'{"type":"a","m":{"content":[{"type":"text","text":"x"}]<truncated>',
        b'{"type":"a","n":1',
        b'{"type":"a","n":tr',
    ],
)
def test_the_second_record_on_a_line_is_recovered(first: bytes) -> None:
    """A record cut by another one gives way to the whole one, with a notice and its own offset."""
    second = b'{"type":"b","message":{"k":[1,2]}}'
    rows, found = read(b'{"n":0}\n' + first + second + b'\n{"n":3}\n')
    assert [row.value for row in rows] == [{"n": 0}, json.loads(second), {"n": 3}]
    assert Flag.REPAIRED in rows[1].flags
    assert (rows[1].place.offset, rows[1].place.length) == (8 + len(first), len(second))
    assert [(f.code.name, f.line) for f in found.findings()] == [("transcript_record_recovered", 2)]


def test_two_whole_records_on_one_line_are_both_read() -> None:
    """Two records without a line break between them are two rows."""
    rows, _ = read(b'{"n":1}{"n":2} {"n":3}\n')
    assert [row.value["n"] for row in rows] == [1, 2, 3]


def test_an_object_nested_in_a_cut_record_is_not_a_record() -> None:
    """A whole inner object at the end of a cut line must not become a row."""
    rows, _ = read(b'{"type":"a","message":{"role":"user","content":"hi"}\n{"n":2}\n')
    assert [row.value for row in rows] == [{"n": 2}]


def test_a_raw_line_break_inside_a_string_is_joined() -> None:
    """Two halves of one object are joined, flagged, and no wrong record appears."""
    rows, found = read(b'{"n":1}\n{"text":"first\nsecond\nthird","n":2}\n{"n":3}\n')
    assert [row.value["n"] for row in rows] == [1, 2, 3]
    assert rows[1].value["text"] == "first\nsecond\nthird"
    assert Flag.REPAIRED in rows[1].flags
    assert [(f.code.name, f.line) for f in found.findings()] == [("transcript_lines_joined", 2)]


def test_a_cut_record_is_not_joined_with_the_next_one() -> None:
    """Of two cut records in a row only the second, whose end follows, is put together."""
    rows, found = read(b'{"n":1,"text":"cut\n{"n":2,"text":"first\nsecond"}\n{"n":3}\n')
    assert [row.value["n"] for row in rows] == [2, 3]
    assert rows[0].value["text"] == "first\nsecond"
    assert [(f.code.name, f.line) for f in found.findings()] == [
        ("transcript_line_unreadable", 1),
        ("transcript_lines_joined", 2),
    ]


def test_a_joined_record_keeps_the_flag_of_a_lossy_part() -> None:
    """Bytes that are no UTF-8 in one half mark the whole, and the next record starts clean."""
    rows, _ = read(b'{"text":"a\xff\nb"}\n{"text":"c\nd"}\n')
    assert rows[0].flags == {Flag.LOSSY_DECODE, Flag.REPAIRED}
    assert rows[1].flags == {Flag.REPAIRED}


def test_an_open_string_is_not_joined_for_ever() -> None:
    """After sixteen lines the beginning is given up; later rows are read."""
    rows, found = read(b'{"text":"a\n' + b"more\n" * 40 + b'{"n":3}\n')
    assert [row.value for row in rows] == [{"n": 3}]
    assert names(found) == ["transcript_line_unreadable"] * 41


def test_a_line_over_the_limit_is_passed_over_with_size_and_digest() -> None:
    """A long line costs a notice that names size and digest, not the file."""
    rows, found = read(b'{"n":1}\n{"image":"' + b"A" * 5000 + b'"}\n{"n":3}\n', TranscriptLimits(line_bytes=1000))
    assert [row.value["n"] for row in rows] == [1, 3]
    (notice,) = found.findings()
    assert (notice.code, notice.line, notice.claimed) == (notices.LINE_TOO_LONG, 2, "5012 bytes")
    assert notice.found.startswith("sha256:raw-bytes:v1:")


def test_a_file_over_the_limit_is_refused_by_name() -> None:
    """The refusal names the limit that was passed."""
    with pytest.raises(LimitError, match="file_bytes"):
        read(b'{"n":1}\n', TranscriptLimits(file_bytes=4))


def test_deep_nesting_is_a_notice() -> None:
    """Nesting that would break a recursive parser is a notice, and the rows around it stay."""
    deep = b'{"n":2,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    rows, found = read(b'{"n":1}\n' + deep + b'\n{"n":3}\n')
    assert [row.value["n"] for row in rows] == [1, 3]
    assert names(found) == ["transcript_line_too_deep"]


def test_byte_order_mark_and_crlf_are_no_damage() -> None:
    """A BOM is noted; CR LF line ends are part of no value."""
    rows, found = read(b'\xef\xbb\xbf{"n":1}\r\n\r\n{"n":2}\r\n')
    assert [row.value["n"] for row in rows] == [1, 2]
    assert names(found) == ["transcript_byte_order_mark"]


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf16_is_read_and_said(codec: str) -> None:
    """UTF-16 and UTF-32 are read as text and the transcoding is noted."""
    rows, found = read('{"text":"Grüße ✓"}\n{"n":2}\n'.encode(codec))
    assert [row.value for row in rows] == [{"text": "Grüße ✓"}, {"n": 2}]
    assert "transcript_transcoded" in names(found)


def test_latin1_bytes_are_flagged_lossy() -> None:
    """Bytes that are no UTF-8 are shown as U+FFFD and flagged, not guessed."""
    rows, found = read('{"text":"Grüße"}\n'.encode("latin-1"))
    assert rows[0].value["text"] == "Gr\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}e"
    assert rows[0].flags == {Flag.LOSSY_DECODE}
    assert names(found) == ["transcript_lossy_decode"]


def test_an_empty_file_says_so() -> None:
    """Nothing in the file is a notice of its own."""
    for data in (b"", b"\n\n", b"\xef\xbb\xbf"):
        rows, found = read(data)
        assert rows == []
        assert "transcript_empty_file" in names(found)


def test_one_json_array_is_read_as_rows_with_places() -> None:
    """A file named like JSON Lines that holds one array gives its entries, each with its place."""
    data = '[\n {"n":"ü"},\n {"n":2}\n]\n'.encode()
    rows, found = read(data)
    assert [row.value["n"] for row in rows] == ["ü", 2]
    assert [row.place.line for row in rows] == [2, 3]
    for row in rows:
        assert json.loads(data[row.place.offset :][: row.place.length]) == row.value
    assert names(found) == ["transcript_single_array"]


def test_places_point_at_the_row() -> None:
    """Offset and length cut exactly the row out of the file."""
    data = b'\n{"n":1}\n\n{"n":22}\n'
    rows, _ = read(data)
    assert [data[r.place.offset :][: r.place.length] for r in rows] == [b'{"n":1}', b'{"n":22}']


def test_numbers_json_cannot_hold_become_text() -> None:
    """NaN and an overflowing float do not break the digest later."""
    rows, _ = read(b'{"a":NaN,"b":1e400,"c":123456789012345678901234567890}\n')
    assert rows[0].value == {"a": "NaN", "b": "1e400", "c": 123456789012345678901234567890}


def test_a_thousand_bad_lines_stay_few_notices() -> None:
    """The list of notices is bounded; the rest are counted."""
    _, found = read(b"garbage\n" * 1000)
    findings = found.findings()
    assert len(findings) < 210
    assert findings[-1].code is notices.EMPTY_FILE or findings[-1].code is notices.MORE


@pytest.mark.parametrize("data", [b'[{"n":1},', b'[{"n":1}', b'[{"n":1},{"n":'])
def test_a_cut_array_gives_its_whole_entries(data: bytes) -> None:
    """An array that is cut off is read up to the cut."""
    rows, _ = read(data)
    assert [row.value for row in rows] == [{"n": 1}]
