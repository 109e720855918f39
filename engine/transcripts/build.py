"""How does a raw message become items with stable keys?

A reader cuts a message into blocks; the builder digests each, names it, flags redactions and keeps one item for
one block. Keys: native id + "#" + block index (all blocks of a later version of the message with other content get
"~2"); without a native id the digest + "@" + occurrence; a placeholder is named after what it stands for. The same
file gives the same keys on every reading.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.transcripts.item import ContextItem, Flag, Kind, Place, Role, canonical_item, item_digest_of, readable
from engine.transcripts.notices import VALUE_UNREADABLE, Notices

REDACTION_WORD = re.compile(r"\bREDACTED\b")
REDACTION_MARKS = ("[trimmed for fixture]", "<truncated>")
CLEARED_TEXT = "[Old tool result content cleared]"
NO_FLAGS: frozenset[Flag] = frozenset()


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a message before it has a key: who, what, the canonical content and the readable text."""

    role: Role
    kind: Kind
    content: Mapping[str, Any]
    text: str = ""
    flags: frozenset[Flag] = NO_FLAGS


def is_redacted(text: str) -> bool:
    """Tell whether a text carries a mark that published transcripts put in place of content."""
    if REDACTION_MARKS[0] in text or REDACTION_MARKS[1] in text:
        return True
    return "REDACTED" in text and REDACTION_WORD.search(text) is not None


def text_block(role: Role, kind: Kind, text: str, *, flags: Iterable[Flag] = ()) -> Block:
    """Make a block of plain text."""
    return Block(role, kind, {"text": text}, text, frozenset(flags))


def call_block(name: str, args: Any) -> Block:
    """Make a tool call; the readable text is the name and the arguments as JSON (or as the text they are)."""
    shown = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
    return Block(Role.ASSISTANT, Kind.TOOL_CALL, {"call": {"name": name, "args": args}}, f"{name} {shown}")


def result_block(text: str, *, flags: Iterable[Flag] = ()) -> Block:
    """Make a tool result."""
    return Block(Role.TOOL, Kind.TOOL_RESULT, {"result": {"text": text}}, text, frozenset(flags))


def placeholder_block(text: str = CLEARED_TEXT) -> Block:
    """Make what the model sees instead of a cleared tool result."""
    return Block(Role.TOOL, Kind.PLACEHOLDER, {"result": {"text": text}}, text, frozenset({Flag.CLEARED}))


def image_block(role: Role, media_type: str, data: str) -> Block:
    """Make an image; the canonical content holds its size and digest, not its bytes."""
    encoded = data.encode("utf-8", "surrogatepass")
    facts = {"media_type": media_type, "base64_bytes": len(encoded), "sha256": hashlib.sha256(encoded).hexdigest()}
    return Block(role, Kind.IMAGE, {"image": facts}, f"[image {media_type}, {len(encoded)} bytes]")


def opaque_block(role: Role, what: str, value: Any) -> Block:
    """Make a block whose content cannot be read; its digest is over the type and the digest of the wire value."""
    wire = json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")
    facts = {"type": what, "bytes": len(wire), "sha256": hashlib.sha256(wire).hexdigest()}
    return Block(role, Kind.OPAQUE, {"opaque": facts})


class ItemBuilder:
    """Collects the items and raw messages of one transcript."""

    def __init__(self, notices: Notices) -> None:
        self.items: dict[str, ContextItem] = {}
        self.messages: dict[str, Any] = {}
        self._notices = notices
        self._occurrences: Counter[str] = Counter()
        self._versions: dict[str, dict[tuple[str, ...], int]] = {}

    def add(
        self,
        raw: Any,
        blocks: Iterable[Block],
        place: Place,
        *,
        native_id: str | None = None,
        time: object = None,
        flags: frozenset[Flag] = NO_FLAGS,
        part: int = 0,
    ) -> tuple[str, ...]:
        """Add one raw message cut into blocks and return the keys of its items in order.

        `part` tells messages of one row apart (entries of a history). A message seen before under the same native
        id with the same content gives its old keys.
        """
        message = self._message_key(raw, place, part)
        when = time if isinstance(time, str) and not is_redacted(time) else None
        made = [self._canonical(block, raw, place) for block in blocks]
        digests = tuple(item_digest_of(canonical) for canonical, _ in made)
        version, known = self._version(native_id, digests)
        keys = []
        for index, (canonical, used) in enumerate(made):
            key = self._key(native_id, index, digests[index], version)
            keys.append(key)
            if known:
                continue
            marked = {Flag.REDACTED} if used.text and is_redacted(used.text) else set()
            self.items[key] = ContextItem(
                key=key,
                role=used.role,
                kind=used.kind,
                text=readable(used.text),
                canonical=canonical,
                digest=digests[index],
                place=place,
                message=message,
                native_id=native_id,
                block=index,
                time=when,
                flags=flags | used.flags | marked,
            )
        if any(self.items[key].message == message for key in keys):
            self.messages[message] = raw
        return tuple(keys)

    def flag(self, keys: Iterable[str], flag: Flag) -> None:
        """Add a flag to items already built."""
        for key in keys:
            item = self.items[key]
            if flag not in item.flags:
                self.items[key] = replace(item, flags=item.flags | {flag})

    def replaced_by_placeholder(self, key: str, text: str = CLEARED_TEXT) -> str:
        """Return the key of the placeholder that stands for a cleared item; the item itself stays."""
        item = self.items[key]
        block = placeholder_block(text)
        canonical = canonical_item(block.role, block.kind, block.content)
        digest = item_digest_of(canonical)
        if digest == item.digest:
            return key
        new = f"{key}~cleared" + ("" if text == CLEARED_TEXT else f".{digest[-8:]}")
        known = new in self.items
        if not known:
            self.items[new] = replace(
                item,
                key=new,
                role=block.role,
                kind=block.kind,
                text=text,
                canonical=canonical,
                digest=digest,
                flags=item.flags - {Flag.REDACTED} | block.flags,
                message=f"{item.message}~cleared.{item.block}",
            )
            self.messages[f"{item.message}~cleared.{item.block}"] = _cleared(
                self.messages[item.message], item.block, text
            )
        return new

    def _message_key(self, raw: Any, place: Place, part: int) -> str:
        stem = f"{place.line}.{place.offset}" + (f".{part}" if part else "")
        key, version = stem, 1
        while key in self.messages and self.messages[key] is not raw:
            version += 1
            key = f"{stem}~{version}"
        return key

    def _canonical(self, block: Block, raw: Any, place: Place) -> tuple[bytes, Block]:
        try:
            return canonical_item(block.role, block.kind, block.content), block
        except (ValueError, TypeError):
            self._notices.add(VALUE_UNREADABLE, place.line)
            safe = Block(block.role, Kind.OPAQUE, {"opaque": {"type": "unreadable", "repr": repr(raw)[:200]}})
            return canonical_item(safe.role, safe.kind, safe.content), safe

    def _version(self, native_id: str | None, digests: tuple[str, ...]) -> tuple[int, bool]:
        """Count the versions of a message by its whole content; the second value tells whether it is already held."""
        if native_id is None:
            return 1, False
        versions = self._versions.setdefault(native_id, {})
        known = digests in versions
        return versions.setdefault(digests, len(versions) + 1), known

    def _key(self, native_id: str | None, index: int, digest: str, version: int) -> str:
        """Name a block."""
        if native_id is None:
            self._occurrences[digest] += 1
            return f"{digest}@{self._occurrences[digest]}"
        return f"{native_id}#{index}" if version == 1 else f"{native_id}#{index}~{version}"


def _cleared(message: Any, block: int, text: str) -> Any:
    """Return the message as the model sees it after the result in one of its blocks was cleared."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list) or block >= len(content) or not isinstance(content[block], dict):
        return {"role": "tool", "content": text}
    return {**message, "content": [*content[:block], {**content[block], "content": text}, *content[block + 1 :]]}
