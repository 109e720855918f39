"""Do the numbers of a receipt add up, and how exactly are they pinned?

The equation a person checks by eye: bytes before - dropped + introduced = bytes after. It binds the four numbers to
one another; it does not prove any of them true.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.receipts.display import shown
from engine.receipts.schema import Claim


@dataclass(frozen=True, slots=True)
class Equation:
    """One line of arithmetic over a receipt's claims.

    `exact` is False where the schema only gives a lower bound (a v1 row that claims an introduction): then `holds` says
    that the bound is kept, and the dropped bytes may be understated without a trace.
    """

    unit: str
    before: int
    dropped: int
    introduced: int | None
    after: int
    exact: bool
    holds: bool

    def __str__(self) -> str:
        left = f"{shown(self.before)} - {shown(self.dropped)}"
        if self.introduced is not None:
            left += f" + {shown(self.introduced)}"
        relation = ("=" if self.holds else "≠") if self.exact else ("≤" if self.holds else ">")
        bound = "" if self.exact else " (lower bound only: v1 does not record the bytes introduced)"
        return f"{left} {relation} {shown(self.after)} {self.unit}{bound}"


def byte_equation(claim: Claim) -> Equation:
    """Return the byte equation of a claim, exact for v2 and for a v1 row that introduces nothing."""
    introduced = 0 if claim.introduced_count == 0 and claim.introduced_size is None else claim.introduced_size
    exact = introduced is not None
    least = claim.pre.size - claim.dropped_size + (introduced or 0)
    holds = claim.post.size == least if exact else claim.post.size >= least
    return Equation("bytes", claim.pre.size, claim.dropped_size, introduced, claim.post.size, exact, holds)


def count_equation(claim: Claim) -> Equation:
    """Return the item equation of a claim, exact in both schemas."""
    holds = claim.pre.count - claim.dropped_count + claim.introduced_count == claim.post.count
    return Equation(
        "items",
        claim.pre.count,
        claim.dropped_count,
        claim.introduced_count,
        claim.post.count,
        exact=True,
        holds=holds,
    )
