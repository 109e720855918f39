"""Are the queries of the index quick enough at a million rows?

Writes a ledger of that many rows, indexes it, and runs every query a page of the dashboard makes. Each must stay under
the bar in CPU time (median of seven); the script exits non-zero when one does not.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from engine.ledger.index import build, query, search, states, store
from engine.ledger.index.query import Filter, Pick, Sort
from engine.lines.source import FileSource

BAR_MS = 20.0
BUILD_BAR_S = 8.0
REPEATS = 7
KINDS = ("tool_call", "message", "compaction_receipt", "plan", "note")
COMPACTORS = tuple(f"summarizer-v{n}" for n in range(40))


def write_ledger(path: Path, rows: int) -> None:
    """Write rows of about 300 bytes, every fifth a receipt; the chain values are random (the index checks none)."""
    chance = random.Random(20260101)
    sides = '"pre": {"count": 9, "bytes": 900, "digest": "sha256:json-c14n:v1:%064x"}'
    with path.open("w", encoding="utf-8") as stream:
        for number in range(rows):
            moment = f"2026-01-{1 + number * 27 // rows:02d}T{number % 24:02d}:{number % 60:02d}:00Z"
            kind = KINDS[number % 5]
            if kind == "compaction_receipt":
                body = (
                    f'"schema": "arcaeon-compact:receipt:v2", {sides % chance.getrandbits(256)}, "dropped": '
                    f'{{"count": {chance.randrange(9)}, "bytes": {chance.randrange(900)}}}, '
                    f'"compactor": "{COMPACTORS[number % 40]}"'
                )
            else:
                body = f'"text": "{"word " * 33}", "n": {number}'
            chain = f"{chance.getrandbits(128):032x}"
            stream.write(f'{{"ts": "{moment}", "kind": "{kind}", {body}, "chain": "{chain}"}}\n')


def milliseconds(act: Callable[[], object]) -> float:
    """Return the median CPU time of an act."""
    act()
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        act()
        taken.append((time.process_time() - start) * 1000)
    return statistics.median(taken)


def resident_mib() -> float:
    """Return the highest memory use of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    """Build, query, print, and tell whether every bar was kept."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000_000)
    rows = options.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        source = FileSource(Path(name) / "ledger.jsonl")
        write_ledger(source.path, rows)
        print(f"{rows:,} rows, {source.size() / 2**20:.0f} MiB; memory at start {resident_mib():.0f} MiB")
        start = time.process_time()
        index = build.build_index(source, Path(name) / "index")
        built = time.process_time() - start
        print(f"build {built:.2f} s CPU; memory {resident_mib():.0f} MiB")
        wrong = {int(line): states.BROKEN for line in np.linspace(1, rows, 1000)}
        index = states.attach_by_line(
            index, "chain_state", wrong, names=(states.LINKED, states.BROKEN), bad=frozenset({states.BROKEN})
        )
        results = {label: milliseconds(act) for label, act in queries(index, source).items()}
        for label, taken in results.items():
            print(f"{'ok   ' if taken < BAR_MS else 'SHORT'} {taken:7.2f} ms  {label}")
        start = time.process_time()
        hits = search.find_text(index, source, "word word", offset=source.size() // 2)
        slow = search.find_text(index, source, "no such text", budget=source.size())
        taken = time.process_time() - start
        print(f"text: {len(hits.rows)} hits at once; whole file {taken:.2f} s, {slow.searched:,} bytes")
        print(f"open {milliseconds(lambda: store.open_index(Path(name) / 'index', index.sha256)):.0f} ms")
        folder = sum(file.stat().st_size for file in Path(index.folder).iterdir())
        print(f"memory {resident_mib():.0f} MiB; index on disk {folder / 2**20:.0f} MiB")
    if built > BUILD_BAR_S * rows / 1_000_000:
        print(f"SHORT: build took {built:.1f} s")
        return 1
    return 0 if max(results.values()) < BAR_MS else 1


def queries(index: query.LedgerIndex, source: FileSource) -> dict[str, Callable[[], object]]:
    """Return every query that is measured, by a name that says what it does."""
    kind = Pick("kind", frozenset({index.code("kind", "compaction_receipt") or 0}))
    some = Pick("compactor", frozenset(index.code("compactor", c) or 0 for c in COMPACTORS[::3]))
    january = {"since": datetime(2026, 1, 5, tzinfo=UTC), "until": datetime(2026, 1, 20, tzinfo=UTC)}
    narrow = Filter((kind,), **january)
    middle = int(index.columns["line"][index.rows // 2])
    chain = json.loads(query.row_bytes(source, query.rows_at(index, np.array([index.rows // 2]))[0]))["chain"]
    rows = index.rows
    return {
        "first page": lambda: query.page(index),
        "last page by position": lambda: query.page(index, first=rows - 100),
        "page behind a line": lambda: query.page(index, after_line=middle),
        "filter kind, page and count": lambda: query.page(index, Filter((kind,)), first=5000),
        "filter kind and time, page and count": lambda: query.page(index, narrow, first=5000),
        "filter kind, compactors, time": lambda: query.page(index, Filter((kind, some), **january)),
        "count only": lambda: query.count(index, narrow),
        "filtered page behind a line": lambda: query.page(index, narrow, after_line=middle),
        "bad rows": lambda: query.page(index, Filter(bad_only=True)),
        "rows by chain state": lambda: query.page(index, Filter((Pick("chain_state", frozenset({1})),))),
        "facet of all rows": lambda: query.facets(index, "kind"),
        "facet under a filter": lambda: query.facets(index, "compactor", narrow),
        "all facets under a time range": lambda: [
            query.facets(index, column, Filter(**january)) for column in ("kind", "compactor", "chain_state")
        ],
        "sort by time": lambda: query.page(index, sort=Sort("time", descending=True)),
        "sort by dropped bytes, deep page": lambda: query.page(
            index, sort=Sort("dropped_bytes", descending=True), first=rows // 7
        ),
        "sort by dropped count under a filter": lambda: query.page(index, narrow, Sort("dropped_count")),
        "sort by length behind a line": lambda: query.page(index, sort=Sort("length"), after_line=middle),
        "sort by kind": lambda: query.page(index, sort=Sort("kind")),
        "sort by compactor under a filter": lambda: query.page(index, narrow, Sort("compactor", descending=True)),
        "row at a line": lambda: query.row_at_line(index, middle),
        "whole chain value": lambda: search.find_key(index, source, search.recognise(chain, rows)),
        "beginning of a chain value": lambda: search.find_key(index, source, search.recognise(chain[:6], 0)),
    }


if __name__ == "__main__":
    sys.exit(main())
