"""Rows get onto a ledger whole, linked to what the walk sees, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import CannotLookError, RefusedError
from engine.findings import Result
from engine.ledger.append import append
from engine.ledger.report import GENESIS, Limits
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource
from engine.storage.files import FileLock
from engine.storage.intent import Intent, note_intent
from engine.storage.outcome import Outcome
from tests.support.ledgers import chain_of, chained, frozen, numbered

HONEST = b"".join(chained(numbered(4)))


def verdict(path: Path) -> tuple[Result, int]:
    """Return result and number of breaks of our own walk."""
    report = verify_chain(FileSource(path))
    return report.result, report.breaks_total


def test_rows_link_and_the_answer_says_where_they_lie(tmp_path: Path) -> None:
    """Offset and length cut the row out of the file; the chain is its own."""
    path = tmp_path / "l.jsonl"
    first = append(path, {"a": 1}, clock=frozen)
    second = append(path, {"a": "é\u2028"}, clock=frozen)
    data = path.read_bytes()
    line = data[second.offset : second.offset + second.length]
    assert (first.offset, first.outcome, first.cut_back) == (0, Outcome.STORED, 0)
    assert chain_of(line) == second.chain == second.row["chain"]
    assert verdict(path) == (Result.HOLDS, 0)
    assert (tmp_path / "l.jsonl.lock").read_bytes() == b""


ENDS = {
    "honest": (HONEST, Result.HOLDS, 0),
    "no last newline": (HONEST[:-1], Result.HOLDS, 0),
    "CR only": (HONEST.replace(b"\n", b"\r"), Result.HOLDS, 0),
    "CRLF": (HONEST.replace(b"\n", b"\r\n"), Result.HOLDS, 0),
    "padded with U+2003": (HONEST.replace(b"\n", "\u2003\n".encode()), Result.HOLDS, 0),
    "blank lines after": (HONEST + b"\n \n\t\n", Result.HOLDS, 0),
    "a foreign torn row": (HONEST[:-9], Result.FAILS, 1),
    "half a character": (HONEST + b'{"a": "\xc3', Result.FAILS, 2),  # not JSON, and not UTF-8
    "trailing NULs": (HONEST + b"\0" * 9, Result.FAILS, 1),
    "a bare number": (HONEST + b"42\n", Result.FAILS, 1),
    "a chain that is a number": (HONEST + b'{"chain": 5}\n', Result.FAILS, 1),
    "rows without a chain": (b'{"old": 1}\n{"old": 2}\n', Result.BOUNDED, 0),
    "a chain that is null": (b'{"a": 1, "chain": null}\n', Result.BOUNDED, 0),
    "an empty chain": (b'{"a": 1, "chain": ""}\n', Result.FAILS, 1),
    "only blank lines": (b"\n\n", Result.HOLDS, 0),
}


@pytest.mark.parametrize("name", ENDS)
def test_the_next_row_continues_from_what_the_walk_sees(tmp_path: Path, name: str) -> None:
    """However the ledger ends, the new row adds no break of its own and hides none."""
    data, result, breaks = ENDS[name]
    path = tmp_path / "l"
    path.write_bytes(data)
    append(path, {"new": True}, clock=frozen)
    assert verdict(path) == (result, breaks)
    assert path.read_bytes().startswith(data)


@pytest.mark.parametrize("size", [9_000, 300_000, 2_000_000])
def test_a_long_last_row_is_found_whole(tmp_path: Path, size: int) -> None:
    """A row longer than any read window still gives the value to continue from; detaching it shows."""
    path = tmp_path / "l"
    append(path, {"a": "x" * size}, clock=frozen)
    append(path, {"b": 1}, clock=frozen)
    assert verdict(path) == (Result.HOLDS, 0)
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[1])
    assert verdict(path) == (Result.FAILS, 1)


def test_a_row_written_around_the_lock_stays_visible(tmp_path: Path) -> None:
    """A foreign unchained row is named by the verifier; our next row resumes at genesis and hides nothing."""
    path = tmp_path / "l"
    path.write_bytes(HONEST + b'{"out": "of band"}\n')
    append(path, {"i": 9}, clock=frozen)
    report = verify_chain(FileSource(path))
    assert [(f.line, f.code.name) for f in report.findings] == [(5, "unchained_row"), (6, "chain_mismatch")]


def test_the_row_after_an_unread_last_row_is_refused(tmp_path: Path) -> None:
    """A last line past a limit could be a row: nobody knows what to continue from."""
    path = tmp_path / "l"
    ends = {
        b'{"a":"' + b"x" * 5000 + b'"}\n': Limits(line_bytes=1000),
        b'{"a":"' + b"x" * 50_000 + b'"}\n': Limits(line_bytes=1000),
        b"[" * 9 + b"]" * 9: Limits(nesting=8),
    }
    for end, limits in ends.items():
        path.write_bytes(HONEST + end)
        with pytest.raises(RefusedError, match="cannot be continued"):
            append(path, {}, clock=frozen, limits=limits)
        assert path.read_bytes() == HONEST + end


def torn(path: Path, kept: int, *, prefix: bytes = HONEST) -> bytes:
    """Leave what a killed writer leaves: a note in the lock's file and the beginning of its row."""
    payload = chained([{"ts": "t", "mine": 1}], chain_of(prefix.splitlines()[-1]))[0]
    path.write_bytes(prefix + payload[:kept])
    with FileLock(path.with_name(path.name + ".lock")) as lock:
        note_intent(lock.descriptor, Intent(len(prefix), payload))
    return payload


def test_our_own_torn_row_is_cut_back_at_every_length(tmp_path: Path) -> None:
    """Whatever part of our row reached the disk, the next append leaves a ledger without a break."""
    path = tmp_path / "l"
    length = len(torn(path, 0))
    for kept in range(length):
        torn(path, kept)
        assert append(path, {"i": 4}, clock=frozen).cut_back == kept
        assert verdict(path) == (Result.HOLDS, 0)
        assert path.read_bytes().count(b"\n") == 5


def test_our_whole_row_stays(tmp_path: Path) -> None:
    """A writer killed after its whole row leaves a row, and the next one links to it."""
    path = tmp_path / "l"
    length = len(torn(path, 0))
    torn(path, length)
    assert append(path, {"i": 4}, clock=frozen).cut_back == 0
    assert path.read_bytes().count(b"\n") == 6
    assert verdict(path) == (Result.HOLDS, 0)


@pytest.mark.parametrize("note", [b"", b"winnow-append-1 0 3 00\nabc", b"\0" * 40, b"winnow-append-1 x y z\n"])
def test_a_torn_end_without_a_true_note_is_left(tmp_path: Path, note: bytes) -> None:
    """Only a note that names place and bytes makes a torn end ours."""
    path = tmp_path / "l"
    torn(path, 20)
    (tmp_path / "l.lock").write_bytes(note)
    before = path.read_bytes()
    append(path, {"i": 4}, clock=frozen)
    assert path.read_bytes().startswith(before + b"\n")
    assert verdict(path) == (Result.FAILS, 1)


def test_a_torn_end_with_other_bytes_than_noted_is_left(tmp_path: Path) -> None:
    """A note about this place does not allow cutting bytes that it does not hold."""
    path = tmp_path / "l"
    torn(path, 20)
    path.write_bytes(path.read_bytes()[:-1] + b"X")
    append(path, {"i": 4}, clock=frozen)
    assert verdict(path) == (Result.FAILS, 1)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A folder, a FIFO, a device and a loop of links refuse at once and make no lock."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path, tmp_path / "fifo", Path("/dev/full"), tmp_path / "loop"):
        with pytest.raises(CannotLookError):
            append(path, {}, clock=frozen)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fifo", "loop"]


def test_the_first_row_starts_from_genesis(tmp_path: Path) -> None:
    """An empty file and a missing one are the same beginning."""
    (tmp_path / "empty").touch()
    rows = [append(tmp_path / name, {"a": 1}, clock=frozen).chain for name in ("empty", "missing")]
    assert rows[0] == rows[1] == chain_of(chained([{"a": 1, "ts": "2026-01-01T12:00:00Z"}], GENESIS)[0])
