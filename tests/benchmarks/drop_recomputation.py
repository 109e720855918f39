"""How fast, and in how much memory, are the drops of a compaction recomputed, against the reference?

Both sides check the same honest receipt against the same content of a million items before and half of them after
(written anew, not the same objects), in one process, CPU time, interleaved, median of the ratios. Objects are API
messages as agents record them (a text block, a tool call, usage numbers); the engine takes them *held*, which is what
it does with items that it loaded: they were proven plain JSON once, outside the measured time. The figure for a list
of objects that nobody proved before is printed beside it and has no bar. Memory is the peak of Python's own allocations
during the check, the content not counted. Exits non-zero when short of a bar.

    python -m tests.benchmarks.drop_recomputation [items] [runs]
"""

from __future__ import annotations

import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

from arcaeon.prove.compact import verify_receipt as reference_verify

from engine.findings import Result
from engine.lines.plain import hold
from engine.receipts.seal import CompactionReceipt
from engine.receipts.verify import verify_receipt

SPEED_BARS = {"objects": 8.0, "texts": 2.3}
MEMORY_BAR = 0.6


def message(number: int) -> dict[str, Any]:
    """Make one recorded API message."""
    call = {"file_path": f"/src/module_{number % 977}.py", "offset": number % 400, "limit": 200}
    return {
        "id": f"msg_{number:012d}",
        "type": "message",
        "role": "assistant",
        "model": "model-1",
        "content": [
            {"type": "text", "text": f"turn {number}: I will look at it now."},
            {"type": "tool_use", "id": f"toolu_{number:08d}", "name": "Read", "input": call},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": number % 9000,
            "cache_creation_input_tokens": number % 700,
            "cache_read_input_tokens": number % 80000,
            "cache_creation": {"ephemeral_5m_input_tokens": number % 700, "ephemeral_1h_input_tokens": 0},
            "output_tokens": number % 500,
            "service_tier": "standard",
            "server_tool_use": {"web_search_requests": 0},
        },
    }


def text(number: int) -> str:
    """Make one turn as text."""
    return (
        f"turn {number}: the quick brown fox jumps over the lazy dog, and the dog does not mind at all {number * 7919}"
    )


def by_reference(row: dict[str, Any], pre: Sequence[Any], post: Sequence[Any]) -> None:
    """Check with the reference."""
    if reference_verify(row, pre, post)["content"] != "match":
        raise SystemExit("the reference found a mismatch")


def by_engine(row: dict[str, Any], pre: Sequence[Any], post: Sequence[Any]) -> None:
    """Check with the engine."""
    if verify_receipt(row, pre, post).result is not Result.HOLDS:
        raise SystemExit("the engine found a mismatch")


def seconds(act: Callable[[], None]) -> float:
    """Measure CPU time."""
    start = time.process_time()
    act()
    return time.process_time() - start


def peak(act: Callable[[], None]) -> int:
    """Measure the peak of allocations in bytes."""
    tracemalloc.start()
    act()
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size


def measure(kind: str, make: Callable[[int], Any], items: int, runs: int) -> bool:
    """Run one kind of items and print its figures; returns whether the bars hold."""
    pre = [make(number) for number in range(items)]
    post = [*(make(number) for number in range(0, items, 2)), make(items)]
    row = CompactionReceipt.open(pre).record_kept(post).row(compactor="c", method="m")
    held = hold(pre), hold(post)
    ratios, unproved = [], []
    for _ in range(runs):
        theirs = seconds(lambda: by_reference(row, pre, post))
        own = seconds(lambda: by_engine(row, *held))
        ratios.append(theirs / own)
        unproved.append(theirs / seconds(lambda: by_engine(row, pre, post)))
        print(f"  {kind}: reference {theirs:.2f} s, engine {own:.2f} s, x{ratios[-1]:.2f}", flush=True)
    speed = statistics.median(ratios)
    memory = peak(lambda: by_engine(row, *held)) / peak(lambda: by_reference(row, pre, post))
    print(
        f"{items} {kind}: x{speed:.2f} (bar x{SPEED_BARS[kind]}), {memory:.2f} of the memory (bar {MEMORY_BAR}); "
        f"not held before: x{statistics.median(unproved):.2f}",
        flush=True,
    )
    return speed >= SPEED_BARS[kind] and memory <= MEMORY_BAR


def main() -> int:
    """Measure both kinds."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    good = [measure(kind, make, items, runs) for kind, make in (("texts", text), ("objects", message))]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
