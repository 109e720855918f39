"""Does the ledger still hold what was pinned?

The ledger is walked once for all pins. A pin that agrees is a pass only when our own walk looked at every row up to
the pinned one and found all of them linked: a chain value that agrees behind an excused or skipped row proves
nothing about that row. Rows after the newest pin are constrained by no pin, and neither is anything if the keeper of
the pins is the writer of the ledger.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from engine.errors import UsageError
from engine.findings import Finding, IsCancelled, OnProgress, Result, Severity, ignore_progress, never_cancelled
from engine.ledger import codes
from engine.ledger.pins import Integrity, Pin, PinFile
from engine.ledger.report import ChainReport, Limits, Tail
from engine.ledger.verify import DEFAULT_LIMITS, verify_observed
from engine.lines.fast import Proved
from engine.lines.source import Source
from engine.lines.strict import Parsed, parse_exact


class PinAnswer(StrEnum):
    """What comparing a ledger with a pin says."""

    CONSISTENT = "consistent"
    PARTIAL = "partial"
    """The pinned value agrees, but a row before it is outside the check."""
    TRUNCATED = "truncated"
    REWRITTEN = "rewritten"
    LOCAL_BROKEN = "ledger broken"
    STORE_BROKEN = "pins broken"
    NO_RECORD = "no usable pin"
    COULD_NOT_LOOK = "could not look"


def result_of(answer: PinAnswer) -> Result:
    """Return the result an answer stands for."""
    match answer:
        case PinAnswer.CONSISTENT:
            return Result.HOLDS
        case PinAnswer.PARTIAL:
            return Result.BOUNDED
        case PinAnswer.TRUNCATED | PinAnswer.REWRITTEN | PinAnswer.LOCAL_BROKEN | PinAnswer.STORE_BROKEN:
            return Result.FAILS
        case PinAnswer.NO_RECORD | PinAnswer.COULD_NOT_LOOK:
            return Result.COULD_NOT_LOOK
        case _:
            assert_never(answer)


@dataclass(frozen=True, slots=True)
class PinReport:
    """The answer for one pin (None: there was none to compare).

    `sentence` is our own plain text without foreign words. `missing` counts pinned rows that are gone, `grown` the rows
    behind the pinned one; `finding` is what in the ledger or in the store decided. `integrity` says whether the pin's
    own file vouches for itself.
    """

    answer: PinAnswer
    sentence: str
    pin: Pin | None = None
    rows: int = 0
    missing: int = 0
    grown: int = 0
    found_chain: str | None = None
    finding: Finding | None = None
    integrity: Integrity = Integrity.UNESTABLISHED

    @property
    def result(self) -> Result:
        """Return the result of the comparison."""
        return result_of(self.answer)

    @property
    def scope(self) -> str:
        """Say how far the answer reaches."""
        known = self.pin is not None and self.pin.rows is not None
        return f"rows 1 to {self.pin.rows}" if known and self.pin else "nothing"

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        pin = self.pin
        return {
            "answer": self.answer.value,
            "result": self.result.value,
            "scope": self.scope,
            "sentence": self.sentence,
            "namespace": pin.namespace if pin else None,
            "pinned_rows": pin.rows if pin else None,
            "pinned_chain": pin.chain if pin else None,
            "pin_line": pin.line if pin else None,
            "made_at": pin.made_at if pin else None,
            "rows": self.rows,
            "missing": self.missing,
            "grown": self.grown,
            "found_chain": self.found_chain,
            "finding": self.finding.as_json() if self.finding else None,
            "integrity": self.integrity.value,
        }


def check_pins(
    source: Source,
    pins: PinFile | Sequence[Pin],
    *,
    namespace: str | None = None,
    strict: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    on_progress: OnProgress = ignore_progress,
    is_cancelled: IsCancelled = never_cancelled,
) -> tuple[PinReport, ...]:
    """Compare a ledger with every pin of a file (or with these pins), and report each; at least one report.

    Raises `UsageError` when a file holds pins of several namespaces and none is named, and `CancelledError`. Bad pins
    and bad ledgers are reports.
    """
    file = pins if isinstance(pins, PinFile) else None
    if file is not None and (early := _without_comparison(file)) is not None:
        return (early,)
    everything = pins.pins if isinstance(pins, PinFile) else pins
    chosen = [pin for pin in everything if namespace is None or pin.namespace == namespace]
    if file is not None and namespace is None and len(file.namespaces()) > 1:
        raise UsageError(
            "pins_of_several_ledgers",
            f"the pin file holds pins of {len(file.namespaces())} namespaces",
            where=file.name,
            hint="name one of them with --namespace",
        )
    integrity = file.integrity if file else Integrity.UNESTABLISHED
    if not chosen:
        return (PinReport(PinAnswer.NO_RECORD, "there is no pin to compare with", integrity=integrity),)
    if not any(pin.is_usable for pin in chosen):
        return tuple(_no_record(pin, integrity) for pin in chosen)
    observer = _PinnedRows({pin.rows for pin in chosen if pin.rows is not None})
    report = verify_observed(
        source, observer, strict=strict, limits=limits, on_progress=on_progress, is_cancelled=is_cancelled
    )
    comparison = _Comparison(report, observer, integrity)
    return tuple(comparison.with_pin(pin) if pin.is_usable else _no_record(pin, integrity) for pin in chosen)


def _without_comparison(file: PinFile) -> PinReport | None:
    if not file.is_readable:
        finding = file.findings[0] if file.findings else None
        return PinReport(PinAnswer.COULD_NOT_LOOK, "the pin file could not be read", finding=finding)
    if file.integrity is not Integrity.BROKEN:
        return None
    first = next((f for f in file.findings if f.code.severity is Severity.BREAK), None)
    place = f"line {first.line}: {first.code.sentence}" if first else "its chain does not hold"
    return PinReport(
        PinAnswer.STORE_BROKEN,
        f"the pin file itself was altered ({place}), so agreeing with it would prove nothing",
        finding=first,
        integrity=Integrity.BROKEN,
    )


def _no_record(pin: Pin, integrity: Integrity) -> PinReport:
    return PinReport(PinAnswer.NO_RECORD, f"this pin constrains nothing: {pin.why}", pin, integrity=integrity)


class _PinnedRows:
    """Keeps the line of every row, and the claimed chain of the pinned ones."""

    def __init__(self, wanted: set[int]) -> None:
        self.wanted = wanted
        self.lines = array("Q")
        self.chains: dict[int, object] = {}

    def proved(self, line: int, offset: int, data: bytes, row: Proved) -> None:
        del offset, row
        self.lines.append(line)
        if len(self.lines) in self.wanted:
            value = parse_exact(data.decode("utf-8", "replace").strip()).value
            self.chains[len(self.lines)] = value.get("chain") if isinstance(value, dict) else None

    def parsed(self, line: int, offset: int, data: bytes, parsed: Parsed) -> None:
        del offset, data
        self.lines.append(line)
        if len(self.lines) in self.wanted and isinstance(parsed.value, dict):
            self.chains[len(self.lines)] = parsed.value.get("chain")

    def row_at(self, line: int) -> int | None:
        """Return the number of the row that stands at a line."""
        place = bisect.bisect_left(self.lines, line)
        return place + 1 if place < len(self.lines) and self.lines[place] == line else None


class _Comparison:
    """One walk over the ledger, compared with one pin after another."""

    def __init__(self, report: ChainReport, observer: _PinnedRows, integrity: Integrity) -> None:
        self.report = report
        self.observer = observer
        self.integrity = integrity
        self.rows = len(observer.lines)

    def with_pin(self, pin: Pin) -> PinReport:
        rows = pin.rows or 0
        if self.report.scope == "unreadable":
            return self._answer(PinAnswer.COULD_NOT_LOOK, pin, "the ledger could not be read", self.report.findings[0])
        return self._short(pin, rows) if self.rows < rows else self._long_enough(pin, rows)

    def _short(self, pin: Pin, rows: int) -> PinReport:
        missing = rows - self.rows
        broken = self._first(Severity.BREAK, self.report.lines)
        gone = f"{missing} of the {rows} pinned rows {'is' if missing == 1 else 'are'} missing"
        if (unread := self._first(Severity.LIMIT, self.report.lines)) is not None:
            text = f"{self._place(unread)} was not looked at, so it is not known whether rows are missing"
            return self._answer(PinAnswer.COULD_NOT_LOOK, pin, text, unread)
        if broken is not None:
            text = f"the ledger is broken at {self._place(broken)}, and {gone}"
            return self._answer(PinAnswer.LOCAL_BROKEN, pin, text, broken, missing)
        torn = "; the last line is unfinished" if self.report.tail is Tail.UNFINISHED else ""
        return self._answer(PinAnswer.TRUNCATED, pin, gone + torn, None, missing)

    def _long_enough(self, pin: Pin, rows: int) -> PinReport:
        last = self.observer.lines[rows - 1]
        chain = self.observer.chains.get(rows)
        agrees = isinstance(chain, str) and chain.lower() == pin.chain
        broken = self._first(Severity.BREAK, last)
        if broken is not None:
            text = (
                f"the ledger is broken at {self._place(broken)}; the pinned value {'agrees' if agrees else 'differs'}"
            )
            return self._answer(PinAnswer.LOCAL_BROKEN, pin, text, broken)
        if (unread := self._first(Severity.LIMIT, last)) is not None or self._findings_cut(last):
            place = self._place(unread) if unread is not None else "a row"
            return self._answer(PinAnswer.COULD_NOT_LOOK, pin, f"{place} before the pin was not looked at", unread)
        if not agrees:
            text = f"row {rows} is not the pinned one: rows were changed, removed or inserted at or before row {rows}"
            return self._answer(PinAnswer.REWRITTEN, pin, text, None)
        if (outside := self._outside(last)) is not None:
            text = f"agrees at row {rows}, but {self._place(outside)} is outside the check"
            return self._answer(PinAnswer.PARTIAL, pin, text, outside)
        return self._answer(PinAnswer.CONSISTENT, pin, f"rows 1 to {rows} are the pinned ones", None)

    def _answer(
        self, answer: PinAnswer, pin: Pin, sentence: str, finding: Finding | None, missing: int = 0
    ) -> PinReport:
        rows = pin.rows or 0
        chain = self.observer.chains.get(rows)
        return PinReport(
            answer,
            sentence,
            pin,
            rows=self.rows,
            missing=missing,
            grown=max(0, self.rows - rows),
            found_chain=chain if isinstance(chain, str) else None,
            finding=finding,
            integrity=self.integrity,
        )

    def _first(self, severity: Severity, last_line: int) -> Finding | None:
        """Return the first finding of a severity up to a line; one without a line stands for the whole file."""
        found = [f for f in self.report.findings if f.code.severity is severity and (f.line or 0) <= last_line]
        return min(found, key=lambda f: f.line or 0, default=None)

    def _outside(self, last_line: int) -> Finding | None:
        skipped = (codes.PRECHAIN_ROWS, codes.DECLARED_BREAK)
        found = [f for f in self.report.findings if f.code in skipped and (f.line or 0) <= last_line]
        return min(found, key=lambda f: f.line or 0, default=None)

    def _findings_cut(self, last_line: int) -> bool:
        """Tell whether the report stopped keeping findings before a line, so that silence about it says nothing."""
        if len(self.report.findings) < self.report.limits.findings:
            return False
        return max((f.line or 0 for f in self.report.findings), default=0) < last_line

    def _place(self, finding: Finding) -> str:
        if finding.line is None:
            return "the file"
        row = self.observer.row_at(finding.line)
        return f"line {finding.line}" if row is None else f"row {row}"
