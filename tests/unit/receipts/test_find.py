"""Held content looked for in receipts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.findings import CancelledError
from engine.ledger.report import Limits
from engine.lines.source import FileSource, MemorySource
from engine.receipts.find import FindReport, Reading, Where, find_content, probes_of
from tests.support.receipts import POST, PRE, as_line, receipt_row


def ledger(*rows: Any, name: str = "receipts.jsonl") -> MemorySource:
    """Put rows into a ledger in memory."""
    return MemorySource(name, b"".join(as_line(row) + b"\n" for row in rows))


def places(report: FindReport) -> list[tuple[int, Where, Reading]]:
    """Return where a search hit and by which reading."""
    return [(hit.line, hit.where, hit.probe.reading) for hit in report.hits]


HELD = ledger({"ts": "x"}, receipt_row(PRE, POST), receipt_row(["line\n", "t"], ["t"]), receipt_row(["t"], []))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"\x00\x01binary", [(2, Where.DROPPED, Reading.AS_GIVEN)]),
        ('{"text": "hello", "role": "user"}', [(2, Where.DROPPED, Reading.JSON_VALUE)]),
        ("line", [(3, Where.DROPPED, Reading.WITH_NEWLINE)]),
        ("t\n", [(4, Where.DROPPED, Reading.WITHOUT_NEWLINE)]),
        (
            '"t"',
            [
                (3, Where.ALL_AFTER, Reading.WHOLE_LIST),
                (4, Where.ALL_BEFORE, Reading.WHOLE_LIST),
                (4, Where.DROPPED, Reading.JSON_TEXT),
            ],
        ),
        (json.dumps(POST), [(2, Where.ALL_AFTER, Reading.WHOLE_LIST)]),
        ('"the quick brown fox"\n"summary: user said hello"\n', [(2, Where.ALL_AFTER, Reading.WHOLE_LIST)]),
        ("not here", []),
        ("the quick brown fox", []),
    ],
)
def test_content_is_found_by_every_reading(content: bytes | str, found: list[Any]) -> None:
    """What was dropped is found as given, without or with its newline, as JSON, and as a whole side."""
    report = find_content(content, [HELD])
    assert places(report) == found
    assert (report.ledgers, report.lines, report.receipts) == (1, 4, 3)


def test_copies_in_one_manifest_are_counted() -> None:
    """A manifest that names a digest three times says three drops."""
    (hit,) = find_content("a", [ledger(receipt_row(["b", "a", "a", "a"], ["b"]))]).hits
    assert (hit.position, hit.times) == (0, 3)


def test_a_digest_hidden_behind_escapes_is_found() -> None:
    """A row that spells hex digits as JSON escapes is parsed, not passed over."""
    row = as_line(receipt_row(["a"], []))
    hidden = row.replace(b"sha256:raw-bytes:v1:c", b"sha256:raw-bytes:v1:\\u0063")
    assert hidden != row
    assert places(find_content("a", [MemorySource("x", hidden)])) == [(1, Where.DROPPED, Reading.AS_GIVEN)]


def test_what_could_not_be_read_is_said(tmp_path: Path) -> None:
    """A missing ledger, a long line and broken JSON with the digest in it are listed; the search goes on."""
    row = as_line(receipt_row(["a"], []))
    mixed = MemorySource("mixed", b"x" * 9000 + b"\n" + row[:-1] + b"\n" + row + b"\n")
    report = find_content("a", [FileSource(tmp_path / "none"), mixed], limits=Limits(line_bytes=2000))
    assert [hit.line for hit in report.hits] == [3]
    assert [(finding.code.name, finding.line) for finding in report.not_read] == [
        ("line_too_long", 1),
        ("unparseable", 2),
    ]
    assert (len(report.unreadable), report.ledgers) == (1, 1)


def test_rows_with_odd_shapes_are_no_hits() -> None:
    """Manifests that are no lists and sides that are no objects stop nothing."""
    probe = probes_of("a")[0].digest
    odd = [
        {"kind": "compaction_receipt", "dropped": probe, "pre": [probe]},
        {"kind": "compaction_receipt", "dropped": {"items": {probe: 1}}, "post": {"digest": [probe]}},
        {"dropped": {"items": [probe]}},
    ]
    report = find_content("a", [ledger(*odd)])
    assert (report.hits, report.receipts) == ((), 2)


@pytest.mark.parametrize("content", ["", "\ud800", b"\xff\xfe", "NaN", "[" * 5000, '{"a": 1, "a": 2}', "[NaN]"])
def test_no_content_raises(content: bytes | str) -> None:
    """Whatever is pasted has at least the digest of its bytes."""
    assert probes_of(content)
    assert find_content(content, [HELD]).lines == 4


def test_a_search_reports_progress_and_can_be_cancelled() -> None:
    """Progress is in bytes of the ledger, and a cancel ends the search."""
    seen = []
    find_content("a", [HELD], on_progress=seen.append)
    assert (seen[-1].done, seen[-1].total) == (HELD.size(), HELD.size())
    with pytest.raises(CancelledError):
        find_content("a", [HELD], is_cancelled=lambda: True)
