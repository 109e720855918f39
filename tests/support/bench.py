"""Times two ways of doing the same work in one process, in turns, by processor time; and makes large ledgers."""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from engine.ledger.report import GENESIS
from engine.lines.canonical import chain_body, chain_value

Clock = Callable[[], float]


def compare(
    ours: Callable[[], object], theirs: Callable[[], object], runs: int = 5, clock: Clock = time.process_time
) -> tuple[float, float, float]:
    """Return median seconds of ours, of theirs, and the median of the ratios theirs/ours, run by run in turns."""
    ours_seconds, theirs_seconds = [], []
    ours()
    theirs()
    for _ in range(runs):
        ours_seconds.append(_timed(ours, clock))
        theirs_seconds.append(_timed(theirs, clock))
    ratios = [b / a for a, b in zip(ours_seconds, theirs_seconds, strict=True)]
    return statistics.median(ours_seconds), statistics.median(theirs_seconds), statistics.median(ratios)


def _timed(work: Callable[[], object], clock: Clock) -> float:
    start = clock()
    work()
    return clock() - start


class Bars:
    """Collects figures, prints them, and ends the program with 1 when one is short."""

    def __init__(self) -> None:
        self.short = 0

    def at_least(self, name: str, found: float, asked: float, unit: str = "x") -> None:
        """Note a figure that must reach a bar."""
        self._print(name, found, "≥", asked, unit, ok=found >= asked)

    def at_most(self, name: str, found: float, asked: float, unit: str) -> None:
        """Note a figure that must stay under a bar."""
        self._print(name, found, "≤", asked, unit, ok=found <= asked)

    def _print(self, name: str, found: float, sign: str, asked: float, unit: str, *, ok: bool) -> None:
        self.short += not ok
        print(f"{'ok   ' if ok else 'SHORT'} {name}: {found:.3g} {unit} (asked {sign} {asked:g})", flush=True)

    def end(self) -> None:
        """Leave with the verdict."""
        sys.exit(1 if self.short else 0)


def small_rows(count: int) -> Iterator[dict[str, Any]]:
    """Yield tool-call rows of about 300 bytes once chained."""
    rng = random.Random(7)
    for number in range(count):
        yield {
            "ts": "2026-01-01T00:00:00Z",
            "tool": "search",
            "query": f"weather in {rng.randrange(10**9)}",
            "session": f"s-{number:08d}",
            "ok": True,
            "n": number,
            "amount": 42.5,
            "args": {"limit": 10, "offset": number, "path": f"/srv/data/{number}"},
            "note": "kept as sent",
        }


def receipt_rows(count: int, items: int = 100) -> Iterator[dict[str, Any]]:
    """Yield rows shaped as receipts with a manifest of so many digests (their numbers do not add up)."""
    rng = random.Random(7)

    def digest(recipe: str) -> str:
        return f"sha256:{recipe}:v1:{rng.getrandbits(256):064x}"

    for _ in range(count):
        yield {
            "schema": "arcaeon-compact:receipt:v2",
            "pre": {"count": 120, "bytes": 50000, "digest": digest("json-c14n")},
            "post": {"count": 21, "bytes": 9000, "digest": digest("json-c14n")},
            "dropped": {"count": items, "bytes": 42000, "items": [digest("raw-bytes") for _ in range(items)]},
            "introduced": {"count": 1, "bytes": 1000},
            "compactor": "summarizer-v2",
            "method": "llm-summary",
            "kind": "compaction_receipt",
            "opened_at": "2026-01-01T00:00:00Z",
            "receipt_digest": digest("json-c14n"),
            "ts": "2026-01-01T00:00:00Z",
        }


def write_ledger(path: Path, rows: Iterator[dict[str, Any]], until: int | None = None) -> int:
    """Chain rows into a file as the format's writer does; stop at `until` bytes. Return the number of rows."""
    previous, written, count = GENESIS, 0, 0
    with path.open("wb") as stream:
        for row in rows:
            previous = chain_value(previous, chain_body(row))
            line = json.dumps({**row, "chain": previous}, ensure_ascii=False).encode() + b"\n"
            stream.write(line)
            written += len(line)
            count += 1
            if until is not None and written >= until:
                break
    return count
