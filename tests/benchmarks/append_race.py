"""Do sixteen processes that append to one ledger lose a row, fork the chain, or wait too long?

Each process appends rows and times every append on the wall clock. Exits non-zero when a row is missing, when the
chain does not hold, or when the slowest hundredth of all appends takes longer than the bar.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from engine.findings import Result
from engine.ledger.append import append
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource

BAR_MS = 250.0


def write(arguments: tuple[Path, int, int]) -> list[float]:
    """Append rows and return how long each append took, in milliseconds."""
    path, writer, rows = arguments
    taken = []
    for number in range(rows):
        start = time.perf_counter()
        append(path, {"writer": writer, "n": number}, lock_seconds=120)
        taken.append((time.perf_counter() - start) * 1000)
    return taken


def main() -> int:
    """Run the writers, print, and tell whether every bar was kept."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--processes", type=int, default=16)
    options.add_argument("--rows", type=int, default=500)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "ledger.jsonl"
        start = time.perf_counter()
        with ProcessPoolExecutor(chosen.processes) as pool:
            work = [(path, writer, chosen.rows) for writer in range(chosen.processes)]
            taken = sorted(ms for times in pool.map(write, work) for ms in times)
        seconds = time.perf_counter() - start
        report = verify_chain(FileSource(path), strict=True)
    p99 = taken[int(len(taken) * 0.99)]
    wanted = chosen.processes * chosen.rows
    print(f"{wanted} appends in {seconds:.1f} s; median {taken[len(taken) // 2]:.1f} ms, p99 {p99:.1f} ms")
    print(f"rows {report.reference.rows}, lost {wanted - report.reference.rows}, breaks {report.breaks_total}")
    good = report.result is Result.HOLDS and report.reference.rows == wanted
    return 0 if good and p99 < BAR_MS else 1


if __name__ == "__main__":
    sys.exit(main())
