"""How are many digests held, compared and counted without their hex text?

A key is a digest without its hex. Keys are equal exactly when their self-describing digests are; a key says nothing
about content that is not held.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from engine.digests import JSON_C14N, RAW_BYTES, known_recipe

DIGEST_BYTES = 32
JSON_SUFFIX = b"j"
_DIGEST_CHARACTERS = len(RAW_BYTES) + 2 * DIGEST_BYTES

_BLOCK = 512  # digests read at once: 42 KB of text stay in the processor's caches

ItemKey = bytes
"""32 bytes for `raw-bytes`, and one byte more for `json-c14n`, so that equal hex under two recipes never collides."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A receipt's list of dropped digests: as text, and as keys where an item can have such a digest.

    `foreign` are the digests that no content item can have (another recipe, another length, no digest at all).
    """

    digests: tuple[str, ...]
    keys: Sequence[ItemKey] = field(repr=False)
    foreign: tuple[str, ...]


def read_manifest(digests: Sequence[str]) -> Manifest:
    """Read a list of digests into keys."""
    texts = tuple(digests)
    keys: list[ItemKey] = []
    foreign: list[str] = []
    for start in range(0, len(texts), _BLOCK):
        block = texts[start : start + _BLOCK]
        at_once = _keys_at_once(block)
        if at_once is None:
            each = [(text, key_of(text)) for text in block]
            keys += [key for _, key in each if key is not None]
            foreign += [text for text, key in each if key is None]
        else:
            keys += at_once
    return Manifest(texts, keys, tuple(foreign))


def digest_of(key: ItemKey) -> str:
    """Write a key as the self-describing digest it stands for."""
    return (RAW_BYTES if len(key) == DIGEST_BYTES else JSON_C14N) + key[:DIGEST_BYTES].hex()


def key_of(digest: str) -> ItemKey | None:
    """Read a self-describing digest into a key; None when no content item can have that digest."""
    if not known_recipe(digest):
        return None
    raw = bytes.fromhex(digest[len(RAW_BYTES) :])
    return raw if digest.startswith(RAW_BYTES) else raw + JSON_SUFFIX


def listed(keys: Sequence[ItemKey]) -> bytes:
    """Write keys as the inside of the JSON list of their digests; no character of a digest needs an escape."""
    widths = set(map(len, keys))
    if not keys:
        return b""
    if len(widths) == 1:
        raw = widths == {DIGEST_BYTES}
        return listed_alike(
            b"".join(keys if raw else [key[:DIGEST_BYTES] for key in keys]), RAW_BYTES if raw else JSON_C14N
        )
    prefixes = {DIGEST_BYTES: RAW_BYTES, DIGEST_BYTES + 1: JSON_C14N}
    hexes = b"".join([key[:DIGEST_BYTES] for key in keys]).hex(",", DIGEST_BYTES).split(",")
    joined = '","'.join([prefixes[len(key)] + text for key, text in zip(keys, hexes, strict=True)])
    return f'"{joined}"'.encode("ascii")


def listed_alike(digests: bytes, prefix: str) -> bytes:
    """Write joined 32-byte digests of one recipe as `listed` does: hex and separators are made in one pass each."""
    joined = digests.hex(",", DIGEST_BYTES).replace(",", f'","{prefix}')
    return f'"{prefix}{joined}"'.encode("ascii")


def _keys_at_once(digests: tuple[str, ...]) -> list[ItemKey] | None:
    """Read digests in bulk; None when any is not of a known recipe. Order is kept within each recipe only."""
    raw = [digest for digest in digests if digest.startswith(RAW_BYTES)]
    json: Sequence[str] = () if len(raw) == len(digests) else digests
    if raw and json:
        json = [digest for digest in digests if not digest.startswith(RAW_BYTES)]
    raw_data, json_data = _proven_hex(raw, RAW_BYTES), _proven_hex(json, JSON_C14N)
    if raw_data is None or json_data is None:
        return None
    keys = list(chain.from_iterable(struct.iter_unpack("32s", raw_data)))
    keys += [key + JSON_SUFFIX for (key,) in struct.iter_unpack("32s", json_data)]
    return keys


def _proven_hex(digests: Sequence[str], prefix: str) -> bytes | None:
    """Return the bytes of digests of one recipe, or None when any is not the prefix and 64 hex digits.

    The digests are written again from their bytes: the same text of the same length, with the prefix (whose colons no
    hex has) at the start of each, leaves no room for another cut.
    """
    if set(map(len, digests)) - {_DIGEST_CHARACTERS}:
        return None
    try:
        data = bytes.fromhex("".join([digest[len(prefix) :] for digest in digests]))
    except ValueError:
        return None
    written = prefix + data.hex(",", DIGEST_BYTES).replace(",", prefix) if data else ""
    return data if written == "".join(digests) else None
