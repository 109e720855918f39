"""Which receipt belongs to which round, and does it tell the truth there?

A receipt is linked by the digest over a whole side, tried in every view, and then recomputed with the content found.
When only one of its sides is found and the round's other side is exact, that other side is taken too: this is how a
receipt that lies about the survivor is exposed. A receipt that finds nothing may still be honest: its content may be
elsewhere, or have been cut into other items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.findings import UNWATCHED, Result, Watch, worst
from engine.ledger.report import Limits
from engine.ledger.verify import DEFAULT_LIMITS
from engine.lines.reader import read_lines
from engine.lines.source import Source
from engine.lines.strict import parse_exact
from engine.receipts.candidates import Candidate, ContentIndex, HeldContent, SideName
from engine.receipts.consistency import EMPTY_DIGEST
from engine.receipts.schema import is_receipt_row
from engine.receipts.verify import ReceiptReport, verify_receipt
from engine.transcripts.rounds import SideState, Transcript


class FoundBy(StrEnum):
    """Why content is taken for a side of a receipt."""

    DIGEST = "digest"
    """Its digest is the claimed one."""
    ROUND = "round"
    """It is the other side of the round that the digest found, and that side is exact; its digest is not the claimed
    one, which is the point."""
    EMPTY = "empty"
    """The receipt claims no items on this side."""
    NOTHING = "nothing"
    """No content was found for this side."""


@dataclass(frozen=True, slots=True)
class HeldReceipt:
    """A receipt row with its place in a ledger."""

    ledger: str
    line: int
    row: Any


@dataclass(frozen=True, slots=True)
class Link:
    """A receipt, the content found for its sides, and the report with that content.

    `alternatives` counts further candidates with the same digests (copies of a file, views that coincide).
    """

    ledger: str
    line: int
    pre: Candidate | None
    post: Candidate | None
    pre_by: FoundBy
    post_by: FoundBy
    alternatives: int
    report: ReceiptReport

    @property
    def whole(self) -> bool:
        """Tell whether both sides were found on exact sides: else the session does not hold the whole of them."""
        return all(side is None or side.state is SideState.EXACT for side in (self.pre, self.post))

    @property
    def result(self) -> Result:
        """Return the report's result, BOUNDED at best when a side is known in part only."""
        return self.report.result if self.whole else worst([self.report.result, Result.BOUNDED])


def link_receipts(
    receipts: Iterable[HeldReceipt],
    transcripts: Iterable[Transcript] = (),
    contents: Iterable[HeldContent] = (),
    *,
    watch: Watch = UNWATCHED,
) -> tuple[Link, ...]:
    """Find the content of receipts among transcripts and content files, and recompute each receipt with it.

    Receipts for which nothing is found are left out. Raises `ContentError` for content that is no list of items, and
    `CancelledError`.
    """
    return tuple(iterate_links(receipts, ContentIndex.of(transcripts, contents, watch=watch), watch=watch))


def iterate_links(receipts: Iterable[HeldReceipt], index: ContentIndex, *, watch: Watch = UNWATCHED) -> Iterator[Link]:
    """Yield the links of receipts against an index, one at a time (a link holds the content it was recomputed with)."""
    for receipt in receipts:
        found = _pair(receipt.row, index)
        if found is None:
            continue
        pre, post, alternatives = found
        report = verify_receipt(receipt.row, _items(pre, index), _items(post, index), line=receipt.line, watch=watch)
        yield Link(
            receipt.ledger,
            receipt.line,
            pre.candidate,
            post.candidate,
            pre.found_by,
            post.found_by,
            alternatives,
            report,
        )


def receipts_of(source: Source, *, limits: Limits = DEFAULT_LIMITS, watch: Watch = UNWATCHED) -> Iterator[HeldReceipt]:
    """Yield the receipt rows of a ledger that have one meaning; the others are for the sweep to name.

    Raises `CannotLookError` when the ledger cannot be opened, and `CancelledError`.
    """
    total = source.size()
    for line in read_lines(source, universal=True, max_bytes=limits.line_bytes):
        watch.step("reading receipts", line.offset, total)
        if line.data is None:
            continue
        parsed = parse_exact(line.data.decode("utf-8", "replace").strip(), nesting=limits.nesting)
        if parsed.problem is None and not parsed.duplicates and is_receipt_row(parsed.value):
            yield HeldReceipt(source.name, line.number, parsed.value)


@dataclass(frozen=True, slots=True)
class _Found:
    candidate: Candidate | None
    found_by: FoundBy


_NOTHING = _Found(None, FoundBy.NOTHING)


def _pair(row: Any, index: ContentIndex) -> tuple[_Found, _Found, int] | None:
    pre_digest, post_digest = _digest(row, "pre"), _digest(row, "post")
    befores = _fitting(index.find(pre_digest), SideName.BEFORE)
    afters = _fitting(index.find(post_digest), SideName.AFTER)
    if pre_digest == post_digest:
        # "Nothing was dropped": the content before would prove itself, so only a real survivor counts.
        afters = [after for after in afters if after.side is SideName.AFTER]
    if not befores and not afters:
        return None
    pre, post = _closest(befores, afters)
    return (
        _settle(pre, post, pre_digest, index),
        _settle(post, pre, post_digest, index),
        len(befores) + len(afters) - (pre is not None) - (post is not None),
    )


def _fitting(candidates: Sequence[Candidate], side: SideName) -> list[Candidate]:
    """Keep what can be this side: that side of a round first, then content files."""
    fitting = [candidate for candidate in candidates if candidate.side in {side, SideName.CONTENT}]
    return sorted(fitting, key=lambda candidate: candidate.side is SideName.CONTENT)


def _closest(befores: list[Candidate], afters: list[Candidate]) -> tuple[Candidate | None, Candidate | None]:
    """Prefer two sides of one round in one view; otherwise take the best of each."""
    rounds = {(after.order, after.round_index, after.view): after for after in afters if after.side is SideName.AFTER}
    for before in befores:
        after = rounds.get((before.order, before.round_index, before.view))
        if before.side is SideName.BEFORE and after is not None:
            return before, after
    return (befores[0] if befores else None), (afters[0] if afters else None)


def _settle(own: Candidate | None, other: Candidate | None, digest: object, index: ContentIndex) -> _Found:
    if own is not None:
        return _Found(own, FoundBy.DIGEST)
    if digest == EMPTY_DIGEST:
        return _Found(None, FoundBy.EMPTY)
    # Only a whole context before speaks for its round: short survivors ("ok", the same two last turns) recur in
    # unrelated sessions, and would accuse honest receipts.
    across = index.other_side(other) if other is not None and other.side is SideName.BEFORE else None
    if across is not None and across.state is SideState.EXACT:
        return _Found(across, FoundBy.ROUND)
    return _NOTHING


def _items(found: _Found, index: ContentIndex) -> Sequence[Any] | None:
    if found.candidate is not None:
        return index.items(found.candidate)
    return [] if found.found_by is FoundBy.EMPTY else None


def _digest(row: Any, side: str) -> object:
    body = row.get(side) if isinstance(row, dict) else None
    return body.get("digest") if isinstance(body, dict) else None
