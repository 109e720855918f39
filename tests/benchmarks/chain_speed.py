"""Compares the walk over a ledger with the reference verifier: `python tests/benchmarks/chain_speed.py`.

Processor time in one process, in turns; wall time for two processes, which needs an otherwise idle machine. Leaves
with 1 when a figure is short.
"""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.findings import Result
from engine.ledger.backend import reference_verify
from engine.ledger.state import HASHER_NAME, verify_again
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource
from tests.support.bench import Bars, compare, receipt_rows, small_rows, write_ledger

SMALL_ROWS, RECEIPT_ROWS = 60_000, 3_000
LARGE_BYTES = 200 * 1024 * 1024
APPENDED = 1000
AGAIN_BYTES = 1024 * 1024 * 1024
"""Size at which receipts are verified again: below it the 1000 new rows weigh as much as the old ones' digests."""


def one_process(bars: Bars, name: str, path: Path, asked: float) -> None:
    """Compare one ledger in one process."""
    source = FileSource(path)
    if verify_chain(source).result is not Result.HOLDS:
        raise SystemExit(f"{name}: the ledger made for the benchmark does not hold")
    ours, theirs, ratio = compare(lambda: verify_chain(source), lambda: reference_verify(path))
    print(f"{name}: ours {ours:.3f} s, reference {theirs:.3f} s of processor time")
    bars.at_least(f"{name}, one process", ratio, asked)


def two_processes(bars: Bars, name: str, path: Path) -> None:
    """Compare two worker processes with one (wall time)."""
    source = FileSource(path)
    with ProcessPoolExecutor(2) as pool:
        _, _, ratio = compare(
            lambda: verify_chain(source, executor=pool), lambda: verify_chain(source), clock=time.perf_counter
        )
    bars.at_least(f"{name}, two processes against one", ratio, 1.5)


def again(bars: Bars, name: str, path: Path, rows: int) -> None:
    """Compare verifying again after an append with the reference's full verification."""
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    prefix = b"".join(lines[: rows - APPENDED])
    path.write_bytes(prefix)
    source = FileSource(path)
    _, state = verify_again(source, None)
    path.write_bytes(data)
    report, _ = verify_again(source, state)
    if report.result is not Result.HOLDS or report.reference.rows != rows:
        raise SystemExit(f"{name}: verifying again gave another answer")
    ours, theirs, ratio = compare(lambda: verify_again(source, state), lambda: reference_verify(path), runs=3)
    print(f"{name}: ours {ours:.3f} s, reference {theirs:.3f} s, prefix digested by {HASHER_NAME}")
    bars.at_least(f"{name}, again after {APPENDED} rows", ratio, 20)


def main() -> None:
    """Run every comparison."""
    bars = Bars()
    with tempfile.TemporaryDirectory() as folder:
        small, receipts = Path(folder, "small.jsonl"), Path(folder, "receipts.jsonl")
        write_ledger(small, small_rows(SMALL_ROWS))
        write_ledger(receipts, receipt_rows(RECEIPT_ROWS))
        print(f"rows of {small.stat().st_size / SMALL_ROWS:.0f} and {receipts.stat().st_size / RECEIPT_ROWS:.0f} bytes")
        one_process(bars, "300-byte rows", small, 2.5)
        one_process(bars, "9.5 KB receipt rows", receipts, 1.3)
        rows = write_ledger(small, small_rows(10**9), until=LARGE_BYTES)
        two_processes(bars, "300-byte rows", small)
        again(bars, "300-byte rows", small, rows)
        rows = write_ledger(receipts, receipt_rows(10**9), until=LARGE_BYTES)
        two_processes(bars, "9.5 KB receipt rows", receipts)
        rows = write_ledger(receipts, receipt_rows(10**9), until=AGAIN_BYTES)
        again(bars, "9.5 KB receipt rows", receipts, rows)
    bars.end()


if __name__ == "__main__":
    main()
