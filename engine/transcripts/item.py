"""What is one piece of context, and which bytes is it digested by?

The canonical item is what the model sees (`role`, `kind`, and text or call or result), not the wire row: agents
repeat the same message with other metadata, and a digest over rows would call it dropped and introduced. Two items
with equal digests had equal visible content; that does not prove they are the same message.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from json.encoder import encode_basestring
from typing import Any

from engine.digests import JSON_C14N, canonical_json

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Kind(StrEnum):
    """What an item is to the model."""

    PROMPT = "prompt"
    REPLY = "reply"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SUMMARY = "summary"
    ATTACHMENT = "attachment"
    IMAGE = "image"
    PLACEHOLDER = "placeholder"
    OPAQUE = "opaque"


class Flag(StrEnum):
    """What a reader had to do to an item, or noticed about it."""

    COPIED = "copied"
    REPAIRED = "repaired"
    OFF_PATH = "off_path"
    REDACTED = "redacted"
    CLEARED = "cleared"
    TRUNCATED = "truncated"
    LOSSY_DECODE = "lossy_decode"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item stands: source name, 1-based line, byte offset and length of its row."""

    source: str
    line: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One block of context.

    `key` is the native id + "#" + block index, or digest + "@" + occurrence where the format has no ids; it is the
    same on every reading of the same file. `canonical` are the exact digested bytes; `text` is "" when opaque.
    `message` names the raw message (key of `Transcript.messages`) the block was cut from.
    """

    key: str
    role: Role
    kind: Kind
    text: str
    canonical: bytes = field(repr=False)
    digest: str
    place: Place
    message: str
    native_id: str | None = None
    block: int = 0
    """Position of the block in its raw message; `native_id` and `block` name the same block in two versions."""
    time: str | None = None
    flags: frozenset[Flag] = frozenset()

    @property
    def size(self) -> int:
        """Return the number of digested bytes."""
        return len(self.canonical)


def canonical_item(role: Role, kind: Kind, content: Mapping[str, Any]) -> bytes:
    """Serialise the model-visible content of one item by `json-c14n:v1`.

    `content` is `{"text": …}`, `{"call": {"name", "args"}}` or `{"result": {"text"}}`; ids, times, usage and cache
    marks stay out. A lone surrogate, which UTF-8 cannot hold, is written as its JSON escape so that the digest is
    stable and still tells two different surrogates apart. Raises `ValueError` for what JSON cannot hold (NaN, too
    deep); the readers' decode policy lets no such value in.
    """
    value = {"role": role.value, "kind": kind.value, **content}
    try:
        return _of_text(role, kind, content) or canonical_json(value)
    except UnicodeEncodeError:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        # The backslash is doubled: the escape stands as six characters in a string that JSON can hold.
        return _LONE_SURROGATE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text).encode("utf-8")


def _of_text(role: Role, kind: Kind, content: Mapping[str, Any]) -> bytes | None:
    """Write the recipe's bytes of an item that is one text (nine in ten are), with the recipe's own string writer."""
    match content:
        case {"text": str(text), **rest} if not rest:
            return f'{{"kind":"{kind}","role":"{role}","text":{encode_basestring(text)}}}'.encode()
        case {"result": {"text": str(text), **parts}, **rest} if not rest and not parts:
            return f'{{"kind":"{kind}","result":{{"text":{encode_basestring(text)}}},"role":"{role}"}}'.encode()
        case _:
            return None


def item_digest_of(canonical: bytes) -> str:
    """Return the digest of canonical bytes: the `json-c14n` digest of the canonical item."""
    return JSON_C14N + hashlib.sha256(canonical).hexdigest()


def readable(text: str) -> str:
    """Show a lone surrogate, which no file or screen can hold, as U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
    return text
