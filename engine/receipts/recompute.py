"""Which items were dropped, kept, introduced or rewritten, and does the manifest say so?

Recomputed from held content alone, as multisets of digests (product document on receipts, "Duplicates are counted as a
multiset"). It answers for the content that was given; it cannot know of items that were withheld from it, and order
matters only to the digest over the whole side.
"""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Any

from engine.digests import item_digest
from engine.findings import UNWATCHED, Watch
from engine.receipts.content import Block, SideDigest, SideSum, as_items
from engine.receipts.keys import ItemKey, Manifest, digest_of, read_manifest

NAMED_AT_MOST = 64
"""Digests named in full per list; counts are never cut."""

_IDENTITY_FIELDS = ("id", "uuid")


@dataclass(frozen=True, slots=True)
class HeldItem:
    """An item given back for showing: its position, digest, size and the item itself (foreign content)."""

    position: int
    digest: str
    size: int
    item: Any


@dataclass(frozen=True, slots=True)
class Named:
    """Digests of a multiset: how many in all, and the first of them in full."""

    total: int = 0
    digests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ManifestCheck:
    """The manifest held against content.

    `not_in_pre`: named as dropped, but content before never held them (needs pre). `unclaimed`: dropped by content, not
    named. `claimed_but_kept`: named as dropped, still there. The last two need both sides and are empty otherwise.
    """

    not_in_pre: Named = field(default_factory=Named)
    unclaimed: Named = field(default_factory=Named)
    claimed_but_kept: Named = field(default_factory=Named)

    @property
    def agrees(self) -> bool:
        """Tell whether nothing disagrees in what could be compared."""
        return not (self.not_in_pre.total or self.unclaimed.total or self.claimed_but_kept.total)


@dataclass(frozen=True, slots=True)
class ContentComparison:
    """What content says about one compaction; positions count from 0 and are in order.

    With one side only, the sums of that side and the manifest check against pre are all that is known. `kept_pre` and
    `kept_post` pair up. `rewritten` pairs a dropped and an introduced object of the same native id; both stay in
    their lists as well, so that the arithmetic of receipts holds.
    """

    pre: SideSum | None
    post: SideSum | None
    dropped: Sequence[int] = ()
    introduced: Sequence[int] = ()
    kept_pre: Sequence[int] = ()
    kept_post: Sequence[int] = ()
    rewritten: tuple[tuple[int, int], ...] = ()
    dropped_size: int = 0
    introduced_size: int = 0
    manifest: ManifestCheck | None = None
    pre_items: Sequence[Any] = field(default=(), repr=False)
    post_items: Sequence[Any] = field(default=(), repr=False)

    @property
    def full(self) -> bool:
        """Tell whether both sides were given, so that the drop set could be recomputed."""
        return self.pre is not None and self.post is not None

    def dropped_items(self, start: int = 0, limit: int | None = None) -> tuple[HeldItem, ...]:
        """Give back dropped items, a page at a time."""
        return _held(self.pre_items, self.dropped, start, limit)

    def introduced_items(self, start: int = 0, limit: int | None = None) -> tuple[HeldItem, ...]:
        """Give back introduced items, a page at a time."""
        return _held(self.post_items, self.introduced, start, limit)

    def kept_items(self, start: int = 0, limit: int | None = None) -> tuple[HeldItem, ...]:
        """Give back kept items by their place before the compaction, a page at a time."""
        return _held(self.pre_items, self.kept_pre, start, limit)

    def rewritten_items(self, start: int = 0, limit: int | None = None) -> tuple[tuple[HeldItem, HeldItem], ...]:
        """Give back rewritten items as (before, after), a page at a time."""
        pairs = self.rewritten[start : None if limit is None else start + limit]
        before = _held(self.pre_items, [old for old, _ in pairs], 0, None)
        after = _held(self.post_items, [new for _, new in pairs], 0, None)
        return tuple(zip(before, after, strict=True))


def compare(
    pre: Iterable[Any] | None,
    post: Iterable[Any] | None,
    manifest: Manifest | Sequence[str] | None = None,
    *,
    watch: Watch = UNWATCHED,
) -> ContentComparison:
    """Recompute what a compaction did from the content of one or both sides, and hold a manifest against it.

    `manifest` is the receipt's list of dropped digests, None when there is none to check. Raises `ContentError` for
    content that is no list or holds an item that cannot be digested, and `CancelledError`.
    """
    pre_items = None if pre is None else as_items(pre)
    post_items = None if post is None else as_items(post)
    match = Matcher(manifest if manifest is None or isinstance(manifest, Manifest) else read_manifest(manifest))
    post_sum = pre_sum = None
    # 1. Digest the survivor and remember where each of its items waits for a twin.
    if post_items is not None:
        side = SideDigest(post_items, watch)
        for block in side.blocks():
            match.wait(block)
        post_sum = side.sum()
    # 2. Walk the content before in order; each item takes one waiting twin, or it was dropped.
    if pre_items is not None:
        side = SideDigest(pre_items, watch)
        for block in side.blocks():
            (match.consume_alone if post_items is None else match.consume)(block)
        pre_sum = side.sum()
        if match.open_claims and post_items is not None:
            # A claim is left over: a second look tells whether its item was kept. Only a false claim costs it.
            for block in SideDigest(pre_items, watch).blocks():
                match.count_kept(block)
    # 3. What still waits was introduced; what the manifest still names was not dropped.
    return match.conclude(pre_sum, post_sum, pre_items or (), post_items or ())


class Matcher:
    """Match two streams of keys one to one, with a manifest consumed alongside.

    First `wait` for every block of the post side, then `consume` every block of the pre side, then `conclude`.
    """

    def __init__(self, manifest: Manifest | None) -> None:
        self._checks = manifest is not None
        self._claims: Counter[ItemKey] = Counter(() if manifest is None else manifest.keys)
        self._foreign = Counter(() if manifest is None else manifest.foreign)
        self._waiting: dict[ItemKey, int] = {}
        self._twins: dict[ItemKey, deque[int]] = {}
        self._dropped = array("I")
        self._kept_pre = array("I")
        self._kept_post = array("I")
        self._dropped_size = 0
        self._unclaimed: list[str] = []
        self._unclaimed_total = 0
        self._claimed_kept: Counter[ItemKey] = Counter()

    @cached_property
    def _kept_places(self) -> frozenset[int]:
        return frozenset(self._kept_pre)

    def wait(self, block: Block) -> None:
        """Take a block of post items as waiting for their twins."""
        places = range(block.start, block.start + len(block.keys))
        first = list(map(self._waiting.setdefault, block.keys, places))
        if first != list(places):
            for key, waits, place in zip(block.keys, first, places, strict=True):
                if waits != place:
                    self._twins.setdefault(key, deque()).append(place)

    def consume_alone(self, block: Block) -> None:
        """Hold the manifest against a block of pre items when no post side is held."""
        self._claim(block.keys)

    def consume(self, block: Block) -> None:
        """Match a block of pre items; each takes one waiting twin, or it was dropped."""
        if self._twins:
            twins = [self._take(key) for key in block.keys]
        else:
            twins = list(map(self._waiting.pop, block.keys, repeat(None)))
        gone = [key for key, twin in zip(block.keys, twins, strict=True) if twin is None]
        if gone:
            self._dropped.extend([place for place, twin in enumerate(twins, block.start) if twin is None])
            self._dropped_size += sum([size for size, twin in zip(block.sizes, twins, strict=True) if twin is None])
        if len(gone) < len(twins):
            self._kept_pre.extend([place for place, twin in enumerate(twins, block.start) if twin is not None])
            self._kept_post.extend([twin for twin in twins if twin is not None])
        if self._checks:
            self._name_unclaimed(self._claim(gone))

    def count_kept(self, block: Block) -> None:
        """Count the kept items of a pre block that the manifest still names; call it when all blocks are consumed."""
        for position, key in enumerate(block.keys, block.start):
            if key in self._claims and position in self._kept_places:
                self._claimed_kept[key] += 1

    @property
    def open_claims(self) -> bool:
        """Tell whether the manifest names items that were not dropped."""
        return bool(self._claims)

    def conclude(
        self,
        pre: SideSum | None,
        post: SideSum | None,
        pre_items: Sequence[Any] = (),
        post_items: Sequence[Any] = (),
    ) -> ContentComparison:
        """Return what was found; without items nothing can be given back, and no rewriting is seen."""
        if pre is None or post is None:
            manifest = ManifestCheck(not_in_pre=self._leftover()) if self._checks and pre is not None else None
            return ContentComparison(pre, post, manifest=manifest, pre_items=pre_items, post_items=post_items)
        left = [*self._waiting.values(), *(place for places in self._twins.values() for place in places)]
        introduced = array("I", sorted(left))
        # Equal digests are equal bytes, so what was kept has the same size on both sides.
        kept_size = pre.size - self._dropped_size
        return ContentComparison(
            pre=pre,
            post=post,
            dropped=self._dropped,
            introduced=introduced,
            kept_pre=self._kept_pre,
            kept_post=self._kept_post,
            rewritten=_rewritten(pre_items, self._dropped, post_items, introduced),
            dropped_size=self._dropped_size,
            introduced_size=post.size - kept_size,
            manifest=self._manifest_check() if self._checks else None,
            pre_items=pre_items,
            post_items=post_items,
        )

    def _claim(self, keys: Sequence[ItemKey]) -> list[ItemKey]:
        """Take each key's claim out of the manifest, and return the keys that it does not claim."""
        open_claims = list(map(self._claims.pop, keys, repeat(0)))
        if open_claims == [1] * len(keys):
            return []
        unclaimed: list[ItemKey] = []
        for key, times in zip(keys, open_claims, strict=True):
            left = self._claims.pop(key, 0) + times
            if not left:
                unclaimed.append(key)
            elif left > 1:
                self._claims[key] = left - 1
        return unclaimed

    def _take(self, key: ItemKey) -> int | None:
        place = self._waiting.pop(key, None)
        places = self._twins.get(key)
        if places:
            self._waiting[key] = places.popleft()
        return place

    def _name_unclaimed(self, keys: list[ItemKey]) -> None:
        self._unclaimed_total += len(keys)
        self._unclaimed += [digest_of(key) for key in keys[: NAMED_AT_MOST - len(self._unclaimed)]]

    def _manifest_check(self) -> ManifestCheck:
        """Split what the manifest still names: still kept in post, or never in pre at all."""
        kept = {key: min(left, self._claimed_kept[key]) for key, left in self._claims.items()}
        absent = Counter({key: left - kept[key] for key, left in self._claims.items()})
        return ManifestCheck(
            not_in_pre=_named(+absent, self._foreign),
            unclaimed=Named(self._unclaimed_total, tuple(self._unclaimed)),
            claimed_but_kept=_named(+Counter(kept), Counter()),
        )

    def _leftover(self) -> Named:
        return _named(self._claims, self._foreign)


def _named(keys: Counter[ItemKey], texts: Counter[str]) -> Named:
    digests: list[str] = []
    for key, times in keys.items():
        digests += [digest_of(key)] * min(times, NAMED_AT_MOST - len(digests))
    for text, times in texts.items():
        digests += [text] * min(times, NAMED_AT_MOST - len(digests))
    return Named(keys.total() + texts.total(), tuple(digests))


def _rewritten(
    pre: Sequence[Any], dropped: Sequence[int], post: Sequence[Any], introduced: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Pair dropped and introduced objects that carry the same native id, each used once."""
    if not pre or not post:
        return ()
    by_identity: dict[str, deque[int]] = {}
    for position in introduced:
        identity = _identity(post[position])
        if identity:
            by_identity.setdefault(identity, deque()).append(position)
    if not by_identity:
        return ()
    pairs: list[tuple[int, int]] = []
    for position in dropped:
        places = by_identity.get(_identity(pre[position]))
        if places:
            pairs.append((position, places.popleft()))
    return tuple(pairs)


def _identity(item: Any) -> str:
    """Return the native id of an object, told apart by the field it stands in; "" when there is none."""
    if type(item) is dict:
        for name in _IDENTITY_FIELDS:
            value = item.get(name)
            if type(value) is str and value:
                return name + value
    return ""


def _held(items: Sequence[Any], positions: Sequence[int], start: int, limit: int | None) -> tuple[HeldItem, ...]:
    page = positions[start : None if limit is None else start + limit]
    held: list[HeldItem] = []
    for position in page:
        digested = item_digest(items[position])
        held.append(HeldItem(position, digested.digest, digested.size, items[position]))
    return tuple(held)
