"""Sessions of pi and its family (OpenClaw, oh-my-pi): what stood in the context around each compaction?

Entries form a tree by `parentId`; the path from the last entry to the root is the context. At a compaction, post is
the summary and the path entries from the first kept one on. A first kept entry may be no message (then nothing is
dropped), may be unknown (then nothing is kept, as the tool does), or may lie before an earlier compaction. Version 1
files have no ids: plain order, and an index that counts the header as 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.lines.source import Source
from engine.transcripts.blocks import tool_result
from engine.transcripts.build import Block, ItemBuilder, call_block, image_block, is_redacted, opaque_block, text_block
from engine.transcripts.item import Flag, Kind, Role
from engine.transcripts.notices import NOT_AN_OBJECT, PARENT_CYCLE, PARENT_MISSING, REPEATED_ROWS, Notices
from engine.transcripts.options import ReadOptions, Watch
from engine.transcripts.rounds import Claimed, CompactionRound, Reason, RoundKind, Transcript
from engine.transcripts.rows import Row, Rows
from engine.transcripts.sides import claimed_count, claimed_word, head_looks_missing, make_side
from engine.transcripts.tree import Stop, walk_up

OUTSIDE = frozenset({"session", "custom", "model_change", "thinking_level_change", "label", "session_info"})
HEADER = re.compile(rb'\A\s*\{\s*"type"\s*:\s*"session"\s*,')


@dataclass(slots=True)
class Entry:
    """One entry of the session with its items."""

    index: int
    id: str
    parent: str | None
    kind: str
    line: int
    keys: tuple[str, ...]
    value: Mapping[str, Any]


class PiReader:
    """Reads session files of pi (JSON Lines, one tree of entries)."""

    name = "pi"
    extensions = (".jsonl",)
    describes = "pi, OpenClaw or oh-my-pi session"

    def sniff(self, head: bytes, name: str) -> int:
        """Score by the header row."""
        del name
        first = head.lstrip().partition(b"\n")[0]
        if HEADER.match(first) and b'"version"' in first:
            return 95
        return 60 if HEADER.match(first) and b'"cwd"' in first else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read one session."""
        notices = Notices()
        session = _Session(ItemBuilder(notices), notices)
        rows = Rows(source, options, notices)
        for row in rows:
            session.take(row)
        rounds, context = session.rounds(options)
        header = session.header
        return Transcript(
            format=self.name,
            sources=(rows.source_file(),),
            items=session.builder.items,
            messages=session.builder.messages,
            rounds=rounds,
            context=context,
            notices=notices.findings(),
            session=claimed_word(header.get("id")),
            format_version=str(header["version"]) if "version" in header else None,
            parent_session=claimed_word(header.get("parentSession", header.get("branchedFrom"))),
        )


class _Session:
    """The entries of one file in order."""

    def __init__(self, builder: ItemBuilder, notices: Notices) -> None:
        self.builder = builder
        self.header: Mapping[str, Any] = {}
        self._notices = notices
        self._entries: list[Entry] = []
        self._by_id: dict[str, Entry] = {}
        self._places: list[Entry | None] = []
        self._repeats = 0

    def take(self, row: Row) -> None:
        """Take one row in file order."""
        value = row.value
        if not isinstance(value, dict):
            self._notices.add(NOT_AN_OBJECT, row.place.line)
            return
        kind = str(value.get("type"))
        if kind == "session" and not self.header:
            self.header = value
            self._places.append(None)
            return
        native = value.get("id")
        named = isinstance(native, str) and native and not is_redacted(native)
        name = str(native) if named else f"line {row.place.line}.{row.place.offset}"
        if name in self._by_id:
            self._repeats += 1
            self._places.append(self._by_id[name])
            return
        parent = value["parentId"] if "parentId" in value else (self._entries[-1].id if self._entries else None)
        keys = self._items(row, kind, name if named else None)
        entry = Entry(
            len(self._entries), name, parent if isinstance(parent, str) else None, kind, row.place.line, keys, value
        )
        self._entries.append(entry)
        self._by_id[name] = entry
        self._places.append(entry)

    def _items(self, row: Row, kind: str, native: str | None) -> tuple[str, ...]:
        value = row.value
        if kind in OUTSIDE:
            return ()
        raw: Any = value.get("message") if kind == "message" else value
        blocks = _entry_blocks(kind, raw if isinstance(raw, dict) else {})
        if blocks is None:
            self._notices.unknown(kind, row.place.line)
            return ()
        return self.builder.add(raw, blocks, row.place, native_id=native, time=value.get("timestamp"), flags=row.flags)

    def rounds(self, options: ReadOptions) -> tuple[tuple[CompactionRound, ...], tuple[str, ...]]:
        """Walk the path and make a round at each compaction on it; also return the context at the end."""
        if self._repeats:
            self._notices.add(REPEATED_ROWS, found=str(self._repeats))
        path = self._path()
        watch = Watch(options, "find rounds", len(path), "entries")
        position = {entry.id: index for index, entry in enumerate(path)}
        context: list[str] = []
        reasons: list[Reason] = list(self._path_reasons)
        found: list[CompactionRound] = []
        for here, entry in enumerate(path):
            watch.at(here)
            if entry.kind != "compaction":
                context.extend(entry.keys)
                continue
            tokens = claimed_count(entry.value.get("tokensBefore"))
            missing = [Reason.HEAD_MISSING] if head_looks_missing(self.builder, context, tokens) else []
            pre = make_side(self.builder, context, [*reasons, *missing], notices=self._notices, line=entry.line)
            start, unresolved = self._first_kept(entry, position)
            kept = [key for kept in path[start:here] if kept.kind != "compaction" for key in kept.keys]
            context = [*entry.keys, *kept]
            reasons = [*self._path_reasons, *unresolved]
            post = make_side(self.builder, context, reasons, notices=self._notices, line=entry.line)
            number = len(found) + 1
            summary = entry.keys[0] if entry.keys else None
            claimed = _claimed(entry, tokens)
            found.append(CompactionRound(number, RoundKind.SUMMARY, pre, post, summary, claimed, entry.line))
        return tuple(found), tuple(context)

    def _path(self) -> list[Entry]:
        """Return the entries from the root to the last one; branches that were left are flagged."""
        self._path_reasons: list[Reason] = []
        path: list[Entry] = []
        taken: set[str] = set()
        here = self._entries[-1] if self._entries else None
        root = self.header.get("id")
        while here is not None:
            walk = walk_up(here.id, lambda name: self._by_id[name].parent, self._by_id, taken)
            taken.update(walk.path)
            path.extend(self._by_id[name] for name in walk.path)
            last = path[-1]
            if walk.stop is Stop.ROOT or walk.at == root:
                break
            if last.index == 0 and walk.stop is Stop.MISSING:
                self._path_reasons.append(Reason.HEAD_MISSING)
                break
            self._notices.add(PARENT_MISSING if walk.stop is Stop.MISSING else PARENT_CYCLE, last.line)
            self._path_reasons.append(Reason.REPAIRED_PATH)
            self.builder.flag(last.keys, Flag.REPAIRED)
            before = last.index - 1
            while before >= 0 and self._entries[before].id in taken:
                before -= 1
            here = self._entries[before] if before >= 0 else None
        for entry in self._entries:
            if entry.id not in taken:
                self.builder.flag(entry.keys, Flag.OFF_PATH)
        return path[::-1]

    def _first_kept(self, entry: Entry, position: Mapping[str, int]) -> tuple[int, list[Reason]]:
        """Return where the kept tail begins on the path; at the compaction itself when it cannot be found."""
        index = entry.value.get("firstKeptEntryIndex")
        kept: object = entry.value.get("firstKeptEntryId")
        if isinstance(index, int) and 0 <= index < len(self._places):
            named = self._places[index]
            kept = named.id if named is not None else self._entries[0].id
        if isinstance(kept, str) and kept in position and position[kept] <= position[entry.id]:
            return position[kept], []
        return position[entry.id], [Reason.TAIL_UNRESOLVED]


def _claimed(entry: Entry, tokens: int | None) -> Claimed:
    return Claimed(
        method="hook" if entry.value.get("fromHook") is True else "summary",
        tokens_before=tokens,
        ended=claimed_word(entry.value.get("timestamp")),
    )


def _entry_blocks(kind: str, raw: Mapping[str, Any]) -> list[Block] | None:
    match kind:
        case "message":
            return _message_blocks(raw)
        case "custom_message":
            return _content(Role.USER, Kind.PROMPT, raw.get("content"))
        case "branch_summary" | "compaction":
            return [text_block(Role.USER, Kind.SUMMARY, str(raw.get("summary", "")))]
        case _:
            return None


def _message_blocks(raw: Mapping[str, Any]) -> list[Block]:
    content = raw.get("content")
    match raw.get("role"):
        case "assistant":
            return _content(Role.ASSISTANT, Kind.REPLY, content)
        case "toolResult":
            return [tool_result(content)]
        case "bashExecution":
            if raw.get("excludeFromContext") is True:
                return []
            return [text_block(Role.USER, Kind.TOOL_RESULT, f"$ {raw.get('command')}\n{raw.get('output')}")]
        case "branchSummary" | "compactionSummary":
            return [text_block(Role.USER, Kind.SUMMARY, str(raw.get("summary", "")))]
        case "system":
            return _content(Role.SYSTEM, Kind.PROMPT, content)
        case _:
            return _content(Role.USER, Kind.PROMPT, content)


def _content(role: Role, kind: Kind, content: Any) -> list[Block]:
    if isinstance(content, str):
        return [text_block(role, kind, content)]
    if not isinstance(content, list):
        return [opaque_block(role, "content", content)]
    return [_part(role, kind, part) for part in content] or [text_block(role, kind, "")]


def _part(role: Role, kind: Kind, part: Any) -> Block:
    match part:
        case {"type": "text", "text": str(text)} | str(text):
            return text_block(role, kind, text)
        case {"type": "thinking", "thinking": str(text)} if text:
            return text_block(role, Kind.THINKING, text)
        case {"type": "toolCall", "name": str(name)}:
            return call_block(name, part.get("arguments"))
        case {"type": "image", "data": str(data)}:
            return image_block(role, str(part.get("mimeType")), data)
        case _:
            return opaque_block(role, str(part.get("type") if isinstance(part, dict) else type(part).__name__), part)


PI = PiReader()
