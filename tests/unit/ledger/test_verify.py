"""The walk answers as the reference verifier does, and says what the reference leaves out."""

from __future__ import annotations

import json
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.findings import UNWATCHED, CancelledError, Progress, Result
from engine.ledger import verify as module
from engine.ledger.chunk import Chunk
from engine.ledger.report import GENESIS, Limits, Tail
from engine.ledger.verify import verify_chain
from engine.lines.canonical import chain_body, chain_value
from engine.lines.source import FileSource, MemorySource
from tests.support.damage import ledger as damaged


def ledger(*rows: dict[str, object], previous: str = GENESIS) -> bytes:
    """Chain rows as the format's writer does."""
    lines = []
    for row in rows:
        previous = chain_value(previous, chain_body(row))
        lines.append(json.dumps({**row, "chain": previous}, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


ROWS = tuple({"ts": "2026-01-01T00:00:00Z", "i": i} for i in range(4))
HONEST = ledger(*ROWS)


def test_an_honest_chain_holds_in_full_scope() -> None:
    """Four rows, nothing skipped, bytes as written."""
    report = verify_chain(MemorySource("m", HONEST))
    assert (report.result, report.scope, report.reference.chained) == (Result.HOLDS, "full", 4)
    assert report.bytes_as_written.yes
    assert report.head == json.loads(HONEST.splitlines()[-1])["chain"]


def test_an_edit_is_one_break_with_claimed_and_recomputed() -> None:
    """The edited row is named; the rows after it still link."""
    edited = HONEST.replace(b'"i": 1', b'"i": 9')
    report = verify_chain(MemorySource("m", edited))
    (finding,) = report.findings
    assert (report.result, finding.code.name, finding.line) == (Result.FAILS, "chain_mismatch", 2)
    assert finding.claimed != finding.found
    assert len(finding.found) == 32


def test_two_writers_are_told_from_an_edit() -> None:
    """A row that chains from an earlier row says which one."""
    lines = HONEST.splitlines(keepends=True)
    second = json.loads(lines[1])["chain"]
    fork = ledger({"ts": "2026-01-01T00:00:00Z", "i": 99}, previous=second)
    report = verify_chain(MemorySource("m", b"".join(lines[:3]) + fork))
    assert [(f.line, f.note.split(":")[0]) for f in report.findings] == [(4, "continues from row 2")]


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_torn_last_line_is_unfinished_not_tampered(cut: int) -> None:
    """Every cut inside the last row is amber, and the rows before it are verified."""
    report = verify_chain(MemorySource("m", HONEST[: -cut - 1]))
    assert (report.tail, report.result) == (Tail.UNFINISHED, Result.BOUNDED)
    assert report.reference.chained == 3
    assert report.breaks_total == 0


def test_a_missing_last_newline_is_fine_but_not_as_written() -> None:
    """The row counts; only the second answer says no."""
    report = verify_chain(MemorySource("m", HONEST[:-1]))
    assert (report.result, report.tail) == (Result.HOLDS, Tail.NO_NEWLINE)
    assert report.bytes_as_written.first_line == 4


@pytest.mark.parametrize("data", [b"", b"\n\n", b'{"a": 1}\n'])
def test_nothing_chained_is_never_a_pass(data: bytes) -> None:
    """Empty, blank and unchained-only files are could-not-look."""
    assert verify_chain(MemorySource("m", data)).result is Result.COULD_NOT_LOOK


def test_the_line_that_crashes_the_reference_is_two_breaks() -> None:
    """A duplicate key followed by junk is named twice and the walk goes on."""
    report = verify_chain(MemorySource("m", b'{"a":1,"a":1}x\n' + HONEST))
    assert [(f.line, f.code.name) for f in report.findings] == [(1, "duplicate_key"), (1, "unparseable")]
    assert report.reference.chained == 4


def test_limits_are_could_not_look_and_accuse_nobody() -> None:
    """A row past a limit, and the link after it, are not looked at; the rest is."""
    deep = ledger({"a": [[[[1]]]]}, {"b": 1}, {"c": 1})
    report = verify_chain(MemorySource("m", deep), limits=Limits(nesting=3))
    assert report.result is Result.COULD_NOT_LOOK
    assert [f.code.name for f in report.findings] == ["too_deep", "after_unread_line"]
    long = ledger({"a": "x" * 500}, {"b": 1})
    report = verify_chain(MemorySource("m", long), limits=Limits(line_bytes=300))
    assert [f.code.name for f in report.findings] == ["line_too_long", "after_unread_line"]


def test_raw_invalid_bytes_are_never_a_silent_green() -> None:
    """A raw FF in place of a real U+FFFD keeps the chain and is a break of its own."""
    data = ledger({"a": "\ufffd"})
    report = verify_chain(MemorySource("m", data.replace("\ufffd".encode(), b"\xff")))
    assert (report.reference.ok, report.result) == (True, Result.FAILS)
    assert report.findings[0].code.name == "invalid_utf8"


def test_an_unreadable_ledger_is_a_report(tmp_path: Path) -> None:
    """A missing file and a folder answer COULD_NOT_LOOK, as fields the reference's false."""
    for path in (tmp_path / "missing", tmp_path):
        report = verify_chain(FileSource(path))
        assert (report.result, report.reference.ok) == (Result.COULD_NOT_LOOK, False)


def test_progress_comes_and_cancel_stops() -> None:
    """Progress starts at zero and ends at the size; cancelling raises."""
    seen: list[Progress] = []
    verify_chain(MemorySource("m", HONEST), on_progress=seen.append)
    assert (seen[0].done, seen[-1].done) == (0, len(HONEST))
    with pytest.raises(CancelledError):
        verify_chain(MemorySource("m", HONEST), is_cancelled=lambda: True)


def test_side_by_side_gives_the_same_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Honest, broken, declared and CR-holding ledgers: workers walk stretches, the answer is the one of one walk."""
    monkeypatch.setattr(module, "CHUNK_BYTES", 300)
    monkeypatch.setattr(module, "READ_BYTES", 128)
    path = tmp_path / "ledger.jsonl"
    cut = 0
    with ThreadPoolExecutor(2) as pool:
        for seed in range(150):
            path.write_bytes(damaged(seed) + damaged(seed + 1000))
            for strict in (False, True):
                alone = verify_chain(FileSource(path), strict=strict)
                beside = verify_chain(FileSource(path), strict=strict, executor=pool)
                assert beside.reference == alone.reference, f"seed {seed}"
                assert (beside.result, beside.scope, beside.sha256) == (alone.result, alone.scope, alone.sha256)
            found = module.survey_bytes(FileSource(path), UNWATCHED, lambda _: None)
            cut += len(found.stretches) > 2
    assert cut > 30


def test_a_lost_worker_is_could_not_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker process that dies is no verdict about the ledger."""
    monkeypatch.setattr(module, "CHUNK_BYTES", 100)
    monkeypatch.setattr(module, "READ_BYTES", 64)
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(HONEST * 20)

    class Dead(ThreadPoolExecutor):
        def submit(self, *_: object, **__: object) -> Future[Chunk]:  # type: ignore[override]
            future: Future[Chunk] = Future()
            future.set_exception(BrokenExecutor("a worker ended"))
            return future

    with Dead(1) as pool:
        report = verify_chain(FileSource(path), executor=pool)
    assert (report.result, report.scope) == (Result.COULD_NOT_LOOK, "unreadable")
