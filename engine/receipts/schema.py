"""What does a receipt row claim, and is the row shaped as its schema asks?

Reads a parsed row into a `Claim`, or says which field is not as the schema asks. A well-shaped claim may still be
false in every number: shape proves nothing about truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.digests import JSON_C14N, SHA256_HEX_LENGTH, has_digest_shape, known_recipe
from engine.findings import Code, Finding, Severity
from engine.receipts.display import kind_word, shown
from engine.receipts.keys import Manifest, read_manifest

SCHEMA_PREFIX = "arcaeon-compact:receipt:"
SCHEMA_V1 = SCHEMA_PREFIX + "v1"
SCHEMA_V2 = SCHEMA_PREFIX + "v2"
RECEIPT_KIND = "compaction_receipt"

# The deterministic core that `receipt_digest` covers (product document on receipts, "The receipt, anatomically").
CORE_FIELDS = ("schema", "pre", "post", "dropped", "introduced", "compactor", "method")

MALFORMED = Code(
    "receipt_malformed",
    Severity.BREAK,
    "the row is not shaped as its receipt schema asks",
    "look at the named field; no number of this row can be used",
)
AMBIGUOUS = Code(
    "receipt_ambiguous",
    Severity.BREAK,
    "a key stands twice in the receipt row, so two honest readers read two different receipts",
    "treat the row as forged until its writer is known",
)
UNKNOWN_SCHEMA = Code(
    "receipt_unknown_schema",
    Severity.LIMIT,
    "the row names a receipt schema that this engine does not know, so it was not checked",
)
DIGEST_SHAPE = Code(
    "receipt_digest_shape",
    Severity.BREAK,
    "a digest has not the four parts algorithm:recipe:version:hex, or its last part is not lower-case hex",
)
DIGEST_LENGTH = Code(
    "receipt_digest_length",
    Severity.BREAK,
    "a digest names a SHA-256 recipe but has not 64 hex digits, so no content can have it",
)
UNKNOWN_RECIPE = Code(
    "receipt_unknown_recipe",
    Severity.LIMIT,
    "a digest names a recipe that this engine cannot recompute; the receipt is refused, not passed",
)
WRONG_RECIPE = Code(
    "receipt_wrong_recipe",
    Severity.BREAK,
    "a digest over the whole content must use the recipe json-c14n:v1, so no content can have this one",
)

STRICTER_SHAPE = frozenset({AMBIGUOUS, DIGEST_LENGTH, UNKNOWN_RECIPE, WRONG_RECIPE})
"""Findings on which the reference verifier is silent."""

_KNOWN_ALGORITHMS = ("sha256:raw-bytes:v1:", JSON_C14N)


class SchemaVersion(StrEnum):
    """The two schemas in use; v2 has been sealed since 0.1.2 of the reference."""

    V1 = "v1"
    V2 = "v2"


@dataclass(frozen=True, slots=True)
class SideClaim:
    """What a receipt claims of one side: number of items, their bytes, digest over the ordered item digests."""

    count: int
    size: int
    digest: Any


@dataclass(frozen=True, slots=True)
class Claim:
    """A well-shaped receipt row. `digest` fields hold whatever the row holds there; `row` keeps unknown fields."""

    version: SchemaVersion
    pre: SideClaim
    post: SideClaim
    dropped_count: int
    dropped_size: int
    manifest: Manifest
    introduced_count: int
    introduced_size: int | None
    row: dict[str, Any]

    @property
    def lower_bound_only(self) -> bool:
        """Tell whether the bytes are only bounded from below: a v1 row that claims an introduction."""
        return self.version is SchemaVersion.V1 and self.introduced_count > 0


@dataclass(frozen=True, slots=True)
class Malformed:
    """A row that cannot be read as a receipt; `version` is set when its schema is known."""

    finding: Finding
    version: SchemaVersion | None = None


def is_receipt_row(value: object) -> bool:
    """Tell whether a parsed row says of itself that it is a compaction receipt (by schema or kind), true or not."""
    if not isinstance(value, dict):
        return False
    schema = value.get("schema")
    return (isinstance(schema, str) and schema.startswith(SCHEMA_PREFIX)) or value.get("kind") == RECEIPT_KIND


def read_claim(row: object) -> Claim | Malformed:
    """Read a row into a claim, or name the first field that stops it; never raises."""
    if not isinstance(row, dict):
        return _malformed("", "an object", row, None)
    schema = row.get("schema")
    if schema == SCHEMA_V1:
        version = SchemaVersion.V1
    elif schema == SCHEMA_V2:
        version = SchemaVersion.V2
    else:
        return Malformed(Finding(UNKNOWN_SCHEMA, field="schema", claimed=shown(schema)))
    return _first_problem(row, version) or _claim(row, version)


def check_digests(claim: Claim) -> tuple[Finding, ...]:
    """Judge every digest of a claim: shape as the reference does, then recipe and length, where we are stricter."""
    found: list[Finding] = []
    wholes = (("pre.digest", claim.pre.digest), ("post.digest", claim.post.digest))
    for field, digest in (*wholes, ("receipt_digest", claim.row.get("receipt_digest"))):
        finding = _judge_digest(field, digest)
        if finding is None and not str(digest).startswith(JSON_C14N):
            finding = Finding(WRONG_RECIPE, field=field, claimed=shown(digest))
        if finding is not None:
            found.append(finding)
    for position, digest in enumerate(claim.manifest.digests if claim.manifest.foreign else ()):
        if not known_recipe(digest):
            finding = _judge_digest(f"dropped.items[{position}]", digest)
            if finding is not None:
                found.append(finding)
    return tuple(found)


def _judge_digest(field: str, digest: object) -> Finding | None:
    if not has_digest_shape(digest):
        return Finding(DIGEST_SHAPE, field=field, claimed=shown(digest))
    text = str(digest)
    if known_recipe(text):
        return None
    if text.startswith(_KNOWN_ALGORITHMS):
        length = len(text.rsplit(":", 1)[1])
        return Finding(
            DIGEST_LENGTH, field=field, claimed=shown(text), found=f"{length} hex digits, not {SHA256_HEX_LENGTH}"
        )
    return Finding(UNKNOWN_RECIPE, field=field, claimed=shown(text))


def _first_problem(row: dict[str, Any], version: SchemaVersion) -> Malformed | None:
    """Walk the fields the schema asks for, in the order a person reads a receipt."""
    introduced = ("count", "bytes") if version is SchemaVersion.V2 else ("count",)
    for section in ("pre", "post", "dropped", "introduced"):
        fields = introduced if section == "introduced" else ("count", "bytes")
        body = row.get(section)
        if not isinstance(body, dict):
            return _malformed(section, "an object", body, version, present=section in row)
        for name in fields:
            if not _is_count(body.get(name)):
                wanted = "a whole number, zero or more"
                return _malformed(f"{section}.{name}", wanted, body.get(name), version, present=name in body)
    items = row["dropped"].get("items")
    if not isinstance(items, list):
        return _malformed("dropped.items", "a list of digests", items, version, present="items" in row["dropped"])
    for position, digest in enumerate(items):
        if not isinstance(digest, str):
            return _malformed(f"dropped.items[{position}]", "a digest as text", digest, version)
    return None


def _claim(row: dict[str, Any], version: SchemaVersion) -> Claim:
    pre, post, dropped, introduced = row["pre"], row["post"], row["dropped"], row["introduced"]
    return Claim(
        version=version,
        pre=SideClaim(pre["count"], pre["bytes"], pre.get("digest")),
        post=SideClaim(post["count"], post["bytes"], post.get("digest")),
        dropped_count=dropped["count"],
        dropped_size=dropped["bytes"],
        manifest=read_manifest(dropped["items"]),
        introduced_count=introduced["count"],
        introduced_size=introduced["bytes"] if version is SchemaVersion.V2 else None,
        row=row,
    )


def _is_count(value: object) -> bool:
    # JSON true is not a number of bytes, although Python would let it be added.
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _malformed(
    field: str, wanted: str, value: object, version: SchemaVersion | None, *, present: bool = True
) -> Malformed:
    found = f"{kind_word(value)}: {shown(value)}" if present else "nothing"
    return Malformed(Finding(MALFORMED, field=field, claimed=f"expected {wanted}", found=found), version)
