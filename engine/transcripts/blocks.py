"""How is the content of a message in the Anthropic shape cut into blocks?

Content is a text or a list of typed blocks (`text`, `thinking`, `tool_use`, `tool_result`, `image`, …). A block of an
unknown type is kept as opaque, with its digest. Cutting proves nothing about the order in which a model saw them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.transcripts.build import (
    CLEARED_TEXT,
    Block,
    call_block,
    image_block,
    opaque_block,
    placeholder_block,
    result_block,
    text_block,
)
from engine.transcripts.item import Flag, Kind, Role

PERSISTED = "<persisted-output>"


def content_blocks(role: Role, kind: Kind, content: Any) -> list[Block]:
    """Cut a message content; `kind` is what its plain text is (prompt, reply, summary)."""
    if isinstance(content, str):
        return [text_block(role, kind, content)]
    if not isinstance(content, list):
        return [opaque_block(role, type(content).__name__, content)]
    return [_block(role, kind, part) for part in content]


def _block(role: Role, kind: Kind, part: Any) -> Block:
    match part:
        case str(text) | {"type": "text", "text": str(text)}:
            return text_block(role, kind, text)
        case {"type": "thinking", "thinking": str(text)} if text:
            return text_block(role, Kind.THINKING, text)
        case {"type": "tool_use" | "server_tool_use" | "mcp_tool_use", "name": str(name)}:
            return call_block(name, part.get("input"))
        case {"type": "tool_result"}:
            return tool_result(part.get("content"))
        case {"type": "image" | "document"}:
            return _source_block(role, part)
        case {"type": "compaction", "content": str(text)}:
            return text_block(role, Kind.SUMMARY, text)
        case _:
            return opaque_block(role, str(part.get("type") if isinstance(part, dict) else type(part).__name__), part)


def tool_result(content: Any) -> Block:
    """Make the block of a tool result: text, or a list of texts and images."""
    texts: list[str] = []
    images: list[Mapping[str, Any]] = []
    for part in content if isinstance(content, list) else [content]:
        match part:
            case None:
                pass
            case str(text) | {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "image" | "document"}:
                images.append(_source_block(Role.TOOL, part).content)
            case _:
                images.append(opaque_block(Role.TOOL, "part", part).content)
    text = "\n".join(texts)
    if text == CLEARED_TEXT and not images:
        return placeholder_block()
    flags = (Flag.TRUNCATED,) if text.startswith(PERSISTED) else ()
    block = result_block(text, flags=flags)
    if not images:
        return block
    return Block(block.role, block.kind, {"result": {"text": text, "parts": images}}, text, block.flags)


def _source_block(role: Role, part: Mapping[str, Any]) -> Block:
    match part.get("source"):
        case {"data": str(data), **rest}:
            return image_block(role, str(rest.get("media_type")), data)
        case _:
            return opaque_block(role, str(part.get("type")), part)


def call_ids(content: Any) -> tuple[frozenset[str], frozenset[str]]:
    """Return the ids of the tool calls a content makes, and of those it answers."""
    calls: set[str] = set()
    answers: set[str] = set()
    for part in content if isinstance(content, list) else ():
        match part:
            case {"type": "tool_use", "id": str(name)}:
                calls.add(name)
            case {"type": "tool_result", "tool_use_id": str(name)}:
                answers.add(name)
            case _:
                pass
    return frozenset(calls), frozenset(answers)
