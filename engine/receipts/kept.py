"""Was this content kept, or brought in, by a receipt whose content is held?

A manifest names only what was dropped, so that an item was *kept* shows only where both contents are held and were
recomputed. What is said here holds for that content, not for the receipt's claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from engine.receipts.content import digest_block
from engine.receipts.find import Probe, probes_of
from engine.receipts.keys import ItemKey, key_of
from engine.receipts.link import Link
from engine.receipts.recompute import ContentComparison


class Fate(StrEnum):
    """What happened to an item in held content."""

    KEPT = "kept"
    DROPPED = "dropped"
    INTRODUCED = "introduced"


@dataclass(frozen=True, slots=True)
class HeldHit:
    """An item of held content with a probe's digest: its fate, and how many copies shared it.

    `position` is the first one's: in the content before, or in the content after when it was introduced.
    """

    ledger: str
    line: int
    fate: Fate
    probe: Probe
    position: int
    times: int


def find_held(content: bytes | str, links: Iterable[Link]) -> tuple[HeldHit, ...]:
    """Look for content in the held content of linked receipts with both sides."""
    probes = {key: probe for probe in probes_of(content) if (key := key_of(probe.digest)) is not None}
    return tuple(
        hit
        for link in links
        if link.report.comparison is not None and link.report.comparison.full
        for hit in _hits(link, link.report.comparison, probes)
    )


def _hits(link: Link, comparison: ContentComparison, probes: dict[ItemKey, Probe]) -> Iterator[HeldHit]:
    before = digest_block(comparison.pre_items, 0).keys
    after = digest_block(comparison.post_items, 0).keys
    for fate, keys, positions in (
        (Fate.KEPT, before, comparison.kept_pre),
        (Fate.DROPPED, before, comparison.dropped),
        (Fate.INTRODUCED, after, comparison.introduced),
    ):
        found: dict[ItemKey, list[int]] = {}
        for position in positions:
            if keys[position] in probes:
                found.setdefault(keys[position], []).append(position)
        for key, places in found.items():
            yield HeldHit(link.ledger, link.line, fate, probes[key], places[0], len(places))
