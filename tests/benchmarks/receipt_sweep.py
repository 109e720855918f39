"""How fast is a ledger of receipts swept, its chain included, against the reference?

Both sides in one process, CPU time, interleaved, median of the ratios. The reference does what its own documents say:
`verify_file` for the chain, then `verify_receipt` for each row. Exits non-zero when short of the bar.

    python -m tests.benchmarks.receipt_sweep [receipts] [runs]
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from arcaeon.prove.compact import verify_receipt
from arcaeon.record.ledger import verify_file

from engine.findings import Result
from engine.ledger.report import GENESIS
from engine.lines.canonical import chain_body, chain_value
from engine.lines.source import FileSource
from engine.receipts.seal import CompactionReceipt
from engine.receipts.sweep import sweep_ledger

BAR = 5.0
DROPPED = 100


def write_ledger(path: Path, receipts: int) -> None:
    """Write a ledger of receipts that each drop a hundred items, text and objects mixed."""
    previous = GENESIS
    with path.open("wb") as ledger:
        for number in range(receipts):
            pre = [
                f"turn {number} {place}: some text" if place % 3 else {"role": "tool", "place": place, "round": number}
                for place in range(DROPPED + 50)
            ]
            receipt = CompactionReceipt.open(pre).record_kept([*pre[DROPPED:], f"summary {number}"])
            row = {**receipt.row(compactor="summarizer-v2", method="llm-summary"), "ts": "2026-08-14T17:40:00Z"}
            previous = chain_value(previous, chain_body(row))
            ledger.write(json.dumps({**row, "chain": previous}, ensure_ascii=False).encode() + b"\n")


def reference(path: Path) -> int:
    """Sweep with the reference; returns the receipts that passed."""
    if verify_file(path).ok is not True:
        raise SystemExit("the reference found the chain broken")
    rows = path.read_text(encoding="utf-8").split("\n")
    return sum(verify_receipt(json.loads(row))["ok"] for row in rows if row)


def ours(path: Path) -> int:
    """Sweep with the engine; returns the receipts that passed."""
    report = sweep_ledger(FileSource(path))
    if report.chain.result is not Result.HOLDS:
        raise SystemExit("the engine found the chain broken")
    return report.totals.by_result[Result.BOUNDED]


def main() -> int:
    """Run and print the figures."""
    receipts = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "receipts.jsonl"
        write_ledger(path, receipts)
        for _ in range(runs):
            start = time.process_time()
            theirs = reference(path)
            middle = time.process_time()
            own = ours(path)
            end = time.process_time()
            if not theirs == own == receipts:
                raise SystemExit(f"expected {receipts} receipts to pass, reference {theirs}, engine {own}")
            ratios.append((middle - start) / (end - middle))
            print(
                f"reference {(middle - start) / receipts * 1e6:.0f} us/receipt, "
                f"engine {(end - middle) / receipts * 1e6:.0f} us/receipt, x{ratios[-1]:.2f}"
            )
    median = statistics.median(ratios)
    print(f"receipt sweep, chain included: x{median:.2f} (bar x{BAR})")
    return 0 if median >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
