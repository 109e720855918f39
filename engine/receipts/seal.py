"""How is an honest receipt made?

`CompactionReceipt.open(pre)` → `record_kept(post)` → `record_dropped(items)` (optional) → `seal(ledger, …)`. Sealing
refuses a claim that disagrees with the content it was given. A sealed receipt binds what crossed the gate; it cannot
know of content withheld from `open`, has no opinion on what was worth keeping, and holds no content: what was dropped
cannot be recovered from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from engine.clock import Clock, format_time, utc_now
from engine.digests import json_digest
from engine.errors import LifecycleError, RefusedError, UsageError
from engine.ledger.append import append
from engine.receipts.content import DigestedSide, SideSum, digest_side
from engine.receipts.display import kind_word, shown
from engine.receipts.keys import digest_of
from engine.receipts.recompute import Matcher
from engine.receipts.schema import RECEIPT_KIND, SCHEMA_V2
from engine.storage.files import DEFAULT_LOCK_SECONDS
from engine.storage.outcome import OutcomeUnknownError

_GATE = object()


class CompactionReceipt:
    """One compaction on its way to a receipt: opened on the full content, sealed once, then done.

    Content is a list of text, bytes or JSON values and is digested when it is handed over. A single text is refused;
    the reference would take it as a list of characters.
    """

    __slots__ = ("_claimed", "_opened_at", "_post", "_pre", "_sealed")

    def __init__(self, pre: DigestedSide, opened_at: str, gate: object = None) -> None:
        if gate is not _GATE:
            raise UsageError(
                "receipt_constructed",
                "expected CompactionReceipt.open(content), found direct construction",
                hint="start a receipt with CompactionReceipt.open",
            )
        self._pre = pre
        self._opened_at = opened_at
        self._post: DigestedSide | None = None
        self._claimed: Counter[bytes] | None = None
        self._sealed = False

    @classmethod
    def open(cls, pre_content: Iterable[Any], *, clock: Clock = utc_now) -> CompactionReceipt:
        """Start a receipt on the full content before the compaction.

        Raises `ContentError` when the content is no list or holds an item that the item rule cannot digest.
        """
        return cls(digest_side(pre_content), format_time(clock()), _GATE)

    def record_kept(self, post_content: Iterable[Any]) -> CompactionReceipt:
        """Record the survivor; an empty list means that everything was dropped.

        Raises `ContentError` as `open`, and `LifecycleError` after sealing.
        """
        self._require_open()
        self._post = digest_side(post_content)
        return self

    def record_dropped(self, items: Iterable[Any]) -> CompactionReceipt:
        """Claim the dropped items (optional); sealing refuses when the claim is not what the content shows.

        Raises `ContentError` as `open`, and `LifecycleError` after sealing.
        """
        self._require_open()
        self._claimed = Counter(digest_side(items).block.keys)
        return self

    def row(self, *, compactor: str, method: str) -> dict[str, Any]:
        """Build the v2 row that sealing would append, without time of writing and chain; writes nothing.

        Raises `LifecycleError` before `record_kept` and after sealing, `RefusedError` when the claimed drops are not
        the ones the content shows, `UsageError` when a label is no text.
        """
        self._require_open()
        if self._post is None:
            raise LifecycleError(
                "receipt_without_survivor",
                "expected record_kept before sealing, found no survivor",
                hint="record an empty list when everything was dropped",
            )
        for name, label in (("compactor", compactor), ("method", method)):
            _require_label(name, label)
        return _receipt_row(self._pre, self._post, self._claimed, (compactor, method), self._opened_at)

    def seal(
        self,
        ledger: str | Path,
        *,
        compactor: str,
        method: str,
        clock: Clock = utc_now,
        lock_seconds: float = DEFAULT_LOCK_SECONDS,
    ) -> dict[str, Any]:
        """Append the receipt as one chained row of a ledger, and return the row as written.

        Both labels are claims: the chain shows that they were not edited later, not that they were true. Raises as
        `row` and as `engine.ledger.append.append`; the receipt stays open when nothing was stored, and is taken as
        sealed when the outcome is not known.
        """
        row = self.row(compactor=compactor, method=method)
        try:
            appended = append(Path(ledger), row, clock=clock, lock_seconds=lock_seconds)
        except OutcomeUnknownError:
            self._sealed = True
            raise
        self._sealed = True
        return appended.row

    def _require_open(self) -> None:
        if self._sealed:
            raise LifecycleError(
                "receipt_sealed", "expected an open receipt, found a sealed one", hint="open a new receipt"
            )


def _receipt_row(
    pre: DigestedSide,
    post: DigestedSide,
    claimed: Counter[bytes] | None,
    labels: tuple[str, str],
    opened_at: str,
) -> dict[str, Any]:
    match = Matcher(None)
    match.wait(post.block)
    match.consume(pre.block)
    found = match.conclude(pre.sums, post.sums)
    dropped = [pre.block.keys[position] for position in found.dropped]
    if claimed is not None and claimed != Counter(dropped):
        _refuse(claimed.total(), len(dropped))
    body = {
        "schema": SCHEMA_V2,
        "pre": _side(pre.sums),
        "post": _side(post.sums),
        "dropped": {"count": len(dropped), "bytes": found.dropped_size, "items": [digest_of(key) for key in dropped]},
        "introduced": {"count": len(found.introduced), "bytes": found.introduced_size},
        "compactor": labels[0],
        "method": labels[1],
    }
    return {**body, "kind": RECEIPT_KIND, "opened_at": opened_at, "receipt_digest": json_digest(body)}


def _side(sums: SideSum) -> dict[str, Any]:
    return {"count": sums.count, "bytes": sums.size, "digest": sums.digest}


def _refuse(claimed: int, shown_by_content: int) -> NoReturn:
    raise RefusedError(
        "receipt_claim_disagrees",
        f"claimed {claimed} dropped item(s), the content shows {shown_by_content}",
        hint="hand over what was really dropped, or leave record_dropped out",
    )


def _require_label(name: str, label: object) -> None:
    if not isinstance(label, str):
        raise UsageError("receipt_label", f"expected a text as {name}, found {kind_word(label)}")
    try:
        label.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise UsageError("receipt_label", f"expected {name} as valid text, found {shown(label)}") from exc
