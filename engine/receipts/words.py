"""Which plain words may be said of a checked receipt?

One closed set of words for command, report and screen. The word *verified* is kept for a receipt whose two sides were
recomputed from content and agree; without content a receipt is self-consistent at best, and a lie can be that too.
"""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from engine.findings import Result, Severity
from engine.receipts.equation import byte_equation
from engine.receipts.schema import AMBIGUOUS, MALFORMED
from engine.receipts.verify import CONTENT_CODES, ReceiptReport


class ReceiptWord(StrEnum):
    """What a receipt is called after a check."""

    VERIFIED = "verified against content"
    ONE_SIDE = "agrees with one side of the content"
    SELF_CONSISTENT = "self-consistent only"
    MISMATCH = "content mismatch"
    INCONSISTENT = "does not agree with itself"
    MALFORMED = "malformed receipt"
    AMBIGUOUS = "refused as ambiguous"
    NOT_CHECKED = "could not be checked"


def word_of(report: ReceiptReport) -> ReceiptWord:
    """Return the one word for a report."""
    match report.result:
        case Result.HOLDS:
            return ReceiptWord.VERIFIED
        case Result.BOUNDED:
            alone = report.scope.startswith("bounded_no_content")
            return ReceiptWord.SELF_CONSISTENT if alone else ReceiptWord.ONE_SIDE
        case Result.COULD_NOT_LOOK:
            return ReceiptWord.NOT_CHECKED
        case Result.FAILS:
            return _failure(report)
        case _:
            assert_never(report.result)


def sentence_of(report: ReceiptReport) -> str:
    """Say the verdict and how far it reaches in one plain sentence; never *verified* without both contents."""
    word = word_of(report)
    match word:
        case ReceiptWord.VERIFIED:
            return f"{word.value}: both sides were recomputed and every claimed number agrees"
        case ReceiptWord.ONE_SIDE:
            side = "before" if "pre_only" in report.scope else "after"
            return f"{word.value}: only the content {side} was held, so the drops were not recomputed{_bound(report)}"
        case ReceiptWord.SELF_CONSISTENT:
            return f"{word.value}: the numbers agree with one another, nothing was recomputed{_bound(report)}"
        case (
            ReceiptWord.MISMATCH
            | ReceiptWord.INCONSISTENT
            | ReceiptWord.MALFORMED
            | ReceiptWord.AMBIGUOUS
            | ReceiptWord.NOT_CHECKED
        ):
            return f"{word.value}: {_first_reason(report)}"
        case _:
            assert_never(word)


def _failure(report: ReceiptReport) -> ReceiptWord:
    broken = {finding.code for finding in report.findings if finding.code.severity is Severity.BREAK}
    if AMBIGUOUS in broken:
        return ReceiptWord.AMBIGUOUS
    if broken & CONTENT_CODES:
        return ReceiptWord.MISMATCH
    if report.claim is None or MALFORMED in broken:
        return ReceiptWord.MALFORMED
    return ReceiptWord.INCONSISTENT


def _first_reason(report: ReceiptReport) -> str:
    reasons = [finding for finding in report.findings if finding.code.severity is not Severity.NOTICE]
    worst = min(reasons, key=lambda finding: finding.code.severity is not Severity.BREAK)
    place = f" ({worst.field})" if worst.field else ""
    return worst.code.sentence + place


def _bound(report: ReceiptReport) -> str:
    if report.claim is None or byte_equation(report.claim).exact:
        return ""
    return "; v1 lower bound: the bytes dropped may be understated"
