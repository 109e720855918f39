"""Qwen Code sessions: what stood in the context before and after each compression?

A tree of rows like Claude Code's whose messages hold parts. The context is the path from the last row to its root;
rows off it were rewound. A compression row holds the whole history it left: pre is the path before it, post that
history. The system prompt and what hooks added to a request are not in the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.findings import Code, Finding, Severity
from engine.lines.source import Source
from engine.transcripts.build import ItemBuilder
from engine.transcripts.gemini_message import content_blocks
from engine.transcripts.item import Flag, Kind, Place, Role
from engine.transcripts.notices import (
    NOT_AN_OBJECT,
    PARENT_CYCLE,
    PARENT_MISSING,
    REPEATED_ROWS,
    UNTESTED_FORMAT,
    Notices,
)
from engine.transcripts.options import ReadOptions
from engine.transcripts.rounds import Claimed, CompactionRound, Reason, RoundKind, Transcript
from engine.transcripts.rows import Row, Rows
from engine.transcripts.sides import claimed_count, claimed_word, make_side
from engine.transcripts.tree import Stop, walk_up

MESSAGE_OF_PARTS = re.compile(rb'"message"\s*:\s*\{[^{}\[\]]*"parts"\s*:\s*\[')
CONTEXT_TYPES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool_result": Role.TOOL}
COMPRESSION = "chat_compression"

ATTEMPT_FAILED = Code("qwen_attempt_failed", Severity.NOTICE, "a compression was tried here and left no history")


class QwenReader:
    """Reads session logs of Qwen Code."""

    name = "qwen-code"
    extensions = (".jsonl",)
    describes = "Qwen Code session log"

    def sniff(self, head: bytes, name: str) -> int:
        """Score by rows of a tree whose messages hold parts."""
        del name
        tree = b'"parentUuid"' in head and b'"sessionId"' in head
        return 95 if tree and (MESSAGE_OF_PARTS.search(head) or f'"{COMPRESSION}"'.encode() in head) else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read one session."""
        notices = Notices()
        rows = Rows(source, options, notices)
        tree = _Tree(ItemBuilder(notices), notices)
        for row in rows:
            tree.take(row)
        replay = _Replay(tree, notices)
        replay.run()
        if replay.rounds:
            notices.add(UNTESTED_FORMAT)
        return Transcript(
            format=self.name,
            sources=(rows.source_file(),),
            items=tree.builder.items,
            messages=tree.builder.messages,
            rounds=tuple(replay.rounds),
            context=tuple(replay.context),
            notices=notices.findings(),
            failed_attempts=tuple(replay.failed),
            session=tree.session,
            tool_version=tree.version,
        )


@dataclass(frozen=True, slots=True)
class _Node:
    """One row of the tree; `keys` are its items, `record` is what a compression wrote."""

    parent: str | None
    place: Place
    keys: tuple[str, ...] = ()
    record: Mapping[str, Any] | None = None
    time: str | None = None


class _Tree:
    """Collects the rows by id."""

    def __init__(self, builder: ItemBuilder, notices: Notices) -> None:
        self.builder = builder
        self.nodes: dict[str, _Node] = {}
        self.session: str | None = None
        self.version: str | None = None
        self._notices = notices

    def take(self, row: Row) -> None:
        """Take one row; the first of each id counts."""
        value, line = row.value, row.place.line
        if not isinstance(value, dict):
            self._notices.add(NOT_AN_OBJECT, line)
            return
        name = value.get("uuid")
        if not isinstance(name, str):
            self._notices.unknown(value.get("type"), line)
            return
        if name in self.nodes:
            self._notices.add(REPEATED_ROWS, line, found=name)
            return
        if value.get("isSidechain") is True:
            return
        self.session = self.session or claimed_word(value.get("sessionId"))
        self.version = claimed_word(value.get("version")) or self.version
        self.nodes[name] = self._node(name, value, row)

    def _node(self, name: str, value: Mapping[str, Any], row: Row) -> _Node:
        above = value.get("parentUuid")
        parent = above if isinstance(above, str) else None
        kind = str(value.get("type"))
        if kind == "system":
            payload = value.get("systemPayload") if value.get("subtype") == COMPRESSION else None
            record = payload if isinstance(payload, dict) else ({} if value.get("subtype") == COMPRESSION else None)
            return _Node(parent, row.place, record=record, time=claimed_word(value.get("timestamp")))
        if kind not in CONTEXT_TYPES:
            self._notices.unknown(kind, row.place.line)
            return _Node(parent, row.place)
        message = value.get("message")
        parts = message.get("parts") if isinstance(message, dict) else None
        blocks = content_blocks(CONTEXT_TYPES[kind], parts)
        time = value.get("timestamp")
        keys = self.builder.add(message, blocks, row.place, native_id=name, time=time, flags=row.flags)
        return _Node(parent, row.place, keys)


class _Replay:
    """Goes down the path of the last row."""

    def __init__(self, tree: _Tree, notices: Notices) -> None:
        self.context: list[str] = []
        self.rounds: list[CompactionRound] = []
        self.failed: list[Finding] = []
        self._tree = tree
        self._notices = notices
        self._reasons: tuple[Reason, ...] = ()

    def run(self) -> None:
        """Replay the path; rows off it keep their items, flagged."""
        nodes = self._tree.nodes
        if not nodes:
            return
        walk = walk_up(next(reversed(nodes)), lambda name: nodes[name].parent, nodes, ())
        self._ended(walk.stop, nodes[walk.path[-1]].place.line)
        path = set(walk.path)
        for name in reversed(walk.path):
            node = nodes[name]
            self.context.extend(node.keys)
            if node.record is not None:
                self._compressed(node, node.record)
        for name, node in nodes.items():
            if name not in path:
                self._tree.builder.flag(node.keys, Flag.OFF_PATH)

    def _ended(self, stop: Stop, line: int) -> None:
        if stop is Stop.MISSING:
            self._notices.add(PARENT_MISSING, line)
            self._reasons = (Reason.HEAD_MISSING,)
        elif stop is Stop.CYCLE:
            self._notices.add(PARENT_CYCLE, line)
            self._reasons = (Reason.REPAIRED_PATH,)

    def _compressed(self, node: _Node, record: Mapping[str, Any]) -> None:
        history, info = record.get("compressedHistory"), record.get("info")
        facts = info if isinstance(info, dict) else {}
        if not isinstance(history, list) or not history:
            status = facts.get("compressionStatus")
            self.failed.append(Finding(ATTEMPT_FAILED, node.place.line, "compressionStatus", found=str(status)[:100]))
            return
        builder = self._tree.builder
        pre = make_side(builder, self.context, self._reasons, notices=self._notices, line=node.place.line)
        self.context = [key for part, content in enumerate(history, 1) for key in self._left(content, node.place, part)]
        post = make_side(builder, self.context, (), notices=self._notices, line=node.place.line)
        summary = next((key for key in self.context if builder.items[key].kind is Kind.SUMMARY), None)
        self._reasons = ()
        self.rounds.append(
            CompactionRound(
                index=len(self.rounds) + 1,
                kind=RoundKind.SUMMARY if summary else RoundKind.HISTORY_REPLACEMENT,
                pre=pre,
                post=post,
                summary_key=summary,
                claimed=Claimed(
                    method=COMPRESSION,
                    tokens_before=claimed_count(facts.get("originalTokenCount")),
                    tokens_after=claimed_count(facts.get("newTokenCount")),
                    ended=node.time,
                ),
                line=node.place.line,
            )
        )

    def _left(self, content: Any, place: Place, part: int) -> tuple[str, ...]:
        if not isinstance(content, dict):
            self._notices.add(NOT_AN_OBJECT, place.line, field=f"compressedHistory[{part - 1}]")
            return ()
        role = Role.ASSISTANT if content.get("role") == "model" else Role.USER
        return self._tree.builder.add(content, content_blocks(role, content.get("parts")), place, part=part)


QWEN = QwenReader()
