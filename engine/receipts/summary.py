"""What is kept of one receipt when a whole ledger is swept?

A small value per receipt: where it stands, what it claims, what the check said. It holds no manifest and no content;
read the row again at `offset` for those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.findings import Result
from engine.receipts.display import shown
from engine.receipts.schema import Claim
from engine.receipts.verify import ReceiptReport

_SESSION_FIELDS = ("session", "session_id")
_Number = int | None
_Numbers = tuple[_Number, _Number, _Number, _Number, _Number, _Number, _Number, _Number]
_NO_NUMBERS: _Numbers = (None,) * 8


@dataclass(frozen=True, slots=True)
class ReceiptSummary:
    """One receipt of a sweep. Numbers and labels are the row's claims (None or "" when it is malformed).

    `scope`, `result` and `codes` are the answer of the check; texts are short, foreign and must be treated as hostile.
    """

    line: int
    offset: int
    length: int
    result: Result
    scope: str
    version: str
    pre_count: int | None
    pre_bytes: int | None
    post_count: int | None
    post_bytes: int | None
    dropped_count: int | None
    dropped_bytes: int | None
    introduced_count: int | None
    introduced_bytes: int | None
    compactor: str
    method: str
    opened_at: str
    series: str
    pre_digest: str
    post_digest: str
    receipt_digest: str
    codes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the fields under their own names."""
        return {name: getattr(self, name) for name in self.__slots__}


def summarise(report: ReceiptReport, row: object, *, line: int, offset: int, length: int) -> ReceiptSummary:
    """Keep of a checked receipt what a list of receipts needs."""
    claim = report.claim
    fields = row if isinstance(row, dict) else {}
    numbers = _NO_NUMBERS if claim is None else _numbers(claim)
    return ReceiptSummary(
        line,
        offset,
        length,
        report.result,
        report.scope,
        report.reference_fields.schema or "",
        *numbers,
        compactor=label(fields.get("compactor")),
        method=label(fields.get("method")),
        opened_at=label(fields.get("opened_at")),
        series=series_of(fields),
        pre_digest=_text(None if claim is None else claim.pre.digest),
        post_digest=_text(None if claim is None else claim.post.digest),
        receipt_digest=_text(fields.get("receipt_digest")),
        codes=tuple(dict.fromkeys(finding.code.name for finding in report.findings)),
    )


def _numbers(claim: Claim) -> _Numbers:
    return (
        claim.pre.count,
        claim.pre.size,
        claim.post.count,
        claim.post.size,
        claim.dropped_count,
        claim.dropped_size,
        claim.introduced_count,
        claim.introduced_size,
    )


def series_of(row: dict[str, Any]) -> str:
    """Name the series a receipt belongs to: its session when the row names one, else its compactor."""
    for name in _SESSION_FIELDS:
        value = row.get(name)
        if isinstance(value, str) and value:
            return shown(value)
    return label(row.get("compactor"))


def label(value: object) -> str:
    """Show a label of a row; a missing one is empty."""
    return "" if value is None else shown(value)


def _text(value: object) -> str:
    return shown(value) if isinstance(value, str) else ""
