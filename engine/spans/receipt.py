"""What did one audit find, so that another can check it later?

An AuditReceipt is a signed statement over the verdicts of one event on one text (product document on the loss audit,
"Receipts and signing keys"). Its signature proves that the holder of a key issued these verdicts. That they are true is
proven only by judging the same snapshot and text again, which `check_receipt` does when both are given; a lone receipt
is at best BOUNDED. Words say nothing about whether a model obeys a rule.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from engine.errors import UsageError
from engine.findings import UNWATCHED, Code, Finding, Result, Severity, Watch, worst
from engine.signing.envelope import Checked, KeySource, check, check_bytes, sign
from engine.signing.keys import PrivateKey
from engine.signing.purpose import Purpose
from engine.spans.audit import Audit, SpanAudit, audit
from engine.spans.block import split_block
from engine.spans.snapshot import Snapshot
from engine.spans.words import POLICY, read_words

SCHEMA = "winnow-audit-receipt/1"
VALID_FOR = timedelta(days=30)
THRESHOLD = "3/5"
_UNSTATED = "unstated"

RECEIPT_SHAPE = Code("RECEIPT_SHAPE", Severity.BREAK, "The signed content is no receipt of a span audit.")
RECEIPT_OTHER_EVENT = Code("RECEIPT_OTHER_EVENT", Severity.BREAK, "The receipt was issued for another event.")
RECEIPT_OTHER_SNAPSHOT = Code("RECEIPT_OTHER_SNAPSHOT", Severity.BREAK, "The receipt was issued for other pins.")
RECEIPT_OTHER_TEXT = Code(
    "RECEIPT_OTHER_TEXT", Severity.BREAK, "The receipt was issued for another text.", "audit this text"
)
RECEIPT_OTHER_POLICY = Code(
    "RECEIPT_OTHER_POLICY", Severity.LIMIT, "The verdicts follow another policy than the one known here."
)
RECEIPT_VERDICT_DIFFERS = Code(
    "RECEIPT_VERDICT_DIFFERS", Severity.BREAK, "Judging the same text again gives something else than the receipt says."
)
NOT_JUDGED_AGAIN = Code(
    "NOT_JUDGED_AGAIN",
    Severity.NOTICE,
    "Only the signature was checked; the verdicts were not recomputed.",
    "give the snapshot and the text as well",
)


@dataclass(frozen=True, slots=True)
class Occasion:
    """Which compaction it was; `pre_bytes` and `pre_words` measure the context before it, None when unknown."""

    round: int | None = None
    compactor: str = _UNSTATED
    method: str = _UNSTATED
    model: str = _UNSTATED
    pre_bytes: int | None = None
    pre_words: int | None = None


@dataclass(frozen=True, slots=True)
class ReceiptCheck:
    """The answer on a receipt.

    HOLDS: signed, within its time, and the verdicts were recomputed from snapshot and text. BOUNDED: the signature
    holds and nothing was recomputed. `body` is what is signed, None when the text is no signed statement at all.
    """

    result: Result
    findings: tuple[Finding, ...]
    body: Mapping[str, Any] | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """Return the names of what was found."""
        return tuple(finding.code.name for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {"result": self.result.value, "findings": [finding.as_json() for finding in self.findings]}


def make_receipt(
    audited: Audit, occasion: Occasion, key: PrivateKey, *, now: datetime, texts: bool = True
) -> dict[str, Any]:
    """Sign what an audit found, valid for 30 days.

    Verdicts are those on the text without a trailing block. With `texts=False` the dropped texts are given as digests
    only, for passing on. Raises `UsageError` for an event id that is no UTF-8.
    """
    if not audited.snapshot.event_id.isascii() and _clean(audited.snapshot.event_id) != audited.snapshot.event_id:
        raise UsageError("EVENT_NOT_UTF8", "the event id cannot be written as UTF-8", where="event_id")
    return sign(body_of(audited, occasion, texts=texts), Purpose.RECEIPT, key, now=now, valid_for=VALID_FOR)


def body_of(audited: Audit, occasion: Occasion, *, texts: bool) -> dict[str, Any]:
    """Return what a receipt says, unsigned."""
    body = audited.split.body
    return {
        "schema": SCHEMA,
        "event_id": audited.snapshot.event_id,
        "round": occasion.round,
        "policy": {"id": POLICY, "threshold": THRESHOLD, "profile": audited.snapshot.profile.value},
        "snapshot_sha256": audited.snapshot.digest(),
        "post_sha256": audited.post_sha256,
        "compactor": _clean(occasion.compactor),
        "method": _clean(occasion.method),
        "model": _clean(occasion.model),
        "pre_bytes": occasion.pre_bytes,
        "pre_words": occasion.pre_words,
        "post_bytes": len(body.encode("utf-8", "surrogatepass")),
        "post_words": len(read_words(body).texts),
        "block_entries": len(audited.split.entries),
        "spans": [_span(each, texts=texts) for each in audited.spans],
        "counts": _counts(audited),
        "refused": [{"position": each.position, "code": each.code.name} for each in audited.snapshot.refused],
        "uncovered_count": len(audited.snapshot.uncovered),
    }


def _span(each: SpanAudit, *, texts: bool) -> dict[str, Any]:
    judged, window = each.judged, each.evidence.window
    dropped: dict[str, Any] = {"dropped_text": list(judged.dropped_text)}
    if not texts:
        digests = [hashlib.sha256(text.encode("utf-8")).hexdigest() for text in judged.dropped_text]
        dropped = {"dropped_sha256": digests}
    return {
        "id": each.pin.id,
        "cls": each.pin.cls.value,
        "critical": each.pin.critical,
        "verdict": each.body.value,
        "found": judged.found,
        "total": judged.total,
        "window_found": window.found if window else 0,
        "flags": [flag.value for flag in each.evidence.flags],
        "places": [list(place) for place in judged.places],
        "found_in": [place.value for place in each.evidence.found_in],
        **dropped,
    }


def _counts(audited: Audit) -> dict[str, dict[str, int]]:
    """Return for each class how many spans got each verdict, and how many of these are critical."""
    counts: dict[str, Counter[str]] = {}
    for each in audited.spans:
        seen = counts.setdefault(each.pin.cls.value, Counter())
        seen[each.body.value] += 1
        seen["critical"] += each.pin.critical
    return {cls: dict(seen) for cls, seen in counts.items()}


def _clean(text: str) -> str:
    """Return a label as it can be signed: a lone surrogate has no canonical form."""
    return text.encode("utf-8", "replace").decode("utf-8")


def check_receipt(
    receipt: bytes | Mapping[str, Any],
    keys: KeySource,
    *,
    now: datetime,
    snapshot: Snapshot | None = None,
    post_text: str | None = None,
    watch: Watch = UNWATCHED,
) -> ReceiptCheck:
    """Check a receipt: signature and times first, then that it belongs to what is given, then the verdicts.

    A text may carry the block that was re-injected after the audit. Raises `LimitError` and `CancelledError`.
    """
    checked = _signed(receipt, keys, now)
    if checked.result is not Result.HOLDS or checked.body is None:
        return ReceiptCheck(checked.result, checked.findings, checked.body)
    if not has_shape(checked.body):
        return _failed(checked, Finding(RECEIPT_SHAPE))
    if other := belongs(checked.body, snapshot, post_text):
        return _failed(checked, other)
    if snapshot is None or post_text is None:
        return ReceiptCheck(Result.BOUNDED, (*checked.findings, Finding(NOT_JUDGED_AGAIN)), checked.body)
    if (checked.body["policy"].get("id"), checked.body["policy"].get("threshold")) != (POLICY, THRESHOLD):
        return ReceiptCheck(Result.COULD_NOT_LOOK, (Finding(RECEIPT_OTHER_POLICY),), checked.body)
    bare = audited_text(checked.body, post_text)
    differs = _differences(checked.body, audit(snapshot, bare if bare is not None else post_text, watch=watch))
    result = worst([Result.HOLDS, *(Result.FAILS for _ in differs)])
    return ReceiptCheck(result, (*checked.findings, *differs), checked.body)


def _signed(receipt: bytes | Mapping[str, Any], keys: KeySource, now: datetime) -> Checked:
    if isinstance(receipt, bytes):
        return check_bytes(receipt, Purpose.RECEIPT, keys, now=now)
    return check(receipt, Purpose.RECEIPT, keys, now=now)


def _failed(checked: Checked, finding: Finding) -> ReceiptCheck:
    return ReceiptCheck(Result.FAILS, (finding,), checked.body)


def has_shape(body: Mapping[str, Any]) -> bool:
    """Say whether a signed body has the parts of a receipt that are used here."""
    spans, policy = body.get("spans"), body.get("policy")
    texts = ("event_id", "snapshot_sha256", "post_sha256")
    return (
        body.get("schema") == SCHEMA
        and isinstance(policy, dict)
        and isinstance(spans, list)
        and all(isinstance(body.get(name), str) for name in texts)
        and all(
            isinstance(each, dict)
            and isinstance(each.get("id"), str)
            and each.get("verdict") in {"PRESERVED", "DEGRADED", "LOST"}
            and isinstance(each.get("critical"), bool)
            for each in spans
        )
    )


def belongs(body: Mapping[str, Any], snapshot: Snapshot | None, post_text: str | None) -> Finding | None:
    """Return what of a receipt does not belong to the given snapshot and text, a trailing block left out."""
    if snapshot is not None and body["event_id"] != snapshot.event_id:
        return Finding(RECEIPT_OTHER_EVENT, claimed=body["event_id"][:80], found=snapshot.event_id[:80])
    if snapshot is not None and body["snapshot_sha256"] != snapshot.digest():
        return Finding(RECEIPT_OTHER_SNAPSHOT, claimed=body["snapshot_sha256"][:80], found=snapshot.digest())
    if post_text is None:
        return None
    if audited_text(body, post_text) is None:
        found = _sha(split_block(post_text).body)
        return Finding(RECEIPT_OTHER_TEXT, claimed=body["post_sha256"][:64], found=found)
    return None


def audited_text(body: Mapping[str, Any], post_text: str) -> str | None:
    """Return the text a receipt was issued for: the one given without the block at its end; None when it is another."""
    return next((each for each in split_block(post_text).bodies() if _sha(each) == body["post_sha256"]), None)


def _differences(body: Mapping[str, Any], again: Audit) -> list[Finding]:
    """Compare what a receipt says of each span with the verdicts of now; evidence is not compared, it is advice."""
    said = [
        (each["id"], each["verdict"], each["critical"], each.get("found"), each.get("total")) for each in body["spans"]
    ]
    seen = [
        (each.pin.id, each.body.value, each.pin.critical, each.judged.found, each.judged.total) for each in again.spans
    ]
    differs = [
        Finding(
            RECEIPT_VERDICT_DIFFERS,
            field=new[0],
            claimed=" ".join(map(str, old[1:])),
            found=" ".join(map(str, new[1:])),
        )
        for old, new in zip(said, seen, strict=False)
        if old != new
    ]
    if len(said) != len(seen):
        differs.append(Finding(RECEIPT_VERDICT_DIFFERS, field="spans", claimed=str(len(said)), found=str(len(seen))))
    return differs


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
