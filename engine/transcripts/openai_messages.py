"""What does a list of chat messages hold?

Message lists as chat APIs take them: `[{role, content}]`, `{"messages": […]}` (one JSON document) or one message a
line. They record no compaction, so none is invented: give a before and an after as a pair to compare two. A list does
not prove that a model was sent it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from engine.lines.source import Source
from engine.transcripts.blocks import content_blocks
from engine.transcripts.build import Block, ItemBuilder, call_block, opaque_block, result_block, text_block
from engine.transcripts.item import Kind, Place, Role
from engine.transcripts.notices import UNKNOWN_ROWS, Notices
from engine.transcripts.options import ReadOptions
from engine.transcripts.rounds import SourceFile, Transcript
from engine.transcripts.rows import Rows, read_document

# The role must stand in the outermost object: other formats wrap messages in rows of their own.
_FLAT = rb"[^{}\[\]]*"
_ARRAY = re.compile(rb"\A\s*\[\s*\{" + _FLAT + rb'"role"\s*:')
_DOCUMENT = re.compile(rb'"messages"\s*:\s*\[\s*\{\s*"role"\s*:')
_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.DEVELOPER,
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "gpt": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}


class OpenAiMessagesReader:
    """Reads chat message lists (JSON array, `{"messages": […]}`, or JSON Lines)."""

    name = "messages"
    extensions = (".json", ".jsonl")
    describes = "chat message list (role and content), which records no compaction"

    def sniff(self, head: bytes, name: str) -> int:
        """Score by role and content near the start; weaker than any format with marks of its own."""
        del name
        start = head[:4096]
        if _ARRAY.match(start) or _is_document(start):
            return 55
        return 52 if _is_message(head.lstrip().partition(b"\n")[0]) else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read the messages in order; no round is invented."""
        notices = Notices()
        builder = ItemBuilder(notices)
        keys: list[str] = []
        values, file = _messages(source, options, notices)
        for part, (value, place) in enumerate(values):
            if not isinstance(value, dict) or not ("role" in value or "from" in value):
                notices.add(UNKNOWN_ROWS, place.line, field="role")
                continue
            role = str(value.get("role", value.get("from")))
            if role not in _ROLES:
                notices.unknown(role, place.line)
                if not (value.get("content") or value.get("value")):
                    continue  # a row about the session, not a message
            keys.extend(builder.add(value, message_blocks(value), place, part=part))
        return Transcript(
            format=self.name,
            sources=(file,),
            items=builder.items,
            messages=builder.messages,
            rounds=(),
            context=tuple(keys),
            notices=notices.findings(),
        )


def _messages(source: Source, options: ReadOptions, notices: Notices) -> tuple[list[tuple[Any, Place]], SourceFile]:
    rows = Rows(source, options, notices)
    with source.open() as stream:
        head = stream.read(4096)
    if _is_document(head):
        document, file = read_document(source, options, notices)
        found = document.get("messages") if isinstance(document, dict) else None
        place = Place(source.name, 1, 0, file.size)
        return [(value, place) for value in found] if isinstance(found, list) else [], file
    listed = [(row.value, row.place) for row in rows]
    return listed, rows.source_file()


def _is_document(head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") and _DOCUMENT.search(head) is not None


def _is_message(line: bytes) -> bool:
    """Tell whether a line is one message: other formats wrap theirs in rows that name a role as well."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(value, dict) and str(value.get("role")) in _ROLES and ("content" in value or "tool_calls" in value)
    )


def message_blocks(message: Mapping[str, Any]) -> list[Block]:
    """Cut one chat message into blocks: text, content parts, tool calls, tool result."""
    role = _ROLES.get(str(message.get("role", message.get("from"))), Role.USER)
    content = message.get("content", message.get("value"))
    if role is Role.TOOL:
        return [result_block(content if isinstance(content, str) else _joined(content))]
    kind = Kind.REPLY if role is Role.ASSISTANT else Kind.PROMPT
    blocks = [] if content in (None, "") else content_blocks(role, kind, content)
    calls = message.get("tool_calls")
    blocks += [_call(call) for call in calls] if isinstance(calls, list) else []
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        blocks.append(call_block(str(legacy.get("name")), legacy.get("arguments")))
    return blocks or [text_block(role, kind, "")]


def _call(call: Any) -> Block:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return opaque_block(Role.ASSISTANT, "tool_call", call)
    return call_block(str(function.get("name")), function.get("arguments"))


def _joined(content: Any) -> str:
    if not isinstance(content, list):
        return "" if content is None else str(content)
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


OPENAI_MESSAGES = OpenAiMessagesReader()
