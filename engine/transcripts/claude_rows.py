"""What does each row of a Claude Code session mean for the context?

One node for one row: its place in the tree, its items, and what the later steps ask about it. In context are `user`,
`assistant` and `attachment` rows outside side chains; title rows (`summary`) and progress rows are not. The system
prompt and the tool definitions are never in these files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.findings import Code, Severity
from engine.transcripts.blocks import call_ids, content_blocks
from engine.transcripts.build import Block, ItemBuilder, is_redacted
from engine.transcripts.item import Flag, Kind, Role
from engine.transcripts.notices import COPIED_ROWS, NOT_AN_OBJECT, REPEATED_ROWS, Notices
from engine.transcripts.rows import Row

IN_CONTEXT = frozenset({"user", "assistant", "attachment"})
OUTSIDE = frozenset(
    {
        "system", "progress", "file-history-snapshot", "queue-operation", "summary", "custom-title", "ai-title", "mode",
        "agent-name", "permission-mode", "last-prompt", "pr-link", "tag", "content-replacement", "worktree-state",
    }
)  # fmt: skip
COMMAND_MARKS = ("<command-name>", "<command-message>", "<local-command-", "<bash-", "Caveat: The messages below")

API_ERROR_ROWS = Code(
    "claude_api_error_rows", Severity.NOTICE, "rows that report an API error were left out of the context"
)
SUB_AGENT_FILE = Code(
    "claude_sub_agent_file", Severity.NOTICE, "every message is of a side chain; the file was read as a sub-agent's own"
)


@dataclass(slots=True)
class Node:
    """One row of the session."""

    index: int
    uuid: str
    parent: str | None
    kind: str
    line: int
    row: Mapping[str, Any]
    side_chain: bool
    keys: tuple[str, ...] = ()
    run: int = -1
    calls: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()
    in_context: bool = False
    is_summary: bool = False
    is_command: bool = False
    origin: str | None = None

    @property
    def boundary(self) -> str | None:
        """Return `compact_boundary` or `microcompact_boundary` for such rows of the main chain."""
        subtype = self.row.get("subtype")
        return subtype if self.kind == "system" and subtype in BOUNDARIES and not self.side_chain else None


BOUNDARIES = ("compact_boundary", "microcompact_boundary")


@dataclass(slots=True)
class Session:
    """All nodes in file order, and what the file says about itself."""

    nodes: list[Node] = field(default_factory=list)
    by_uuid: dict[str, int] = field(default_factory=dict)
    session: str | None = None
    version: str | None = None
    parent_session: str | None = None


class SessionBuilder:
    """Turns rows into nodes and items; repeated uuids keep their first row."""

    def __init__(self, builder: ItemBuilder, notices: Notices) -> None:
        self.found = Session()
        self._builder = builder
        self._notices = notices
        self._run = 0
        self._run_id: str | None = None
        self._last: str | None = None
        self._repeats: Counter[str] = Counter()
        self._copied: Counter[str] = Counter()
        self._errors = 0

    def take(self, row: Row) -> None:
        """Take one row in file order."""
        value = row.value
        if not isinstance(value, dict):
            self._notices.add(NOT_AN_OBJECT, row.place.line)
            return
        kind = str(value.get("type"))
        if kind not in IN_CONTEXT and kind not in OUTSIDE:
            self._notices.unknown(kind, row.place.line)
        uuid = _id_of(value.get("uuid")) or f"line {row.place.line}.{row.place.offset}"
        if uuid in self.found.by_uuid:
            self._repeats[uuid] += 1
            return
        node = self._node(row, value, uuid, kind)
        self.found.by_uuid[uuid] = node.index
        self.found.nodes.append(node)
        if kind in IN_CONTEXT:
            self._content(row, node)
            if not node.side_chain:
                self._last = uuid

    def finish(self) -> Session:
        """Close the notices that count rows and return the session."""
        found = self.found
        if self._repeats:
            self._notices.add(REPEATED_ROWS, found=f"{self._repeats.total()} rows, {len(self._repeats)} ids")
        if self._errors:
            self._notices.add(API_ERROR_ROWS, found=str(self._errors))
        for node in found.nodes:
            if node.origin not in (None, found.session):
                self._copied[str(node.origin)] += 1
                self._builder.flag(node.keys, Flag.COPIED)
        for session, count in self._copied.items():
            self._notices.add(COPIED_ROWS, claimed=session, found=str(count))
            found.parent_session = found.parent_session or session
        speakers = [node for node in found.nodes if node.kind in ("user", "assistant")]
        if speakers and all(node.side_chain for node in speakers):
            self._notices.add(SUB_AGENT_FILE)
            for node in found.nodes:
                node.side_chain = False
        return found

    def _node(self, row: Row, value: Mapping[str, Any], uuid: str, kind: str) -> Node:
        # A file without parent links is a plain list: each row follows the one before it.
        parent = _id_of(value["parentUuid"]) if "parentUuid" in value else self._last
        session, version = value.get("sessionId"), value.get("version")
        if isinstance(version, str) and not is_redacted(version):
            self.found.version = version
        if isinstance(session, str) and kind in IN_CONTEXT and _id_of(session):
            self.found.session = session  # the last one: a resumed file begins with rows of its parent
        return Node(
            len(self.found.nodes),
            uuid,
            parent,
            kind,
            row.place.line,
            value if kind == "system" else {},
            value.get("isSidechain") is True,
        )

    def _content(self, row: Row, node: Node) -> None:
        value = row.value
        node.origin = _origin(value)
        message = value.get("message") if isinstance(value.get("message"), dict) else None
        raw: Any = value.get("attachment") if node.kind == "attachment" else (message or value)
        node.is_summary = value.get("isCompactSummary") is True
        node.in_context = True
        content = raw.get("content") if isinstance(raw, dict) else raw
        if node.kind == "assistant":
            self._assistant(node, value, raw)
        elif node.kind == "user":
            node.is_command = value.get("isMeta") is True or _is_command(content)
        node.calls, node.answers = call_ids(content)
        blocks = _attachment(raw) if node.kind == "attachment" else _message(node, content)
        node.keys = self._builder.add(
            raw, blocks, row.place, native_id=node.uuid, time=value.get("timestamp"), flags=row.flags
        )

    def _assistant(self, node: Node, value: Mapping[str, Any], message: Any) -> None:
        if value.get("isApiErrorMessage") is True:
            node.in_context = False
            self._errors += 1
        # One answer is written as several rows; an id may come again behind a gateway, so a run of rows counts.
        answer = _id_of(message.get("id")) if isinstance(message, dict) else None
        if answer is None or answer != self._run_id:
            self._run += 1
        self._run_id = answer
        node.run = self._run


def _origin(value: Mapping[str, Any]) -> str | None:
    """Return the session a row was written in: that of the original for a copy."""
    match value:
        case {"forkedFrom": {"sessionId": str(origin)}}:
            return origin
        case _:
            return _id_of(value.get("sessionId"))


def _id_of(value: object) -> str | None:
    return value if isinstance(value, str) and value and not is_redacted(value) else None


def _is_command(content: Any) -> bool:
    parts = content if isinstance(content, list) else []
    texts = [content] if isinstance(content, str) else [part.get("text") for part in parts if isinstance(part, dict)]
    return bool(texts) and all(isinstance(text, str) and text.lstrip().startswith(COMMAND_MARKS) for text in texts)


def _message(node: Node, content: Any) -> list[Block]:
    role = Role.ASSISTANT if node.kind == "assistant" else Role.USER
    plain = Kind.REPLY if role is Role.ASSISTANT else Kind.PROMPT
    blocks = content_blocks(role, Kind.SUMMARY if node.is_summary else plain, content)
    return blocks or content_blocks(role, plain, "")


def _attachment(raw: Any) -> list[Block]:
    kind = raw.get("type") if isinstance(raw, dict) else None
    return [Block(Role.USER, Kind.ATTACHMENT, {"attachment": raw}, "\n".join(_texts(raw)) or f"[{kind}]")]


def _texts(value: Any) -> list[str]:
    """Collect the readable texts of an attachment: its `content`, `prompt`, `text` or `stdout`, at any depth."""
    found: list[str] = []
    waiting: list[tuple[str, Any]] = [("content", value)]
    while waiting:
        name, part = waiting.pop()
        if isinstance(part, str) and name in ("content", "prompt", "text", "stdout") and part:
            found.append(part)
        elif isinstance(part, dict):
            waiting.extend(reversed(part.items()))
        elif isinstance(part, list):
            waiting.extend((name, entry) for entry in reversed(part))
    return found
