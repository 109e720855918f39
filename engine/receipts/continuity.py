"""Does one compaction go on where the last one ended?

Looks for the earlier receipt whose `post.digest` is this one's `pre.digest`. A gap says that content came or went
between two receipts, which is the ordinary case while a session goes on; an unbroken line says that nothing did.
Neither says that the receipts are true.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Continuity(StrEnum):
    """How a receipt stands to the earlier ones."""

    START = "start"
    """The first receipt of its compactor or session."""
    CONTINUES = "continues"
    """Its content before is exactly the content after of an earlier receipt."""
    GAP = "gap"
    """Earlier receipts of its compactor or session exist, and none ends where this one begins."""


class Linkable(Protocol):
    """What is needed of a receipt: its line, whose it is, and the digests of both sides ("" when there is none)."""

    @property
    def line(self) -> int:
        """Return the ledger line."""
        ...

    @property
    def series(self) -> str:
        """Return the name under which receipts follow one another (session, or else compactor)."""
        ...

    @property
    def pre_digest(self) -> str:
        """Return the digest of the content before."""
        ...

    @property
    def post_digest(self) -> str:
        """Return the digest of the content after."""
        ...


@dataclass(frozen=True, slots=True)
class RoundLink:
    """Where one receipt begins: `previous` is the receipt it continues, or after a gap the last of its series."""

    line: int
    continuity: Continuity
    previous: int | None = None


class RoundFollower:
    """Places receipts one after another, in ledger order; memory grows by one digest a receipt."""

    def __init__(self) -> None:
        self._ends: dict[str, int] = {}
        self._last_of_series: dict[str, int] = {}

    def place(self, receipt: Linkable) -> RoundLink | None:
        """Tell whether a receipt goes on where an earlier one ended; None for one without digests (malformed)."""
        if not receipt.pre_digest:
            return None
        before = self._ends.get(receipt.pre_digest)
        last = self._last_of_series.get(receipt.series)
        self._last_of_series[receipt.series] = receipt.line
        self._ends[receipt.post_digest] = receipt.line
        if before is not None:
            return RoundLink(receipt.line, Continuity.CONTINUES, before)
        if last is not None:
            return RoundLink(receipt.line, Continuity.GAP, last)
        return RoundLink(receipt.line, Continuity.START)


def chain_links(receipts: Iterable[Linkable]) -> Iterator[RoundLink]:
    """Tell for each receipt, in ledger order, whether it goes on where an earlier one ended."""
    follower = RoundFollower()
    for receipt in receipts:
        link = follower.place(receipt)
        if link is not None:
            yield link
