"""Rows are appended in the bytes of the format's own writer, or refused with a reason."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from arcaeon.record.ledger import Ledger

from engine.errors import CannotLookError, RefusedError
from engine.findings import Result
from engine.ledger.append import Outcome, append
from engine.ledger.report import Limits
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource

TS = "2026-01-01T00:00:00Z"


def fixed() -> datetime:
    """Return the time all test rows carry."""
    return datetime(2026, 1, 1, tzinfo=UTC)


RECORDS: list[dict[str, Any]] = [
    {"ts": TS, "n": 1},
    {"ts": TS, "text": "é\u2028 🔒 \x00", "f": [1e16, 1e-7, -0.0, 1.0], "nested": {"b": {"a": []}, "a": None}},
    {"chain": "incoming", "ts": TS, "t": (1, 2)},
    {"ts": TS, "big": 10**300, "": ""},
]


def test_the_bytes_are_those_of_the_reference_writer(tmp_path: Path) -> None:
    """Our rows and the reference's are the same file, also when both take turns."""
    ours, theirs = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"
    for position, record in enumerate(RECORDS * 2):
        authority = {"principal": "p"} if position % 3 == 0 else None
        assert append(ours, record, authority=authority).chain == Ledger(theirs).append(record, authority=authority)
    assert ours.read_bytes() == theirs.read_bytes()
    Ledger(ours).append(RECORDS[0])
    append(ours, RECORDS[1])
    report = verify_chain(FileSource(ours), strict=True)
    assert report.result is Result.HOLDS
    assert report.reference.rows == len(RECORDS) * 2 + 2
    assert report.bytes_as_written.yes


def test_a_missing_time_is_taken_from_the_clock(tmp_path: Path) -> None:
    """`ts` is added when absent; place and length name the very bytes of the row."""
    path = tmp_path / "a.jsonl"
    append(path, {"a": 1}, clock=fixed)
    second = append(path, {"b": 1}, clock=fixed)
    data = path.read_bytes()
    assert second.outcome is Outcome.STORED
    row = data[second.offset : second.offset + second.length]
    assert row == b'{"b": 1, "ts": "2026-01-01T00:00:00Z", "chain": "%s"}\n' % second.chain.encode()
    assert len(data) == second.offset + second.length


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"a": "\ud800"}, "record_lone_surrogate"),
        ({"a": math.nan}, "record_not_finite"),
        ({"a": [{"b": math.inf}]}, "record_not_finite"),
        ({"a": {1: 2, "b": 3}}, "record_key_not_text"),
        ({None: 2}, "record_key_not_text"),
        ({"a": {1, 2}}, "record_not_json"),
        ({"a": 10**5000}, "record_not_json"),
        ({"a": "x" * 2000}, "record_too_long"),
        ({"a": [[[[[[[]]]]]]]}, "record_too_deep"),
    ],
)
def test_a_record_that_no_reader_could_read_is_refused(tmp_path: Path, record: dict[Any, Any], code: str) -> None:
    """Each refusal says why and leaves neither a ledger nor a row."""
    path = tmp_path / "a.jsonl"
    with pytest.raises(RefusedError) as caught:
        append(path, record, clock=fixed, limits=Limits(nesting=7, line_bytes=1000))
    assert caught.value.code == code
    assert not path.exists()


def test_the_deepest_allowed_record_is_stored(tmp_path: Path) -> None:
    """A record at the nesting limit is appended and verified under the same limit."""
    limits = Limits(nesting=7)
    append(tmp_path / "a", {"a": [[[[[[]]]]]]}, limits=limits)
    assert verify_chain(FileSource(tmp_path / "a"), limits=limits).result is Result.HOLDS


def test_a_circular_record_is_refused(tmp_path: Path) -> None:
    """A record that holds itself ends at the nesting limit."""
    record: dict[str, Any] = {}
    record["a"] = record
    with pytest.raises(RefusedError) as caught:
        append(tmp_path / "a", record)
    assert caught.value.code == "record_too_deep"


def _honest(tmp_path: Path, count: int = 3) -> bytes:
    path = tmp_path / "honest.jsonl"
    for number in range(count):
        append(path, {"n": number, "pad": "y" * 30_000 * (number % 2)}, clock=fixed)
    return path.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"\n", b"\r"),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", "\u2003\u00a0\n".encode()),
        lambda data: data[:-1],
        lambda data: data + b"\n\n \x0b\n\r\r\n",
        lambda data: data.replace(b"\n", b"\r")[:-1],
    ],
    ids=["cr", "crlf", "unicode space", "no line end", "blank lines", "cr, no line end"],
)
def test_the_chain_goes_on_wherever_the_walk_would_go_on(tmp_path: Path, change: Any) -> None:
    """However lines end and rows are padded, the next row links to the last row that the walk sees."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(change(_honest(tmp_path)))
    before = verify_chain(FileSource(path))
    appended = append(path, {"n": "next"}, clock=fixed)
    after = verify_chain(FileSource(path), strict=True)
    assert (before.result, after.result) == (Result.HOLDS, Result.HOLDS)
    assert after.reference.rows == before.reference.rows + 1
    assert after.head == appended.chain


@pytest.mark.parametrize("tail", [b'{"a": 1, "ts', b"42\n", b"\xff\xfe\n", b'{"a":1,"a":2,"chain":"x"}\n'])
def test_the_next_row_never_adds_a_break_of_its_own(tmp_path: Path, tail: bytes) -> None:
    """Behind foreign damage the new row is whole, linked, and the damage stays as it was."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(_honest(tmp_path) + tail)
    before = verify_chain(FileSource(path)).reference.breaks
    append(path, {"n": "next"}, clock=fixed)
    after = verify_chain(FileSource(path))
    assert after.reference.breaks == before
    assert tail in path.read_bytes()


@pytest.mark.parametrize(("chain", "continues"), [(b"null", "genesis"), (b"5", ""), (b'""', "")])
def test_odd_chain_values_are_continued_as_the_walk_does(tmp_path: Path, chain: bytes, continues: str) -> None:
    """After a chain that is null, a number or empty the new row is not a break."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1, "chain": %s}\n' % chain)
    before = verify_chain(FileSource(path)).reference.breaks
    append(path, {"n": 1}, clock=fixed)
    assert verify_chain(FileSource(path)).reference.breaks == before, continues


def test_a_last_row_past_a_limit_refuses(tmp_path: Path) -> None:
    """When the last line cannot be looked at, the chain is not restarted: nothing is written."""
    for data in (b"[" * 600 + b"\n", b'{"a": "' + b"x" * 70_000 + b'"}\n'):
        path = tmp_path / "a.jsonl"
        path.write_bytes(data)
        with pytest.raises(RefusedError) as caught:
            append(path, {"n": 1}, limits=Limits(line_bytes=60_000))
        assert caught.value.code == "last_row_not_looked_at"
        assert path.read_bytes() == data


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """A folder, a device and a missing folder are refused without hanging."""
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", Path("/dev/full"), tmp_path / "missing" / "a.jsonl"):
        with pytest.raises(CannotLookError):
            append(path, {"n": 1})
