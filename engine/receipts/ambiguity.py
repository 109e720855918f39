"""Does the text of a receipt row have one meaning?

A key given twice means one thing to a reader that keeps the first value and another to one that keeps the last. Such
a row is refused as ambiguous with both values shown; the reference verifier reads the last and says nothing. A row
with one meaning is not thereby true.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from engine.findings import UNWATCHED, Finding, Result, Severity, Watch
from engine.lines.strict import DEFAULT_NESTING, Parsed, parse_exact
from engine.receipts.display import shown
from engine.receipts.schema import AMBIGUOUS
from engine.receipts.verify import ReceiptReference, ReceiptReport, at_line, verify_receipt


def verify_receipt_line(
    data: bytes | str,
    pre_content: Iterable[Any] | None = None,
    post_content: Iterable[Any] | None = None,
    *,
    line: int | None = None,
    nesting: int = DEFAULT_NESTING,
    watch: Watch = UNWATCHED,
) -> ReceiptReport:
    """Check one receipt row given as the text of its line; no text makes it raise.

    A row that is no JSON FAILS, one nested deeper than `nesting` could not be looked at, one with duplicate keys is
    refused as ambiguous. Raises `ContentError` and `CancelledError` as `verify_receipt`.
    """
    text = (data if isinstance(data, str) else data.decode("utf-8", "replace")).strip()
    parsed = parse_exact(text, nesting=nesting)
    if parsed.problem is not None:
        finding = Finding(parsed.problem, line, claimed=shown(text))
        result = Result.FAILS if parsed.problem.severity is Severity.BREAK else Result.COULD_NOT_LOOK
        return ReceiptReport(result, "none", (finding,), None, None, ReceiptReference())
    report = verify_receipt(parsed.value, pre_content, post_content, line=line, watch=watch)
    return refuse_ambiguous(report, parsed, line) if parsed.duplicates else report


def refuse_ambiguous(report: ReceiptReport, parsed: Parsed, line: int | None) -> ReceiptReport:
    """Turn the report on the last-wins reading of a row into a refusal that shows both readings."""
    ambiguous = tuple(
        at_line(Finding(AMBIGUOUS, field=shown(key), claimed=_brief(first), found=_brief(second)), line)
        for key, (first, second) in zip(parsed.duplicates, parsed.values, strict=True)
    )
    return replace(report, result=Result.FAILS, scope="none", findings=(*ambiguous, *report.findings))


def _brief(value: Any) -> str:
    return shown(json.dumps(value)) if isinstance(value, dict | list) else shown(value)
