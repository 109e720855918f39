"""Which digests do content items have, in bulk?

The frozen item rule of `engine.digests` over whole lists, in blocks, with digests held as raw bytes. A list of digests
says what the content was under the rule; it does not say that the content was complete.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.digests import JSON_C14N, RAW_BYTES, item_digest, known_recipe
from engine.errors import UsageError
from engine.findings import CancelledError, IsCancelled, OnProgress, Progress, ignore_progress, never_cancelled
from engine.lines.plain import canonical_many
from engine.receipts.display import kind_word

BLOCK_ITEMS = 2048
_DIGEST_BYTES = 32
_RAW_TYPES = (bytes, bytearray, memoryview)
_JSON_TYPES = frozenset({dict, list, int, bool, float, type(None)})

ItemKey = bytes
"""A digest without its hex: 32 bytes for `raw-bytes`, and one byte more for `json-c14n`, so that they never collide."""


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


@dataclass(frozen=True, slots=True)
class SideSum:
    """What a receipt records of one side, recomputed: number of items, bytes, digest over the ordered digests."""

    count: int
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Watch:
    """Progress and cancel of one long look at content."""

    step: str = "digest content"
    on_progress: OnProgress = ignore_progress
    is_cancelled: IsCancelled = never_cancelled

    def tick(self, done: int, total: int) -> None:
        """Report progress in items; raises `CancelledError` when the caller cancelled."""
        if self.is_cancelled():
            raise CancelledError
        self.on_progress(Progress(self.step, done, total, "items"))


QUIET = Watch()
"""Nobody watches and nobody cancels."""


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
        for start in range(0, total, BLOCK_ITEMS):
            self._watch.tick(start, total)
            block = digest_block(self._content[start : start + BLOCK_ITEMS], start)
            self._whole.update((b"," if start else b"") + _listed(block.keys))
            self._size += sum(block.sizes)
            self._count += len(block.keys)
            yield block
        self._watch.tick(total, total)

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


def side_sum(content: Iterable[Any], watch: Watch = QUIET) -> SideSum:
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


def digest_side(content: Iterable[Any], watch: Watch = QUIET) -> DigestedSide:
    """Digest one side and keep every item's digest; raises `ContentError` and `CancelledError`."""
    side = SideDigest(as_items(content), watch)
    whole = Block(0, [], [])
    for block in side.blocks():
        whole.keys.extend(block.keys)
        whole.sizes.extend(block.sizes)
    return DigestedSide(whole, side.sum())


def digest_block(items: Sequence[Any], start: int) -> Block:
    """Digest a run of items; raises `ContentError` naming the first one that cannot be digested."""
    kinds = set(map(type, items))
    sha256 = hashlib.sha256
    try:
        if kinds == {str}:
            encoded = [item.encode() for item in items]
            return Block(start, [sha256(data).digest() for data in encoded], list(map(len, encoded)))
        if kinds <= _JSON_TYPES:
            encoded = canonical_many(items)
            return Block(start, [sha256(data).digest() + b"j" for data in encoded], list(map(len, encoded)))
    except (ValueError, TypeError):  # the walk one by one names the item
        return _one_by_one(items, start)
    return _one_by_one(items, start)


def item_key(item: Any) -> ItemKey:
    """Return the key of one item; raises as `engine.digests.item_digest`."""
    key = key_of(item_digest(item).digest)
    if key is None:
        raise AssertionError("the item rule gives only known recipes")
    return key


def digest_of(key: ItemKey) -> str:
    """Write a key as the self-describing digest it stands for."""
    return (RAW_BYTES if len(key) == _DIGEST_BYTES else JSON_C14N) + key[:_DIGEST_BYTES].hex()


def key_of(digest: str) -> ItemKey | None:
    """Read a self-describing digest into a key; None when no content item can have that digest."""
    if not known_recipe(digest):
        return None
    raw = bytes.fromhex(digest[len(RAW_BYTES) :])
    return raw if digest.startswith(RAW_BYTES) else raw + b"j"


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
    return canonical_many([item])[0], b"j"


def _listed(keys: list[ItemKey]) -> bytes:
    """Write keys as the inside of the JSON list of their digests; no character of a digest needs an escape."""
    widths = set(map(len, keys))
    if len(widths) == 1:
        # One recipe throughout: hex and separators are made in one pass each.
        prefix = RAW_BYTES if widths == {_DIGEST_BYTES} else JSON_C14N
        raw = b"".join(keys) if widths == {_DIGEST_BYTES} else b"".join([key[:_DIGEST_BYTES] for key in keys])
        joined = raw.hex(",", _DIGEST_BYTES).replace(",", f'","{prefix}')
        return f'"{prefix}{joined}"'.encode("ascii")
    return ",".join([f'"{digest_of(key)}"' for key in keys]).encode("ascii")
