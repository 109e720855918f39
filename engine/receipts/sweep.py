"""What do all the receipts of a ledger say, and is the ledger intact?

One reading for the chain and every receipt in it. Rows that are no receipts are passed over and counted; a malformed
row gets its verdict and the sweep goes on. Without content no receipt of a sweep is more than self-consistent: a ledger
of honest-looking lies sweeps clean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.findings import (
    IsCancelled,
    OnProgress,
    Result,
    Watch,
    ignore_progress,
    never_cancelled,
    worst,
)
from engine.ledger.report import ChainReport, Limits
from engine.ledger.verify import DEFAULT_LIMITS, verify_observed
from engine.lines import fast
from engine.lines.reader import Line, read_lines
from engine.lines.source import Source
from engine.lines.strict import Parsed, parse_exact
from engine.receipts.ambiguity import refuse_ambiguous
from engine.receipts.quick import quick_summary
from engine.receipts.schema import is_receipt_row
from engine.receipts.summary import ReceiptSummary, summarise
from engine.receipts.verify import verify_receipt

OnReceipt = Callable[[ReceiptSummary], None]
_POLL_LINES = 64


def ignore_receipt(_: ReceiptSummary) -> None:
    """Take a receipt and do nothing."""


@dataclass(frozen=True, slots=True)
class SweepTotals:
    """Counts over a sweep. Items and bytes are the claims of the receipts that are well-shaped."""

    rows: int
    receipts: int
    passed_over: int
    """Rows that do not say they are receipts."""
    by_result: dict[Result, int]
    by_code: dict[str, int]
    by_version: dict[str, int]
    dropped_items: int
    dropped_bytes: int


@dataclass(frozen=True, slots=True)
class SweepReport:
    """The chain's answer, the totals, and the first receipts that do not hold up (`Limits.findings` at most).

    `receipts_result` is the worst of all receipts, COULD_NOT_LOOK when the ledger holds none.
    """

    chain: ChainReport
    totals: SweepTotals
    failing: tuple[ReceiptSummary, ...]

    @property
    def receipts_result(self) -> Result:
        """Return the worst result of the receipts."""
        return worst(result for result, count in self.totals.by_result.items() if count)

    @property
    def result(self) -> Result:
        """Return the worst of the chain and, when there are any, the receipts."""
        return worst([self.chain.result, *([self.receipts_result] if self.totals.receipts else [])])


def sweep_ledger(
    source: Source,
    *,
    on_receipt: OnReceipt = ignore_receipt,
    strict: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    on_progress: OnProgress = ignore_progress,
    is_cancelled: IsCancelled = never_cancelled,
) -> SweepReport:
    """Verify a ledger's chain and check every receipt in it against itself, on one reading.

    `on_receipt` gets a summary of each receipt in order; the report keeps only totals and the first failing ones, so
    memory stays flat. Never raises for any bytes; raises `CancelledError`.
    """
    observer = _Receipts(on_receipt, limits.findings)
    chain = verify_observed(
        source, observer, strict=strict, limits=limits, on_progress=on_progress, is_cancelled=is_cancelled
    )
    return SweepReport(chain, observer.totals(), tuple(observer.failing))


def sweep_receipts(
    source: Source,
    *,
    limits: Limits = DEFAULT_LIMITS,
    on_progress: OnProgress = ignore_progress,
    is_cancelled: IsCancelled = never_cancelled,
) -> Iterator[ReceiptSummary]:
    """Yield a summary of every receipt of a ledger in order, without looking at its chain.

    Lines that are no receipt, or could not be read, are passed over: the chain's report names those. Raises
    `CannotLookError` when the ledger cannot be opened, and `CancelledError`.
    """
    watch, total = Watch(on_progress, is_cancelled), source.size()
    for line in read_lines(source, universal=True, max_bytes=limits.line_bytes):
        if line.number % _POLL_LINES == 1:
            watch.step("checking receipts", line.offset, total)
        summary = _of_line(line, limits.nesting)
        if summary is not None:
            yield summary
    watch.step("checking receipts", total, total)


class _Receipts:
    """Checks the receipts among the rows of a walk."""

    def __init__(self, on_receipt: OnReceipt, keep: int) -> None:
        self.failing: list[ReceiptSummary] = []
        self._on_receipt = on_receipt
        self._keep = keep
        self._rows = self._dropped_items = self._dropped_bytes = 0
        self._by_result: Counter[Result] = Counter()
        self._by_code: Counter[tuple[str, ...]] = Counter()
        self._by_version: Counter[str] = Counter()

    def proved(self, line: int, offset: int, data: bytes, row: fast.Proved) -> None:
        """Take a row of the fast road."""
        self._rows += 1
        if is_receipt_row(row.row):
            self._take(_of_proved(row, line, offset, len(data)))

    def parsed(self, line: int, offset: int, data: bytes, parsed: Parsed) -> None:
        """Take a row of the exact road."""
        self._rows += 1
        if is_receipt_row(parsed.value):
            self._take(_of_parsed(parsed, line, offset, len(data)))

    def totals(self) -> SweepTotals:
        """Return the counts so far."""
        receipts = self._by_result.total()
        codes: Counter[str] = Counter()
        for names, count in self._by_code.items():
            codes.update(dict.fromkeys(names, count))
        return SweepTotals(
            rows=self._rows,
            receipts=receipts,
            passed_over=self._rows - receipts,
            by_result={result: self._by_result[result] for result in Result},
            by_code=dict(codes),
            by_version=dict(self._by_version),
            dropped_items=self._dropped_items,
            dropped_bytes=self._dropped_bytes,
        )

    def _take(self, summary: ReceiptSummary) -> None:
        self._by_result[summary.result] += 1
        self._by_code[summary.codes] += 1
        self._by_version[summary.version] += 1
        self._dropped_items += summary.dropped_count or 0
        self._dropped_bytes += summary.dropped_bytes or 0
        if summary.result in {Result.FAILS, Result.COULD_NOT_LOOK} and len(self.failing) < self._keep:
            self.failing.append(summary)
        self._on_receipt(summary)


def _of_line(line: Line, nesting: int) -> ReceiptSummary | None:
    data = line.data
    if data is None:
        return None
    shallow = data.count(b"[") + data.count(b"{") <= nesting
    proved = fast.prove(data) if shallow else None
    if proved is not None:
        return _of_proved(proved, line.number, line.offset, line.length) if is_receipt_row(proved.row) else None
    parsed = parse_exact(data.decode("utf-8", "replace").strip(), nesting=nesting)
    return _of_parsed(parsed, line.number, line.offset, line.length) if is_receipt_row(parsed.value) else None


def _of_proved(proved: fast.Proved, line: int, offset: int, length: int) -> ReceiptSummary:
    summary = quick_summary(proved, line, offset, length)
    if summary is not None:
        return summary
    row = proved.row
    if proved.digests is not None:
        row["dropped"]["items"] = proved.items()
    return summarise(verify_receipt(row, line=line), row, line=line, offset=offset, length=length)


def _of_parsed(parsed: Parsed, line: int, offset: int, length: int) -> ReceiptSummary:
    report = verify_receipt(parsed.value, line=line)
    if parsed.duplicates:
        report = refuse_ambiguous(report, parsed, line)
    return summarise(report, parsed.value, line=line, offset=offset, length=length)
