"""Which one digest stands for an ordered set of entries?

The tree of RFC 6962: leaves and nodes are hashed under different first bytes, so that a node cannot pass as a leaf.
Equal roots mean equal entries in the same order; that a root is the right one must be known from elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf(data: bytes) -> bytes:
    """Return the hash of one entry."""
    return hashlib.sha256(b"\x00" + data).digest()


def node(left: bytes, right: bytes) -> bytes:
    """Return the hash over two nodes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes in order; the root of nothing is the hash of nothing."""
    level = list(leaves)
    if not level:
        return EMPTY_ROOT
    while len(level) > 1:
        paired = [node(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
        level = paired + level[len(paired) * 2 :]
    return level[0]
