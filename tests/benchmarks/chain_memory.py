"""Measures memory, first progress and cancel on large and hostile ledgers: `python tests/benchmarks/chain_memory.py`.

Each case runs in a process of its own on a file of the size given (in MiB, 1024 by default; kinds may follow); memory
is the peak above what the process held before it started. Leaves with 1 when a figure is short.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.findings import CancelledError, Progress
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource
from tests.support.bench import Bars, receipt_rows, small_rows, write_ledger

MEBIBYTE = 1024 * 1024
KINDS = ("small", "receipts", "blank", "one-line", "broken", "declared", "unchained", "binary")
LONG_KINDS = ("keys", "invalid", "lists", "chain", "reason", "equal-keys", "nest")
"""Shapes of lines just under 16 MiB; three in a file."""


def make(kind: str, path: Path, size: int) -> None:
    """Write one ledger of about the size."""
    if kind == "small":
        write_ledger(path, small_rows(10**9), until=size)
        return
    if kind == "receipts":
        write_ledger(path, receipt_rows(10**9), until=size)
        return
    if kind in LONG_KINDS:
        with path.open("wb") as stream:
            for _ in range(3):
                stream.write(_long(kind) + b"\n")
        return
    with path.open("wb") as stream:
        for block in _hostile(kind):
            stream.write(block)
            if stream.tell() >= size:
                return


def _long(kind: str) -> bytes:
    """Return one line of about 15.9 MiB."""
    room = int(15.9 * MEBIBYTE)
    chain = b'"chain": "' + b"0" * 32 + b'"}'
    match kind:
        case "keys":
            members = b",".join(b'"%07d":1' % (i * 7919 % 1_300_000) for i in range(1_300_000))
            return b'{"a": {' + members + b"}, " + chain
        case "invalid":
            return b'{"a": "' + b"\xff" * (room - 100) + b'", ' + chain
        case "lists":
            return b'{"a": [' + b"[]," * (room // 3 - 50) + b"[]], " + chain
        case "chain":
            return b'{"chain": "' + b"x" * (room - 100) + b'"}'
        case "reason":
            start = b'{"op": "chain_break_declared", "orphan_line": 1, "orphan_sha256": "' + b"0" * 64 + b'", "why": "'
            return start + b"x" * (room - 400) + b'", ' + chain
        case "equal-keys":
            key = b'"' + b"k" * (room // 2 - 100) + b'": 1, '
            return b"{" + key + key + chain
        case _:
            small = b'{"b":1,"a":2},' * (room // 14 // 500 - 2)
            return (b'{"b":[' + small) * 500 + b"1" + b'],"a":1}' * 500


def _hostile(kind: str) -> Iterator[bytes]:
    declaration = {"op": "chain_break_declared", "orphan_sha256": "0" * 64, "why": "x" * 40, "chain": "f" * 32}
    number = 0
    while True:
        number += 1
        match kind:
            case "blank":
                yield b"\n" * MEBIBYTE
            case "one-line":
                yield b"[" * MEBIBYTE
            case "broken":
                yield b'{"i": %d, "chain": "0123456789abcdef0123456789abcdef"}\n' % number
            case "declared":
                yield json.dumps({**declaration, "orphan_line": number}).encode() + b"\n"
            case "unchained":
                yield (b'{"chain": "' + b"0" * 32 + b'"}\n' if number == 1 else b'{"i": 1}\n') * 1000
            case _:
                yield bytes(range(256)) * 4096


def _peak() -> int:
    """Return the peak in KiB of this program alone; `ru_maxrss` would start at that of the program that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def look(path: Path) -> dict[str, float]:
    """Verify one file and measure; run in a process of its own."""
    small = path.with_name("warm.jsonl")
    small.write_bytes(b'{"a": 1}\n')
    verify_chain(FileSource(small))
    before = _peak()
    started = time.perf_counter()
    first: list[float] = []
    gaps = [started]

    def seen(progress: Progress) -> None:
        now = time.perf_counter()
        if progress.done or progress.step != "reading":
            first.append(now - started)
        gaps.append(now)

    verify_chain(FileSource(path), on_progress=seen)
    seconds = time.perf_counter() - started
    peak = _peak() - before
    longest = max(b - a for a, b in itertools.pairwise(gaps))
    return {"mib": peak / 1024, "seconds": seconds, "first": first[0], "gap": longest, "cancel": _cancel(path)}


def _cancel(path: Path) -> float:
    """Return the longest time from asking to stop until it stops, asked at several moments."""
    worst = 0.0
    for wait in (0.05, 0.5, 2.0):
        asked = time.perf_counter() + wait
        try:
            verify_chain(FileSource(path), is_cancelled=lambda at=asked: time.perf_counter() >= at)  # type: ignore[misc]
        except CancelledError:
            worst = max(worst, time.perf_counter() - asked)
    return worst


def main() -> None:
    """Measure every kind in its own process."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    kinds = sys.argv[2:] or (*KINDS, *LONG_KINDS)
    bars = Bars()
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            path = Path(folder, f"{kind}.jsonl")
            make(kind, path, size * MEBIBYTE)
            done = subprocess.run(
                [sys.executable, __file__, "--look", str(path)], capture_output=True, text=True, check=True
            )
            found = json.loads(done.stdout)
            print(f"{kind}: {path.stat().st_size / MEBIBYTE:.0f} MiB in {found['seconds']:.1f} s")
            bars.at_most(f"{kind}, memory above start", found["mib"], 64, "MiB")
            bars.at_most(f"{kind}, first progress", found["first"], 0.2, "s")
            bars.at_most(f"{kind}, longest silence", found["gap"], 0.5, "s")
            bars.at_most(f"{kind}, cancel", found["cancel"], 0.3, "s")
            path.unlink()
    bars.end()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--look"]:
        print(json.dumps(look(Path(sys.argv[2]))))
    else:
        main()
