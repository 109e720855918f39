"""Which digests do content items have, in bulk?

The frozen item rule of `engine.digests` over whole lists, in blocks, with digests held as raw bytes. A list of digests
says what the content was under the rule; it does not say that the content was complete.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from engine.digests import JSON_C14N, RAW_BYTES
from engine.errors import UsageError
from engine.findings import UNWATCHED, Watch
from engine.lines.plain import PlainItems, canonical_many
from engine.receipts.display import kind_word
from engine.receipts.keys import JSON_SUFFIX, ItemKey, listed, listed_alike

BLOCK_ITEMS = 256
"""Larger blocks leave the processor's caches and the allocator's reserve (0.7 against 1.6 microseconds an item)."""

_STEP = "digesting content"
_T = TypeVar("_T")
_RAW_TYPES = (bytes, bytearray, memoryview)
_JSON_TYPES = frozenset({dict, list, int, bool, float, type(None)})
_MIXED_TYPES = _JSON_TYPES | {str}


class ContentError(UsageError):
    """Content that is no list of items, or an item that the item rule cannot digest; `position` is 0-based."""

    def __init__(self, code: str, message: str, *, position: int | None = None, hint: str = "") -> None:
        where = "" if position is None else f"item {position + 1}"
        super().__init__(code, message, where=where, hint=hint)
        self.position = position


@dataclass(frozen=True, slots=True)
class Block:
    """A run of items: keys and sizes in order, and the position of the first."""

    start: int
    keys: list[ItemKey]
    sizes: list[int]
    listed: bytes = b""
    """The digests as the inside of their JSON list, when they were at hand anyway."""


@dataclass(frozen=True, slots=True)
class SideSum:
    """What a receipt records of one side, recomputed: number of items, bytes, digest over the ordered digests."""

    count: int
    size: int
    digest: str


class SideDigest:
    """Digest the items of one side block by block and add up what a receipt records of it."""

    def __init__(self, content: Sequence[Any], watch: Watch) -> None:
        self._content = content
        self._watch = watch
        self._whole = hashlib.sha256(b"[")
        self._size = 0
        self._count = 0

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order; raises `ContentError` and `CancelledError`."""
        total = len(self._content)
        plain = isinstance(self._content, PlainItems)
        for start in range(0, total, BLOCK_ITEMS):
            self._watch.step(_STEP, start, total, "items")
            block = digest_block(self._content[start : start + BLOCK_ITEMS], start, plain=plain)
            self._whole.update((b"," if start else b"") + (block.listed or listed(block.keys)))
            self._size += sum(block.sizes)
            self._count += len(block.keys)
            yield block
        self._watch.step(_STEP, total, total, "items")

    def sum(self) -> SideSum:
        """Return the sums of the blocks yielded so far."""
        whole = self._whole.copy()
        whole.update(b"]")
        return SideSum(self._count, self._size, JSON_C14N + whole.hexdigest())


def as_items(content: Iterable[Any]) -> Sequence[Any]:
    """Take content as a list of items.

    A single text, bytes or object is refused: the reference would take a text as a list of its characters, which is
    never what was meant. Raises `ContentError`.
    """
    if isinstance(content, str | bytes | bytearray | memoryview | Mapping):
        message = f"expected a list of items, found one {kind_word(content)}"
        raise ContentError("content_not_a_list", message, hint="put the item into a list")
    if isinstance(content, list | tuple):
        return content
    try:
        return list(content)
    except TypeError as exc:
        message = f"expected a list of items, found {kind_word(content)}"
        raise ContentError("content_not_a_list", message) from exc


def side_sum(content: Iterable[Any], watch: Watch = UNWATCHED) -> SideSum:
    """Digest one side and return its sums; raises `ContentError` and `CancelledError`."""
    side = SideDigest(as_items(content), watch)
    for _ in side.blocks():
        pass
    return side.sum()


@dataclass(frozen=True, slots=True)
class DigestedSide:
    """All digests of one side and its sums, without the content."""

    block: Block
    sums: SideSum


def digest_side(content: Iterable[Any], watch: Watch = UNWATCHED) -> DigestedSide:
    """Digest one side and keep every item's digest; raises `ContentError` and `CancelledError`."""
    side = SideDigest(as_items(content), watch)
    whole = Block(0, [], [])
    for block in side.blocks():
        whole.keys.extend(block.keys)
        whole.sizes.extend(block.sizes)
    return DigestedSide(whole, side.sum())


def digest_block(items: Sequence[Any], start: int, *, plain: bool = False) -> Block:
    """Digest a run of items; raises `ContentError` naming the first one that cannot be digested.

    `plain` says that the items come from `PlainItems`.
    """
    kinds = set(map(type, items))
    try:
        if kinds == {str}:
            digests, sizes = _texts(items)
            return Block(start, digests, sizes, listed_alike(b"".join(digests), RAW_BYTES))
        if kinds <= _JSON_TYPES:
            digests, sizes = _values(items, plain=plain)
            keys = [digest + JSON_SUFFIX for digest in digests]
            return Block(start, keys, sizes, listed_alike(b"".join(digests), JSON_C14N))
        if kinds <= _MIXED_TYPES:
            texts = _texts([item for item in items if type(item) is str])
            digests, sizes = _values([item for item in items if type(item) is not str], plain=plain)
            keys = _merged(items, iter(texts[0]), iter([digest + JSON_SUFFIX for digest in digests]))
            sizes = _merged(items, iter(texts[1]), iter(sizes))
            return Block(start, keys, sizes)
    except (ValueError, TypeError):  # the walk one by one names the item
        return _one_by_one(items, start)
    return _one_by_one(items, start)


def _merged(items: Sequence[Any], texts: Iterator[_T], values: Iterator[_T]) -> list[_T]:
    return [next(texts) if type(item) is str else next(values) for item in items]


def _texts(items: Sequence[str]) -> tuple[list[bytes], list[int]]:
    sha256 = hashlib.sha256
    encoded = [item.encode() for item in items]
    return [sha256(data).digest() for data in encoded], list(map(len, encoded))


def _values(items: Sequence[Any], *, plain: bool) -> tuple[list[bytes], list[int]]:
    sha256 = hashlib.sha256
    encoded = canonical_many(items, plain=plain)
    return [sha256(data).digest() for data in encoded], list(map(len, encoded))


def _one_by_one(items: Sequence[Any], start: int) -> Block:
    keys: list[ItemKey] = []
    sizes: list[int] = []
    for offset, item in enumerate(items):
        try:
            data, suffix = _encoded(item)
        except (ValueError, TypeError) as exc:
            position = start + offset
            raise ContentError("content_not_digestible", f"cannot be digested: {exc}", position=position) from exc
        keys.append(hashlib.sha256(data).digest() + suffix)
        sizes.append(len(data))
    return Block(start, keys, sizes)


def _encoded(item: Any) -> tuple[bytes, bytes]:
    if isinstance(item, _RAW_TYPES):
        return bytes(item), b""
    if isinstance(item, str):
        return item.encode(), b""
    return canonical_many([item])[0], JSON_SUFFIX
