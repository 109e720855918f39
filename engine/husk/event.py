"""What is one event, byte for byte, and what is it committed to?

The raw bytes are the event; everything else is an extracted copy. The commit hides the bytes behind a random salt, so
the store's chain stays whole when a payload leaves, and reveals nothing once the salt is gone. A commit does not prove
when an event happened, nor that its producer told the truth.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from engine.digests import raw_digest
from engine.husk.kinds import EventKind

SALT_BYTES = 16
COMMIT_DOMAIN = b"husk/commit/v1"
LINK_DOMAIN = b"husk/link/v1"
FIRST_LINK = bytes(32)


class State(StrEnum):
    """Where the payload of an event is."""

    WHOLE = "whole"
    ARCHIVED = "archived"
    DELETED = "deleted"


class Channel(StrEnum):
    """By which way an event came in; every way goes through the same gate."""

    FILE = "file"
    TRANSCRIPT = "transcript"
    LEDGER = "ledger"
    API = "api"
    UPLOAD = "upload"
    REPLAY = "replay"


@dataclass(frozen=True, slots=True)
class RawEvent:
    """One admitted event: its exact bytes and the fields read from them. Made only by `engine.husk.admit.admit`."""

    raw: bytes = field(repr=False)
    value: Mapping[str, Any] = field(repr=False)
    id: str
    kind: EventKind
    occurred_at: datetime
    session: str
    channel: Channel

    @property
    def digest(self) -> str:
        """Return the receipt recipe over the raw bytes, so that drop manifests can be matched."""
        return raw_digest(self.raw)


def commit_of(salt: bytes, raw: bytes) -> bytes:
    """Return the 32-byte commit of raw bytes under a salt."""
    return hashlib.sha256(COMMIT_DOMAIN + salt + raw).digest()


def link_of(previous: bytes, seq: int, event_id: str, commit: bytes) -> bytes:
    """Return the next 32-byte link of a chain over commits; the parts are length-framed, so none can be shifted."""
    name = event_id.encode("utf-8")
    framed = seq.to_bytes(8, "big") + len(name).to_bytes(4, "big") + name
    return hashlib.sha256(LINK_DOMAIN + previous + framed + commit).digest()
