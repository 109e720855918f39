"""Which bytes does a digest stand for?

Self-describing digests `algorithm:recipe:version:hex` and the item rule of the receipt schema (product document on
receipts, "The receipt, anatomically"): bytes are hashed raw, text as UTF-8, everything else through the pinned
`json-c14n` recipe. Equal digests prove equal bytes under that recipe; they do not prove who wrote them, nor that
text and bytes of the same content were told apart (both are `raw-bytes`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

RAW_BYTES = "sha256:raw-bytes:v1:"
JSON_C14N = "sha256:json-c14n:v1:"
HEX_DIGITS = frozenset("0123456789abcdef")
SHA256_HEX_LENGTH = 64

# The recipe json-c14n:v1 to the letter: sorted keys, no white space, non-ASCII raw, NaN refused.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> bytes:
    """Serialise a value by the recipe `json-c14n:v1`.

    Not RFC 8785: keys sort by code point and floats are Python's. Raises `ValueError` for NaN, infinity, circular or
    too deep values, `UnicodeEncodeError` for a lone surrogate, `TypeError` for what JSON cannot hold.
    """
    try:
        return _ENCODER.encode(value).encode("utf-8")
    except RecursionError as exc:
        raise ValueError("nested too deep to serialise") from exc


def raw_digest(data: bytes) -> str:
    """Return the `raw-bytes` digest of bytes."""
    return RAW_BYTES + hashlib.sha256(data).hexdigest()


def json_digest(value: Any) -> str:
    """Return the `json-c14n` digest of a value; raises as `canonical_json`."""
    return JSON_C14N + hashlib.sha256(canonical_json(value)).hexdigest()


@dataclass(frozen=True, slots=True)
class ItemDigest:
    """Digest and size in bytes of one item."""

    digest: str
    size: int


def item_digest(item: Any) -> ItemDigest:
    """Digest one content item by the frozen type rule; size counts the hashed bytes.

    Raises as `canonical_json`; text with a lone surrogate raises `UnicodeEncodeError`.
    """
    if isinstance(item, bytes | bytearray | memoryview):
        data, recipe = bytes(item), RAW_BYTES
    elif isinstance(item, str):
        data, recipe = item.encode("utf-8"), RAW_BYTES
    else:
        data, recipe = canonical_json(item), JSON_C14N
    return ItemDigest(recipe + hashlib.sha256(data).hexdigest(), len(data))


def whole_digest(digests: Iterable[str]) -> str:
    """Return the digest over an ordered list of item digests (the `digest` of a receipt's side)."""
    return json_digest(list(digests))


def has_digest_shape(text: object) -> bool:
    """Tell whether a value has the four-part shape the receipt schema asks for.

    Algorithm, recipe and length are not judged here; see `known_recipe`.
    """
    if not isinstance(text, str):
        return False
    parts = text.split(":")
    return len(parts) == 4 and all(parts) and HEX_DIGITS.issuperset(parts[3])  # noqa: PLR2004 - four parts


def known_recipe(text: str) -> bool:
    """Tell whether a digest names a recipe this engine can recompute, with a full-length SHA-256."""
    return (
        text.startswith((RAW_BYTES, JSON_C14N))
        and len(text) == len(RAW_BYTES) + SHA256_HEX_LENGTH
        and HEX_DIGITS.issuperset(text[len(RAW_BYTES) :])
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """Positions that say what happened between two ordered lists of digests, as multisets.

    `kept` pairs (position in pre, position in post); `dropped` are positions in pre, `introduced` in post, each in
    order. Order itself is not compared: a reordering drops nothing.
    """

    kept: tuple[tuple[int, int], ...]
    dropped: tuple[int, ...]
    introduced: tuple[int, ...]


def difference(pre: Sequence[str], post: Sequence[str]) -> Difference:
    """Match digests one to one: walk pre in order and consume one equal post entry each (duplicates are counted).

    Source: product document on receipts ("Duplicates are counted as a multiset").
    """
    waiting: dict[str, list[int]] = {}
    for position in range(len(post) - 1, -1, -1):
        waiting.setdefault(post[position], []).append(position)
    kept: list[tuple[int, int]] = []
    dropped: list[int] = []
    for position, digest in enumerate(pre):
        places = waiting.get(digest)
        if places:
            kept.append((position, places.pop()))
        else:
            dropped.append(position)
    introduced = sorted(position for places in waiting.values() for position in places)
    return Difference(tuple(kept), tuple(dropped), tuple(introduced))
