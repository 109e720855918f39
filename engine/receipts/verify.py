"""Does a receipt hold, and how far was it checked?

Folds self-consistency and, where content is held, the recomputed drop set into one result: HOLDS only when both sides
were recomputed and everything agrees, BOUNDED when the row merely agrees with itself or with one side. `reference`
carries the reference verifier's own fields. A pass does not mean that the drop was wise, nor that the content before
was all there was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from engine.findings import UNWATCHED, Code, Finding, Result, Severity, Watch
from engine.receipts.consistency import Consistency, check_consistency, is_stricter
from engine.receipts.content import ContentError, SideSum
from engine.receipts.display import shown
from engine.receipts.recompute import NAMED_AT_MOST, ContentComparison, Named, compare
from engine.receipts.schema import Claim, Malformed, SchemaVersion, SideClaim, read_claim

CONTENT_DIFFERS = Code(
    "receipt_content_differs", Severity.BREAK, "a number recomputed from the held content is not the claimed one"
)
DROP_NOT_CLAIMED = Code(
    "receipt_drop_not_claimed", Severity.BREAK, "the content shows a drop that the manifest does not name"
)
CLAIMED_BUT_KEPT = Code(
    "receipt_claimed_but_kept", Severity.BREAK, "the manifest names an item as dropped that the content still holds"
)
NOT_IN_CONTENT = Code(
    "receipt_drop_not_in_content", Severity.BREAK, "the manifest names an item that the content before never held"
)
CONTENT_CODES = frozenset({CONTENT_DIFFERS, DROP_NOT_CLAIMED, CLAIMED_BUT_KEPT, NOT_IN_CONTENT})
"""Findings that only held content can make."""
CONTENT_UNDIGESTIBLE = Code(
    "receipt_content_undigestible",
    Severity.LIMIT,
    "the held content has an item that the item rule cannot digest, so it was not compared",
)
NO_CONTENT = Code(
    "receipt_no_content",
    Severity.NOTICE,
    "no content was held against the receipt: it agrees with itself, which a lie can do as well",
    "give the content before and after",
)
V1_LOWER_BOUND = Code(
    "receipt_v1_lower_bound",
    Severity.NOTICE,
    "schema v1 does not record the bytes introduced, so the bytes dropped may be understated without a trace",
    "hold the content against it, or seal anew under v2",
)
ONE_SIDE_ONLY = Code(
    "receipt_one_side_only",
    Severity.NOTICE,
    "content of one side only was held, so the set of drops was not recomputed",
    "give the other side too",
)


@dataclass(frozen=True, slots=True)
class ReceiptReference:
    """The reference verifier's answer (0.1.7), field by field, without its notes."""

    ok: bool = False
    self_consistent: bool = False
    content: str = "skipped"
    schema: str | None = None
    understatement_check: str | None = None
    verified_scope: str = "none"

    def as_json(self) -> dict[str, Any]:
        """Return the fields under the reference's names."""
        return {
            "ok": self.ok,
            "self_consistent": self.self_consistent,
            "content": self.content,
            "schema": self.schema,
            "understatement_check": self.understatement_check,
            "verified_scope": self.verified_scope,
        }


@dataclass(frozen=True, slots=True)
class ReceiptReport:
    """The whole answer about one receipt.

    `scope` is the reference's word for how much was looked at. `comparison` is what the content says, None when none
    was held or it could not be digested.
    """

    result: Result
    scope: str
    findings: tuple[Finding, ...]
    claim: Claim | None
    comparison: ContentComparison | None
    reference_fields: ReceiptReference

    @property
    def reference(self) -> dict[str, Any]:
        """Return exactly the reference verifier's fields."""
        return self.reference_fields.as_json()

    @property
    def stricter(self) -> tuple[str, ...]:
        """Name the findings on which the reference verifier is silent."""
        return tuple(dict.fromkeys(finding.code.name for finding in self.findings if is_stricter(finding)))


def verify_receipt(
    row: object,
    pre_content: Iterable[Any] | None = None,
    post_content: Iterable[Any] | None = None,
    *,
    line: int | None = None,
    watch: Watch = UNWATCHED,
) -> ReceiptReport:
    """Check a parsed receipt row against itself and against the content given; no row makes it raise.

    Without both contents the result is at best BOUNDED. A row parsed elsewhere has lost its duplicate keys: for bytes
    use `engine.receipts.ambiguity.verify_receipt_line`. Raises `ContentError` when what is given as content is no list
    of items, and `CancelledError`.
    """
    claim = read_claim(row)
    if isinstance(claim, Malformed):
        return _malformed(claim, line)
    consistency = check_consistency(claim)
    comparison, content_findings = _compare(claim, pre_content, post_content, watch)
    scope = _scope(claim, pre_content is not None, post_content is not None)
    findings = (*consistency.findings, *content_findings, *_bounds(claim, scope))
    return ReceiptReport(
        result=_result(findings, scope),
        scope=scope,
        findings=tuple(at_line(finding, line) for finding in findings),
        claim=claim,
        comparison=comparison,
        reference_fields=_reference(claim, consistency, content_findings, scope),
    )


def at_line(finding: Finding, line: int | None) -> Finding:
    """Return the finding placed at a ledger line."""
    if line is None:
        return finding
    return Finding(finding.code, line, finding.field, finding.claimed, finding.found, finding.note)


def result_of(findings: Iterable[Finding], *, full: bool) -> Result:
    """Fold findings: any break FAILS, any limit COULD_NOT_LOOK, then HOLDS only in full scope."""
    severities = {finding.code.severity for finding in findings}
    if Severity.BREAK in severities:
        return Result.FAILS
    if Severity.LIMIT in severities:
        return Result.COULD_NOT_LOOK
    return Result.HOLDS if full else Result.BOUNDED


def _result(findings: Iterable[Finding], scope: str) -> Result:
    return result_of(findings, full=scope == "full")


def _malformed(malformed: Malformed, line: int | None) -> ReceiptReport:
    reference = ReceiptReference(schema=_schema(malformed.version), understatement_check=_check(malformed.version))
    finding = at_line(malformed.finding, line)
    return ReceiptReport(result_of((finding,), full=False), "none", (finding,), None, None, reference)


def _compare(
    claim: Claim, pre: Iterable[Any] | None, post: Iterable[Any] | None, watch: Watch
) -> tuple[ContentComparison | None, tuple[Finding, ...]]:
    if pre is None and post is None:
        return None, ()
    try:
        comparison = compare(pre, post, claim.manifest, watch=watch)
    except ContentError as exc:
        if exc.position is None:
            raise
        return None, (Finding(CONTENT_UNDIGESTIBLE, field=exc.where, note=shown(exc.message)),)
    return comparison, tuple(_content_findings(claim, comparison))


def _content_findings(claim: Claim, comparison: ContentComparison) -> Iterator[Finding]:
    if comparison.pre is not None:
        yield from _side_findings("pre", claim.pre, comparison.pre)
    if comparison.post is not None:
        yield from _side_findings("post", claim.post, comparison.post)
    if comparison.manifest is not None:
        yield from _named_findings(NOT_IN_CONTENT, comparison.manifest.not_in_pre, claimed=True)
        yield from _named_findings(DROP_NOT_CLAIMED, comparison.manifest.unclaimed, claimed=False)
        yield from _named_findings(CLAIMED_BUT_KEPT, comparison.manifest.claimed_but_kept, claimed=True)
    if comparison.full:
        yield from _differs("dropped.bytes", claim.dropped_size, comparison.dropped_size)
        yield from _differs("introduced.count", claim.introduced_count, len(comparison.introduced))
        if claim.introduced_size is not None:
            yield from _differs("introduced.bytes", claim.introduced_size, comparison.introduced_size)


def _side_findings(name: str, claimed: SideClaim, found: SideSum) -> Iterator[Finding]:
    yield from _differs(f"{name}.digest", claimed.digest, found.digest)
    yield from _differs(f"{name}.count", claimed.count, found.count)
    yield from _differs(f"{name}.bytes", claimed.size, found.size)


def _differs(field: str, claimed: Any, found: Any) -> Iterator[Finding]:
    if claimed != found:
        yield Finding(CONTENT_DIFFERS, field=field, claimed=shown(claimed), found=shown(found))


def _named_findings(code: Code, named: Named, *, claimed: bool) -> Iterator[Finding]:
    note = f"{named.total} in all" if named.total > NAMED_AT_MOST else ""
    for digest in named.digests:
        if claimed:
            yield Finding(code, field="dropped.items", claimed=shown(digest), note=note)
        else:
            yield Finding(code, field="dropped.items", found=shown(digest), note=note)


def _bounds(claim: Claim, scope: str) -> Iterator[Finding]:
    """Say what was not looked at: a bounded answer without this reads like a full one."""
    if scope == "full":
        return
    yield Finding(NO_CONTENT if scope.startswith("bounded_no_content") else ONE_SIDE_ONLY)
    if claim.lower_bound_only:
        yield Finding(V1_LOWER_BOUND, field="dropped.bytes", claimed=shown(claim.dropped_size))


def _scope(claim: Claim, pre: bool, post: bool) -> str:
    if pre and post:
        return "full"
    scope = "bounded_pre_only" if pre else "bounded_post_only" if post else "bounded_no_content"
    return scope + "+v1_lower_bound" if claim.lower_bound_only else scope


def _reference(claim: Claim, consistency: Consistency, content: tuple[Finding, ...], scope: str) -> ReceiptReference:
    mismatch = any(finding.code.severity is not Severity.NOTICE for finding in content)
    looked = not scope.startswith("bounded_no_content")
    return ReceiptReference(
        ok=consistency.reference_ok and not mismatch,
        self_consistent=consistency.reference_ok,
        content="mismatch" if mismatch else "match" if looked else "skipped",
        schema=_schema(claim.version),
        understatement_check=_check(claim.version),
        verified_scope=scope,
    )


def _schema(version: SchemaVersion | None) -> str | None:
    return None if version is None else version.value


def _check(version: SchemaVersion | None) -> str | None:
    if version is None:
        return None
    return "full" if version is SchemaVersion.V2 else "truncation-only"
