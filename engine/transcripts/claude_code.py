"""Claude Code sessions: which rows stood in the context before and after each compaction?

Steps: rows → nodes (repeated uuids keep the first) → cut at each boundary → path by parents with siblings and
repairs → pre = what the last round left and the path since; post = summary, preserved messages, attachments and
command rows up to the next prompt or answer. A micro-compaction replaces named tool results by their placeholder.
Up to 2.1.216 the tool re-reads files after compacting and does not store them: such a post side is partial.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from engine.lines.source import Source
from engine.transcripts.build import ItemBuilder
from engine.transcripts.claude_path import Base, Path, PathFinder
from engine.transcripts.claude_rows import Node, Session, SessionBuilder
from engine.transcripts.item import Kind
from engine.transcripts.notices import Notices
from engine.transcripts.options import ReadOptions, Watch
from engine.transcripts.rounds import Claimed, CompactionRound, Reason, RoundKind, Transcript
from engine.transcripts.rows import Rows
from engine.transcripts.sides import claimed_count, claimed_word, head_looks_missing, make_side

MESSAGE_OF_PARTS = re.compile(rb'"message"\s*:\s*\{[^{}\[\]]*"parts"\s*:\s*\[')
NEW_RECORD_FIELDS = frozenset({"postTokens", "preservedMessages", "preservedSegment"})


class ClaudeCodeReader:
    """Reads session logs of Claude Code (JSON Lines, one tree of rows)."""

    name = "claude-code"
    extensions = (".jsonl",)
    describes = "Claude Code session log"

    def sniff(self, head: bytes, name: str) -> int:
        """Score by the row shape; the name plays no part."""
        del name
        if b'"chat_compression"' in head or MESSAGE_OF_PARTS.search(head):
            return 20  # a fork of this shape that keeps its messages in another form
        if b'"parentUuid"' in head and b'"sessionId"' in head:
            return 95
        return 70 if b'"sessionId"' in head and b'"uuid"' in head and b'"message"' in head else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read one session."""
        notices = Notices()
        builder = ItemBuilder(notices)
        rows = Rows(source, options, notices)
        collected = SessionBuilder(builder, notices)
        for row in rows:
            collected.take(row)
        session = collected.finish()
        rounds = _Rounds(session, builder, notices, options)
        rounds.run()
        return Transcript(
            format=self.name,
            sources=(rows.source_file(),),
            items=builder.items,
            messages=builder.messages,
            rounds=tuple(rounds.found),
            context=rounds.context,
            notices=notices.findings(),
            session=session.session,
            tool_version=session.version,
            parent_session=session.parent_session,
        )


class _Rounds:
    """Goes through the boundaries of a session in file order."""

    def __init__(self, session: Session, builder: ItemBuilder, notices: Notices, options: ReadOptions) -> None:
        self._session = session
        self._builder = builder
        self._notices = notices
        self._paths = PathFinder(session, builder, notices)
        self._base = Base()
        self._cleared: dict[str, str] = {}
        self._events = list(_events(session))
        self._watch = Watch(options, "find rounds", len(self._events), "rounds")
        self.found: list[CompactionRound] = []
        self.context: tuple[str, ...] = ()

    def run(self) -> None:
        """Build every round and the context at the end of the file."""
        for number, (node, stop) in enumerate(self._events):
            self._watch.at(number)
            if node.boundary == "microcompact_boundary":
                self._micro(node)
            else:
                end = self._events[number + 1][0].index if number + 1 < len(self._events) else len(self._session.nodes)
                self._full(node, stop, end)
        path = self._paths.find(self._base, len(self._session.nodes))
        self.context = self._seen((*self._base.keys, *path.keys()))

    def _full(self, node: Node, stop: int, end: int) -> None:
        path = self._paths.find(self._base, stop)
        meta = _metadata(node, "compactMetadata", "compact_metadata")
        claimed = Claimed(
            trigger=claimed_word(meta.get("trigger")),
            method="summary",
            tokens_before=claimed_count(meta.get("preTokens", meta.get("pre_tokens"))),
            tokens_after=claimed_count(meta.get("postTokens", meta.get("post_tokens"))),
            ended=claimed_word(node.row.get("timestamp")),
        )
        pre, reasons = self._pre(path, claimed.tokens_before)
        self._base, summary = self._after(node, stop, end, meta)
        self.found.append(
            CompactionRound(
                index=len(self.found) + 1,
                kind=RoundKind.SUMMARY,
                pre=make_side(self._builder, pre, reasons, notices=self._notices, line=node.line),
                post=make_side(
                    self._builder, self._base.keys, self._base.reasons, notices=self._notices, line=node.line
                ),
                summary_key=summary,
                claimed=claimed,
                line=node.line,
            )
        )

    def _micro(self, node: Node) -> None:
        path = self._paths.find(self._base, node.index)
        meta = _metadata(node, "microcompactMetadata", "microcompact_metadata")
        before, saved = claimed_count(meta.get("preTokens")), claimed_count(meta.get("tokensSaved"))
        pre, reasons = self._pre(path, before)
        for key in self._named(meta, pre):
            self._cleared[key] = self._builder.replaced_by_placeholder(key)
        self.found.append(
            CompactionRound(
                index=len(self.found) + 1,
                kind=RoundKind.TOOL_CLEAR,
                pre=make_side(self._builder, pre, reasons, notices=self._notices, line=node.line),
                post=make_side(self._builder, self._seen(pre), reasons, notices=self._notices, line=node.line),
                claimed=Claimed(
                    trigger=claimed_word(meta.get("trigger")),
                    method="tool_clear",
                    tokens_before=before,
                    tokens_after=before - saved if before is not None and saved is not None else None,
                    ended=claimed_word(node.row.get("timestamp")),
                ),
                line=node.line,
            )
        )

    def _pre(self, path: Path, tokens: int | None) -> tuple[tuple[str, ...], list[Reason]]:
        keys = self._seen((*self._base.keys, *path.keys()))
        reasons = [*self._base.reasons, *path.reasons]
        if head_looks_missing(self._builder, keys, tokens):
            reasons.append(Reason.HEAD_MISSING)
        return keys, reasons

    def _seen(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Put placeholders where results were cleared before."""
        return tuple(self._cleared.get(key, key) for key in keys)

    def _named(self, meta: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
        """Return the keys of the tool results and attachments a micro-compaction names."""
        tools = {tool for tool in _list(meta, "compactedToolIds") if isinstance(tool, str)}
        rows = {uuid for uuid in _list(meta, "clearedAttachmentUUIDs") if isinstance(uuid, str)}
        answering = {n.uuid for n in self._session.nodes if n.answers & tools}

        def named(key: str) -> bool:
            item = self._builder.items[key]
            if item.native_id in rows:
                return True
            cleared = item.kind is Kind.TOOL_RESULT and item.native_id in answering
            return cleared and bool(self._answers(key) & tools)

        return [key for key in keys if named(key)]

    def _answers(self, key: str) -> frozenset[str]:
        """Return the call that one tool result answers."""
        item = self._builder.items[key]
        message = self._builder.messages[item.message]
        content = message.get("content") if isinstance(message, dict) else None
        part = content[item.block] if isinstance(content, list) and item.block < len(content) else None
        return frozenset({str(part.get("tool_use_id"))}) if isinstance(part, dict) else frozenset()

    def _after(self, node: Node, stop: int, end: int, meta: Mapping[str, Any]) -> tuple[Base, str | None]:
        """Return what a compaction left: summary, preserved messages, then attachments and command rows."""
        rows = [n for n in self._session.nodes[stop:end] if not n.side_chain and n.keys]
        summary: Node | None = None
        preserved, reasons = self._preserved(meta)
        kept = {n.uuid for n in preserved}
        tail: list[Node] = []
        for row in rows:
            if row.uuid in kept:
                continue
            if row.is_summary and summary is None:
                summary = row
            elif _speaks(row):
                break
            else:
                tail.append(row)
        left = [*([summary] if summary else []), *preserved, *tail]
        if summary is None:
            reasons.append(Reason.SUMMARY_MISSING)
        if not NEW_RECORD_FIELDS.intersection(meta):
            reasons.append(Reason.REREAD_FILES_NOT_STORED)
        elif any(n.kind == "attachment" for n in tail):
            reasons.append(Reason.ATTACHMENTS_UNCHECKED)
        keys = self._seen(key for n in left if n.in_context for key in n.keys)
        uuids = frozenset({n.uuid for n in left} | {node.uuid} | kept)
        base = Base(start=stop, keys=keys, uuids=uuids, reasons=tuple(reasons))
        return base, summary.keys[0] if summary else None

    def _preserved(self, meta: Mapping[str, Any]) -> tuple[list[Node], list[Reason]]:
        """Resolve the messages the tool says it kept; the list supersedes the segment."""
        messages, segment = meta.get("preservedMessages"), meta.get("preservedSegment")
        if isinstance(messages, dict):
            wanted = [uuid for uuid in _list(messages, "uuids") if isinstance(uuid, str)]
        elif isinstance(segment, dict):
            wanted = self._segment(segment.get("headUuid"), segment.get("tailUuid"))
        else:
            return [], []
        by_uuid, nodes = self._session.by_uuid, self._session.nodes
        found = [nodes[by_uuid[uuid]] for uuid in dict.fromkeys(wanted) if uuid in by_uuid]
        whole = len(found) == len(set(wanted)) and bool(wanted)
        return [n for n in found if n.keys], [] if whole else [Reason.PRESERVED_UNRESOLVED]

    def _segment(self, head: object, tail: object) -> list[str]:
        """Walk a preserved segment from its tail to its head; nothing when they are not linked."""
        path: list[str] = []
        by_uuid = self._session.by_uuid
        here = tail if isinstance(tail, str) else None
        while here is not None and here in by_uuid and len(path) <= len(by_uuid):
            path.append(here)
            if here == head:
                return path[::-1]
            here = self._session.nodes[by_uuid[here]].parent
        return []


def _events(session: Session) -> Iterable[tuple[Node, int]]:
    """Yield each boundary with the index where the rows after it begin; a summary without one counts too."""
    announced = False
    for node in session.nodes:
        if node.boundary:
            announced = announced or node.boundary == "compact_boundary"
            yield node, node.index + 1
        elif node.keys and not node.side_chain:
            if node.is_summary and not announced:
                yield node, node.index
            announced = announced and not node.is_summary and not _speaks(node)


def _speaks(node: Node) -> bool:
    """Tell whether the conversation goes on with this row: an answer, or a prompt that is no command."""
    return node.kind == "assistant" or (node.kind == "user" and not (node.is_command or node.is_summary))


def _metadata(node: Node, *names: str) -> Mapping[str, Any]:
    return next((value for name in names if isinstance(value := node.row.get(name), dict)), {})


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    return found if isinstance(found, list) else []


CLAUDE_CODE = ClaudeCodeReader()
