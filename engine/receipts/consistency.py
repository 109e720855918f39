"""Does a receipt agree with itself?

All checks that need no content: counts, bytes and the digest over the row's own core. A compactor who controls every
number can satisfy all of them, so a row that agrees with itself is a frozen claim, never a proof: only content exposes
a lie (product document on receipts, "Verification, honestly scoped").
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.digests import JSON_C14N
from engine.findings import Code, Finding, Severity
from engine.lines.plain import canonical_many
from engine.receipts.display import shown
from engine.receipts.schema import CORE_FIELDS, STRICTER_SHAPE, Claim, SchemaVersion, check_digests

EMPTY_DIGEST = JSON_C14N + "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"

MANIFEST_LENGTH = Code(
    "receipt_manifest_length", Severity.BREAK, "the manifest does not name as many items as the receipt says it dropped"
)
COUNTS_EXCEED = Code("receipt_counts_exceed", Severity.BREAK, "more items are claimed dropped than there were before")
COUNTS_DO_NOT_ADD_UP = Code(
    "receipt_counts_do_not_add_up", Severity.BREAK, "before minus dropped is not after minus introduced"
)
BYTES_EXCEED = Code("receipt_bytes_exceed", Severity.BREAK, "more bytes are claimed dropped than there were before")
BYTES_WITHOUT_ITEMS = Code(
    "receipt_bytes_without_items", Severity.BREAK, "bytes are claimed where no item is, which cannot be"
)
BYTES_DO_NOT_ADD_UP = Code(
    "receipt_bytes_do_not_add_up",
    Severity.BREAK,
    "bytes after are not bytes before minus dropped plus introduced",
)
BYTES_BELOW_KEPT = Code(
    "receipt_bytes_below_kept", Severity.BREAK, "bytes after are fewer than the kept bytes that they must contain"
)
DIGEST_OF_NOTHING = Code(
    "receipt_digest_of_nothing",
    Severity.BREAK,
    "a side of no items must have the digest of the empty list, and only that side may have it",
)
CORE_ALTERED = Code(
    "receipt_core_altered",
    Severity.BREAK,
    "the receipt's own digest does not recompute from its fields: the row was altered after it was sealed",
)
CORE_UNHASHABLE = Code(
    "receipt_core_unhashable",
    Severity.BREAK,
    "the fields hold a value that the digest recipe refuses, so no sealing can have made this row's digest",
)
CORE_TOO_DEEP = Code(
    "receipt_core_too_deep", Severity.LIMIT, "the fields are nested too deep to recompute the receipt's own digest"
)
V1_WITH_V2_FIELD = Code(
    "receipt_v1_with_v2_field",
    Severity.NOTICE,
    "a v1 row carries introduced.bytes, which only v2 records and v1 does not check",
)

STRICTER = STRICTER_SHAPE | {DIGEST_OF_NOTHING}
"""Codes on which the reference verifier is silent; `BYTES_WITHOUT_ITEMS` is shared and marked by its field."""

_STRICTER_FIELDS = frozenset({"introduced.bytes", "post.bytes", "pre.bytes", "dropped.bytes (all)"})


@dataclass(frozen=True, slots=True)
class Consistency:
    """Findings of the checks without content; `reference_ok` is the reference verifier's own yes or no to them."""

    findings: tuple[Finding, ...]
    reference_ok: bool
    core_digest: str | None


def is_stricter(finding: Finding) -> bool:
    """Tell whether the reference verifier would have been silent on a finding."""
    if finding.code is BYTES_WITHOUT_ITEMS:
        return finding.field in _STRICTER_FIELDS
    return finding.code in STRICTER


def check_consistency(claim: Claim) -> Consistency:
    """Run every check that needs no content; never raises."""
    core_digest, core = _check_core(claim.row)
    findings = (
        *check_digests(claim),
        *_check_counts(claim),
        *_check_bytes(claim),
        *core,
        *_check_impossible(claim),
        *_notices(claim),
    )
    severe = (f for f in findings if f.code.severity is not Severity.NOTICE)
    return Consistency(findings, all(is_stricter(f) for f in severe), core_digest)


def core_body(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that `receipt_digest` covers; a missing one counts as null."""
    return {name: row.get(name) for name in CORE_FIELDS}


def _check_counts(claim: Claim) -> Iterator[Finding]:
    if len(claim.manifest.digests) != claim.dropped_count:
        yield Finding(
            MANIFEST_LENGTH,
            field="dropped.items",
            claimed=shown(claim.dropped_count),
            found=str(len(claim.manifest.digests)),
        )
    kept = claim.pre.count - claim.dropped_count
    if kept < 0:
        yield Finding(
            COUNTS_EXCEED, field="dropped.count", claimed=shown(claim.dropped_count), found=shown(claim.pre.count)
        )
    elif claim.post.count - claim.introduced_count != kept:
        yield Finding(
            COUNTS_DO_NOT_ADD_UP,
            field="post.count",
            claimed=shown(claim.post.count),
            found=shown(kept + claim.introduced_count),
        )


def _check_bytes(claim: Claim) -> Iterator[Finding]:
    """Check the byte arithmetic; the first alternative that fails hides the later ones, as in the reference."""
    kept = claim.pre.size - claim.dropped_size
    if kept < 0:
        yield _bytes(BYTES_EXCEED, "dropped.bytes", claim.dropped_size, claim.pre.size)
    elif claim.dropped_count == 0 and claim.dropped_size != 0:
        yield _bytes(BYTES_WITHOUT_ITEMS, "dropped.bytes", claim.dropped_size, 0)
    elif claim.introduced_size is not None:
        if claim.post.size != kept + claim.introduced_size:
            yield _bytes(BYTES_DO_NOT_ADD_UP, "post.bytes", claim.post.size, kept + claim.introduced_size)
    elif claim.introduced_count == 0 and claim.post.size != kept:
        yield _bytes(BYTES_DO_NOT_ADD_UP, "post.bytes", claim.post.size, kept)
    elif claim.post.size < kept:
        yield _bytes(BYTES_BELOW_KEPT, "post.bytes", claim.post.size, kept)


def _check_impossible(claim: Claim) -> Iterator[Finding]:
    """Check what the reference leaves open: bytes or digests of nothing. Each is impossible for an honest sealer."""
    for field, count, size in (
        ("pre.bytes", claim.pre.count, claim.pre.size),
        ("post.bytes", claim.post.count, claim.post.size),
        ("introduced.bytes", claim.introduced_count, claim.introduced_size or 0),
        ("dropped.bytes (all)", claim.pre.count - claim.dropped_count, claim.pre.size - claim.dropped_size),
    ):
        if count == 0 and size > 0:
            yield _bytes(BYTES_WITHOUT_ITEMS, field, size, 0)
    for field, side in (("pre.digest", claim.pre), ("post.digest", claim.post)):
        if (side.count == 0) is not (side.digest == EMPTY_DIGEST):
            yield Finding(
                DIGEST_OF_NOTHING, field=field, claimed=shown(side.digest), found=f"{shown(side.count)} items"
            )


def _check_core(row: dict[str, Any]) -> tuple[str | None, tuple[Finding, ...]]:
    claimed = row.get("receipt_digest")
    try:
        digest = JSON_C14N + hashlib.sha256(canonical_many([core_body(row)])[0]).hexdigest()
    except (ValueError, TypeError) as exc:  # UnicodeEncodeError is a ValueError
        code = CORE_TOO_DEEP if isinstance(exc.__cause__, RecursionError) else CORE_UNHASHABLE
        return None, (Finding(code, field="receipt_digest", claimed=shown(claimed), note=shown(str(exc))),)
    if claimed != digest:
        return digest, (Finding(CORE_ALTERED, field="receipt_digest", claimed=shown(claimed), found=digest),)
    return digest, ()


def _notices(claim: Claim) -> Iterator[Finding]:
    if claim.version is SchemaVersion.V1 and "bytes" in claim.row["introduced"]:
        yield Finding(V1_WITH_V2_FIELD, field="introduced.bytes", claimed=shown(claim.row["introduced"]["bytes"]))


def _bytes(code: Code, field: str, claimed: int, found: int) -> Finding:
    return Finding(code, field=field, claimed=shown(claimed), found=shown(found))
